"""Writes examples/measured again: steps of training on 1 to 8 hosts, for pages that calibrate and score predictions.

Hosts are network namespaces of this machine with links of 200 Mbit/s. Computing is waited for, and gradients travel for
real, by Open MPI's ring (docs/fitting.md). Run it on a machine that does nothing else:
python bench/parts/measure_rows.py
"""

import argparse
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from parts import figure, replay_cluster

RATE_MBIT = 200
HOSTS = 8
TABLES = {"alexnet": (0.15, 4e6), "googlenet": (0.45, 4e6)}  # seconds of computing, bytes of gradients
SIZE = argparse.Namespace(runs=3, seconds=2, link_seconds=1)
ROWS = "job,link,devices,devices_per_node,seconds,alone_seconds,spread_seconds,messages"
STEPS = "network,devices,batch_per_device,seconds"


def measure(folder, into):
    with replay_cluster.ShapedHosts(HOSTS, RATE_MBIT, replay_cluster.BURST_BYTES) as hosts:
        place = replay_cluster.Place(folder / "place", hosts, "mpi", SIZE)
        link, _ = place.fit_link()
        (into / "shaped_hosts.yaml").write_text(link.cluster(HOSTS).replace("shaped hosts", "8 hosts, 200 Mbit/s"))
        rows, steps = [ROWS], [STEPS]
        for network, (compute, size) in TABLES.items():
            table = replay_cluster.Table(network, compute, size)
            (into / f"{network}_layers.csv").write_text(table.csv)
            sizes = [line.split(",")[3].split(";") for line in table.csv.splitlines()[1:]]
            sent = sum(int(size) for tensors in sizes for size in tensors if size)
            steps.append(f"{network},1,1,{compute:.6f}")
            for ranks in (2, 4, HOSTS):
                file = f"{network}{ranks}.replay"
                place.predict(table, link, ranks, ("--fusion", "one"), replay=file)
                flags = ("--mode", "train", *replay_cluster.ALGORITHM["mpi"])
                [times] = place.medians(str(place.folder / file), ranks, SIZE.seconds, *flags).values()
                seconds = statistics.median(times)
                steps.append(f"{network},{ranks},1,{seconds:.6f}")
                spread = statistics.stdev(times)
                if ranks < HOSTS:
                    rows.append(f"{network},200mbit,{ranks},1,{seconds:.6f},{compute:.6f},{spread:.6f},{sent}")
                print(f"{network} on {ranks}: {[round(time, 4) for time in times]}", flush=True)
        (into / "rows_to_4.csv").write_text("\n".join(rows) + "\n")
        (into / "steps.csv").write_text("\n".join(steps) + "\n")


def main():
    into = figure.ROOT / "examples" / "measured"
    into.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        measure(pathlib.Path(folder), into)


if __name__ == "__main__":
    main()
