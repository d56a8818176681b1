"""The built-in server of `assay load` as a process of its own, and what runs against it leave."""

import csv
import heapq
import json
import statistics
import subprocess

from parts import figure

SERVICE_MS = 5
SECONDS = 6
LEAST_QUIET = 2  # seconds
TRIES = 3


class NullServer:
    """`assay load --null-server`, ended with the block."""

    def __init__(self, place, service):
        argv = [str(figure.ASSAY), "load", "--null-server", service]
        self.process = subprocess.Popen(argv, env=place.environment(), stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / 100


def load(place, url, *flags, code=0):
    """One run of `assay load`: its document, and its stamps as rows of numbers."""
    stamps = place.path / "stamps.csv"
    argv = [figure.ASSAY, "load", url, "--json", "--stamps", stamps, "--no-certification", *flags]
    argv += ["--store", place.path / "load.db"]
    done = figure.run(argv, place.environment(), check=code is not None)
    with open(stamps, encoding="ascii", newline="") as file:
        rows = list(csv.DictReader(file))
    return json.loads(done.stdout), rows


def recursion_ms(due_ns, workers):
    """Latencies of a queue with some workers and a fixed service."""
    free = [0.0] * workers
    times = []
    for due in due_ns:
        end = max(due, heapq.heappop(free)) + SERVICE_MS * 1e6
        heapq.heappush(free, end)
        times.append((end - due) * 1e-6)
    return times


def quiet_seconds(point):
    """Windows in which the hypervisor is known to have taken nothing and the client was on time."""
    budget = point["client"]["lateness_budget_ns"]
    quiet = [w for w in point["windows"] if w["steal_ns"] == 0 and w["lateness_p99_ns"] <= budget]
    return {w["begin_ns"] // 10**9 for w in quiet}


def one_schedule(place, workers, share):
    """Offsets from the recursion: of requests due in quiet seconds, and of all; and how many seconds were quiet."""
    rate = share * workers / (SERVICE_MS * 1e-3)
    with NullServer(place, f"workers={workers},service={SERVICE_MS}ms") as server:
        document, rows = load(place, server.url, "--rate", rate, "--duration", f"{SECONDS}s", "--warm-up", "0s")
    quiet = quiet_seconds(document["points"][0])
    truth = recursion_ms([int(row["due_ns"]) for row in rows], workers)
    off, every = [], []
    for row, true in zip(rows, truth, strict=True):
        if row["outcome"] != "ok":
            continue
        every.append(abs((int(row["finished_ns"]) - int(row["due_ns"])) * 1e-6 - true))
        if int(row["due_ns"]) // 10**9 in quiet:
            off.append(every[-1])
    return off, every, len(quiet & {int(row["due_ns"]) // 10**9 for row in rows})


def offsets_ms(place):
    """Median offset from the recursion of each server and load, in quiet seconds; None where TRIES had none."""
    offsets = []
    print(f"\nreal sockets, {SERVICE_MS} ms of service, {SECONDS} s each")
    print(f"{'server':>8} {'load':>6} {'median off ms':>14} {'of all':>8} {'quiet':>7}")
    for workers in (1, 2, 10):
        for share in (0.5, 0.8, 0.9):
            for _ in range(TRIES):
                off, every, quiet = one_schedule(place, workers, share)
                if quiet >= LEAST_QUIET:
                    break
            median = round(statistics.median(off), 3) if quiet >= LEAST_QUIET else None
            offsets.append(median)
            shown = "no quiet second" if median is None else median
            whole = round(statistics.median(every), 3)
            print(f"{f'M/D/{workers}':>8} {share:>6} {shown:>14} {whole:>8} {quiet:>3} of {SECONDS}", flush=True)
    return offsets


def stall_ms(place):
    """p99 of an open and of a closed loop through a stall of a second."""
    found = {}
    flags = {"open": ("--rate", 500), "closed": ("--arrivals", "closed", "--clients", 1)}
    for name, words in flags.items():
        with NullServer(place, "workers=1,service=1ms,stall-at=2s,stall=1s") as server:
            document, _ = load(place, server.url, *words, "--duration", "5s", "--warm-up", "0s")
        times = document["points"][0]["times"][0]["from_schedule"]
        found[f"{name}_p99_ms"] = round(times[-1]["ns"] * 1e-6, 1)
    print(f"a stall of 1 s in 5 over sockets: {found}")
    return found
