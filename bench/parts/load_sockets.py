"""The built-in server of `assay load` as a process of its own, and what runs against it leave."""

import csv
import heapq
import json
import statistics
import subprocess

from parts import figure

SERVICE_MS = 5
SECONDS = 6


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
    """Windows in which the hypervisor took nothing and the client was on time."""
    budget = point["client"]["lateness_budget_ns"]
    quiet = [w for w in point["windows"] if w["steal_ns"] in (0, None) and w["lateness_p99_ns"] <= budget]
    return {w["begin_ns"] // 10**9 for w in quiet}


def offsets_ms(place):
    """Median offset from the recursion of each server and load; None where no second was quiet."""
    offsets = []
    print(f"\nreal sockets, {SERVICE_MS} ms of service, {SECONDS} s each")
    print(f"{'server':>8} {'load':>6} {'median off ms':>14} {'quiet':>7}")
    for workers in (1, 2, 10):
        for share in (0.5, 0.8, 0.9):
            rate = share * workers / (SERVICE_MS * 1e-3)
            with NullServer(place, f"workers={workers},service={SERVICE_MS}ms") as server:
                flags = ("--rate", rate, "--duration", f"{SECONDS}s", "--warm-up", "0s")
                document, rows = load(place, server.url, *flags)
            point = document["points"][0]
            quiet = quiet_seconds(point)
            truth = recursion_ms([int(row["due_ns"]) for row in rows], workers)
            off = [
                abs((int(row["finished_ns"]) - int(row["due_ns"])) * 1e-6 - true)
                for row, true in zip(rows, truth, strict=True)
                if row["outcome"] == "ok" and int(row["due_ns"]) // 10**9 in quiet
            ]
            median = round(statistics.median(off), 3) if off else None
            offsets.append(median)
            shown = median if off else "none"
            print(f"{f'M/D/{workers}':>8} {share:>6} {shown:>14} {len(quiet):>3} of {SECONDS}", flush=True)
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
