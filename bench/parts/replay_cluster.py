"""Steps of training replayed on shaped hosts: layer tables, what links cost, predictions, and measured steps."""

import contextlib
import csv
import dataclasses
import io
import json
import math
import sys

from parts import figure

sys.path.append(str(figure.ROOT / "tests" / "live"))
import rank_runs
from shaped_hosts import EAGER, ShapedHosts, why_not  # noqa: F401

BURST_BYTES = 64 << 10  # of the links: small beside a step's gradients, since it passes at once after a pause
WORKERS = {
    # Messages are sent without asking first (workers/mpi/README.md), and ranks that wait leave each other the CPUs.
    "mpi": (*("--spin", "false"), *(w for name in EAGER for w in ("--env", f"OMPI_MCA_{name}={16 << 20}"))),
    "pytorch": (),
}
ALGORITHM = {"mpi": ("--option", "algorithm=ring"), "pytorch": ()}
SMALL_BYTES = (256, 512, 1024)
LARGE_SECONDS = (0.01, 0.02, 0.04)  # that a link carries them
CONSTANTS = ("alpha_seconds", "beta_seconds_per_byte", "gamma_seconds_per_byte")
LEAST_ALPHA = 1e-7  # seconds: a cluster file has no link without a latency
LEAST_TENSOR_BYTES = 256  # Open MPI's ring needs a number for each rank; gradients of biases are not scaled below this


NINE_OF_TEN = 1.645  # deviations to either side


def ring_seconds(constants, ranks, size):
    """Of an all_reduce by the formula of docs/fitting.md."""
    alpha, beta, gamma = ((constants[name] or {"value": 0})["value"] for name in CONSTANTS)  # beta may have gamma in it
    travels = (ranks - 1) / ranks * size
    return 2 * (ranks - 1) * alpha + 2 * travels * beta + travels * gamma


def ring_of(piece):
    """Constants of the ring, of a piece of what `assay fit` says of a collective."""
    [ring] = [one["constants"] for one in piece["algorithms"] if one["algorithm"] == "ring"]
    return ring


class Table:
    """A network of Assay's with as many bytes of gradients [its own] and seconds of computing as wanted.

    Forward is a third of computing, and a layer's share of it that of its FLOPs. Every tensor is scaled alike."""

    def __init__(self, network, compute_seconds, size=None):
        said = json.loads(figure.run([figure.ASSAY, "show", "--network", network, "--json"], env=None).stdout)
        self.network, self.scale = network, size / said["gradient_bytes"] if size else 1
        lines = ["layer,forward_seconds,backward_seconds,gradient_bytes"]
        for layer, node in zip(said["layers"], said["graph"]["nodes"]):
            seconds = compute_seconds * layer["forward_flops"] / said["infer_flops"]
            tensors = [4 * math.prod(parameter["shape"]) for parameter in node["parameters"]]
            sizes = ";".join(str(4 * round(max(LEAST_TENSOR_BYTES, self.scale * size) / 4)) for size in tensors)
            lines.append(f"{layer['node']},{seconds / 3:.9f},{2 * seconds / 3:.9f},{sizes}")
        self.csv = "\n".join(lines) + "\n"


@dataclasses.dataclass(frozen=True)
class Link:
    """What a message and a byte cost: low end, value, high end. Nine of ten runs were between the ends, not their mean:
    a step is one run too."""

    alpha: tuple
    beta: tuple

    def cluster(self, nodes, end=0):
        """`end`: -1 the fastest link of the intervals, 1 the slowest."""
        alpha, beta = max(self.alpha[end + 1], LEAST_ALPHA), self.beta[end + 1]
        across = f"{{latency: {1e6 * alpha:.3f} us, bandwidth: {1e-6 / beta:.6f} MB/s, burst: {BURST_BYTES} B}}"
        return f"name: shaped hosts\nnodes: {nodes}\nacross: {across}\nslow_down: 1\n"


class Part:
    """Some neighbours among the hosts, as hosts of their own."""

    def __init__(self, hosts, begin, count):
        self.count, self.addresses = count, hosts.addresses[begin : begin + count]
        self._hosts, self._begin, self._parameters = hosts, begin, hosts.mpi_parameters()

    def command(self, i, argv):
        return self._hosts.command(self._begin + i, argv)

    def mpi_parameters(self):
        return self._parameters


class Place:
    """Runs over all of some hosts, with files beside them."""

    def __init__(self, folder, hosts, worker, size):
        self.folder, self.hosts, self.worker, self.size = folder, hosts, worker, size
        self._campaigns = 0
        self.folder.mkdir()

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def medians(self, what, ranks, seconds, *arguments):
        """Median steps in seconds, one for each run, by network and options. Fewer ranks than hosts work in groups, all
        at once: the hosts share the CPUs of one machine, and a rank is to have as little of them as it will have when
        all hosts work together."""
        self._campaigns += 1
        fixed = ("--worker", self.worker, *WORKERS[self.worker], "--batch", "1", "--retries", "0", "--no-phases")
        brief = ("--runs", str(self.size.runs), "--seconds", f"{seconds}s", "--warmup", "300ms", "--name", "replay")
        parts = [Part(self.hosts, begin, ranks) for begin in range(0, self.hosts.count - ranks + 1, ranks)]
        folder, found = self.folder / f"campaign{self._campaigns}", {}
        with contextlib.ExitStack() as ends:
            groups = [ends.enter_context(rank_runs.RankRuns(folder / str(i), part)) for i, part in enumerate(parts)]
            started = [(runs, runs.start(what, *fixed, *brief, *arguments)) for runs in groups]
            for runs, process in started:
                if process.wait(3000) != 0:
                    sys.exit(f"bench/predict_replay: assay run ended with {process.returncode}:\n{runs.said()}")
                export = [figure.ASSAY, "export", "--format", "csv", "--store", runs.store]
                for row in csv.DictReader(io.StringIO(figure.run(export, runs.environment()).stdout)):
                    found.setdefault((row["network"], row["options"]), []).append(float(row["median_ns"]) / 1e9)
        return found

    def fit_link(self):
        """From collectives over 2 and 4 ranks alone. Small ones tell what a message costs, large ones what a byte does:
        links that save up what they did not carry hide one behind the other."""
        large = [64 * round(share * self.hosts.rate_mbit * 1e6 / 8 / 64) for share in LARGE_SECONDS]
        rows, sizes = [], ",".join(map(str, (*SMALL_BYTES, *large)))
        for ranks in (2, 4):
            options = ("--option", f"bytes={sizes}", *ALGORITHM[self.worker])
            for (_, chosen), times in self.medians("all_reduce", ranks, self.size.link_seconds, *options).items():
                rows += [(ranks, json.loads(chosen)["bytes"], seconds, run) for run, seconds in enumerate(times)]
        alpha, alpha_error = self._fit([row for row in rows if row[1] in SMALL_BYTES], "alpha_seconds")
        beta, beta_error = self._fit([row for row in rows if row[1] in large], "beta_seconds_per_byte")
        return Link(alpha, beta), (alpha_error, beta_error)

    def _fit(self, rows, name):
        """A constant of the ring, the ends between which nine of ten runs would have it, and how far the fit is off."""
        lines = ["collective,ranks,bytes,seconds,run", *("all_reduce,%d,%d,%.9f,%d" % row for row in rows)]
        path = self.write("link.csv", "\n".join(lines) + "\n")
        fitted = json.loads(figure.run([figure.ASSAY, "fit", "--collectives", path, "--json"], env=None).stdout)
        [piece] = fitted[0]["collectives"][0]["pieces"]
        ring = ring_of(piece)
        off = [math.log(seconds / ring_seconds(ring, ranks, size)) for ranks, size, seconds, _ in rows]
        wide = math.exp(NINE_OF_TEN * math.sqrt(sum(x * x for x in off) / (len(off) - 1)))
        value = ring[name]["value"]
        return (value / wide, value, value * wide), ring["inside_error"]

    def predict(self, table, link, ranks, fusion, end=0, replay=None):
        """Seconds by formula, and simulated where a file for the replay is wanted."""
        layers = self.write(f"{table.network}.csv", table.csv)
        cluster = self.write("cluster.yaml", link.cluster(ranks, end))
        argv = [figure.ASSAY, "predict", table.network, "--layers", layers, "--batch", "1", "--cluster", cluster]
        argv += ["--all-reduce", "ring", *fusion, "--json"]
        if replay is not None:
            argv += ["--simulate", "--replay", self.folder / replay]
        [point] = json.loads(figure.run(argv, env=None).stdout)["points"]
        return point["step"]["seconds"], point["simulated_seconds"]
