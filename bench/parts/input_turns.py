"""One fresh process of bench/input, run by the Python of a worker's environment.

    input_turns.py WORKER ROUNDS < {"graph": …, "data_folder": …, "disk": …}

In this one process a loader alone, the network alone on a batch in memory, and steps that load ahead take turns, such
that loading takes about half as long as computing, as long, and twice as long. One loader, one thread. Where `disk` is
the folder of a control group, files are read from a disk of a limited rate, without the page cache, and its rate is
what is varied; else files are in memory, and the size of the images is. The last line is JSON: for each the medians of
the rounds' ratios of such a step to the loader and to the network alone, and the times.
"""

import importlib
import json
import math
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "workers" / "common"))
import assay_data  # noqa: E402
import assay_worker  # noqa: E402

LOAD_TO_COMPUTE = (0.5, 1, 2)
FIRST_SIDE = 256  # with which it is found how long a pixel takes; that of all images from a disk
BATCH, COUNT = 4, 32
PREFETCH = 2
STEPS = 12  # of a turn
SKIPPED = 3 * PREFETCH  # before each turn: what was loaded ahead while others had theirs


class Disk:
    """The disk below a folder, at a rate that this process and its children are held to (control groups, version 1)."""

    def __init__(self, group, folder):
        self._group = pathlib.Path(group)
        (self._group / "cgroup.procs").write_text(str(os.getpid()))
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
        device = os.stat(folder).st_dev
        self._device = "%d:%d" % (os.major(device), os.minor(device))
        self.limit(0)  # none: of an earlier process there may be one

    def limit(self, bytes_a_second):
        text = "%s %d" % (self._device, bytes_a_second)
        (self._group / "blkio.throttle.read_bps_device").write_text(text)


class Subject:
    """A worker's own code: its settings are in place, and it builds what is asked for."""

    def __init__(self, name, asked):
        sys.path.append(str(ROOT / "workers" / name))
        self._uses = 0
        self._data_folder = pathlib.Path(asked["data_folder"])
        self._asked, self._image = asked, max(asked["graph"]["inputs"][0]["shape"][1:])
        prepare = self._prepare(None)
        settings = importlib.import_module("assay_%s.settings" % name)
        settings.before_import(prepare)
        settings.after_import(importlib.import_module({"pytorch": "torch"}.get(name, name)), prepare)
        self._work, self._files = (importlib.import_module("assay_%s.%s" % (name, m)) for m in ("work", "files"))
        self._others = {"pytorch": (), "tensorflow": (None,)}[name]  # no ranks
        self._disk = Disk(asked["disk"], asked["data_folder"]) if asked["disk"] else None

    def compute(self):
        return self._work.build(self._prepare(None), *self._others).steps.step

    def load(self, side):
        prepare = self._prepare(side)
        return self._files.Loader(assay_data.of(prepare), prepare.settings).next

    def both(self, side):
        return self._work.build(self._prepare(side), *self._others).steps.step

    def slow_down(self, load_seconds, wanted_seconds):
        """The side of images that take so long, where those of FIRST_SIDE take `load_seconds` without limit. Time goes
        with pixels, or with bytes over the rate of the disk."""
        if self._disk is None:
            return max(self._image, round(FIRST_SIDE * math.sqrt(wanted_seconds / load_seconds)))
        sizes = [path.stat().st_size for path in self._data_folder.rglob("*.jpg")]
        self._disk.limit(BATCH * statistics.fmean(sizes) / max(wanted_seconds - load_seconds, 1e-3))
        return FIRST_SIDE

    def _prepare(self, side):
        """Each use has files of its own, of which no other reads ahead."""
        workload = {"network": self._asked["graph"]["name"], "mode": "infer", "batch": BATCH, "precision": "fp32"}
        settings = {"intra_op": 1, "inter_op": 1}
        if side is not None:
            workload |= {"data": "files", "data_count": COUNT, "data_side": side}
            settings |= {"loaders": 1, "prefetch": PREFETCH, "page_cache": "cold" if self._disk else "warm"}
        self._uses += 1
        folder = str(self._data_folder / str(self._uses))
        told = {"data_folder": folder, "workload": workload, "settings": settings, "seed": 1}
        return assay_worker.Prepare({**self._asked, **told})


def seconds_of(step, skipped):
    """Mean over a turn: what matters is how many steps there are in a while."""
    for _ in range(skipped):
        step()
    begin = time.perf_counter()
    for _ in range(STEPS):
        step()
    return (time.perf_counter() - begin) / STEPS


def settled(step, skipped):
    return statistics.median(seconds_of(step, skipped) for _ in range(3))


def take_turns(compute, load, both, rounds):
    turns = []
    for number in range(rounds + 1):  # the first warms up
        order = [(both, SKIPPED), (load, SKIPPED), (compute, 1)]
        seconds = {step: seconds_of(step, skipped) for step, skipped in (order if number % 2 else order[::-1])}
        turns.append((seconds[both], seconds[load], seconds[compute]))
    return turns[1:]


def main(name, rounds):
    subject = Subject(name, json.load(sys.stdin))
    compute = subject.compute()
    load_seconds, compute_seconds = settled(subject.load(FIRST_SIDE), SKIPPED), settled(compute, 1)
    found = []
    for wanted in LOAD_TO_COMPUTE:
        side = subject.slow_down(load_seconds, wanted * compute_seconds)
        turns = take_turns(compute, subject.load(side), subject.both(side), rounds)
        middle = [statistics.median(column) for column in zip(*turns)]
        ratios = [statistics.median(turn[0] / turn[i] for turn in turns) for i in (1, 2)]
        found.append({"side": side, "seconds": middle, "to_load": ratios[0], "to_compute": ratios[1]})
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
