"""Measures a function in fresh processes against a baseline: what the fixture `assay_bench` does, without pytest."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import sys
import time
from dataclasses import dataclass, replace
from typing import Any

from assay._baseline import STORED, Function, Target, baseline_folder, check_differs, import_path
from assay._commands import Store
from assay._comparisons import Comparisons
from assay._program import AssayError, call, words_of
from assay._results import Results

WORKERS = pathlib.Path(__file__).resolve().parent / "workers"
# A step is so many calls that it takes at least this: far more than reading the clock, and far less than a time
# slice of the scheduler. What others take from the machine then hits few steps, and medians do not see it.
_STEP_NS = 100_000
_SLICE_NS = 1_500_000  # so long is the turn of a side, for the same reason


@dataclass(frozen=True)
class Plan:
    """How a function is measured and judged. Durations are written as the program reads them: 500ms, 2s."""

    store: str
    sides: str  #: folder for what the worker reads
    baseline: str | None = None
    gate: str = "5%"
    runs: int = 10
    most_runs: int = 40
    seconds: str = "500ms"
    warmup: str = "100ms"
    retries: int = 1


@dataclass(frozen=True)
class Judged:
    """What a measurement said. `comparisons` is None where there was nothing to compare with."""

    comparisons: Comparisons | None
    results: Results | None
    calls: int  #: of the function in a step

    @property
    def passed(self) -> bool | None:
        return None if self.comparisons is None else self.comparisons.passed

    @property
    def sentence(self) -> str:
        if self.comparisons is None:
            return "Nothing is stored to compare with; this measurement is the baseline of the next."
        return " ".join(one.sentence for one in self.comparisons)

    @property
    def seconds_a_call(self) -> float | None:
        """Median of the new code."""
        ns = self.comparisons[0].second_ns if self.comparisons else self.results[0].median_ns if self.results else None
        return None if ns is None else ns / 1e9 / self.calls


def bench(function: Function, plan: Plan, name: str) -> Judged:
    """Measures and judges. Raises AssayError where a side cannot be measured, or both sides would be the same code."""
    target = Target.of(function)
    if plan.baseline == STORED or plan.baseline is None:
        return _against_stored(target, function, plan, name)
    folder = baseline_folder(plan.baseline)
    check_differs(target, function, folder)
    own = import_path(target)
    sides = [side_of(plan, "baseline", [str(folder), *own]), side_of(plan, "new", own)]
    return _lockstep(target, plan, sides, step_of(function))


def side_of(plan: Plan, kind: str, path: list[str]) -> str:
    """Writes what a side imports from, first to last, for the worker; a name for it that no other path has."""
    text = json.dumps(path)
    name = f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    folder = pathlib.Path(plan.sides)
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{name}.{os.getpid()}.part"
    part.write_text(text, encoding="utf-8")
    part.rename(folder / f"{name}.json")
    return name


def _lockstep(target: Target, plan: Plan, sides: list[str], step: Step) -> Judged:
    """Measures again, from nothing; more of the same where the gate cannot decide."""
    runs, again = plan.runs, True
    while True:
        words = ["compare", *(f"env.BENCH_SIDE={side}" for side in sides), "--run", "--json"]
        words += words_of({"network": str(target), "worker": "python", "env": {"BENCH_SIDES": plan.sides}})
        words += words_of({"gate": plan.gate, "runs": runs, "again": again, "option": {"calls": step.calls}})
        words += words_of({"store": plan.store, "seconds": plan.seconds, "warmup": plan.warmup})
        words += words_of({"retries": plan.retries, "pair_steps": step.pair_steps, "quiet": True})
        found = Comparisons.of(call(words, allowed=(0, 3, 5), variables=variables()).document())
        _refuse_failed(found, plan)
        if found.passed is not None or 2 * runs > plan.most_runs:
            return Judged(found, None, step.calls)
        runs, again = 2 * runs, False


def _refuse_failed(found: Comparisons, plan: Plan) -> None:
    """A function that raises has no time: say what it raised."""
    for one in found:
        if one.first_ns is not None and one.second_ns is not None:
            continue
        for run in reversed(Store(plan.store).runs(all_attempts=True)):
            if run.outcome != "ok":
                raise AssayError(f"a run {run.outcome}: {run.message}")


def _against_stored(target: Target, function: Function, plan: Plan, name: str) -> Judged:
    """A campaign of this test, beside the one that was stored before: fresh processes, but at another time."""
    store = Store(plan.store)
    before = [one for one in _campaigns(store) if one.name == name and one.done == one.runs]
    calls = step_of(function).calls
    if before:
        trial = store.results(before[-1].id)[0].document["trial"]
        calls = int((trial["workload"].get("options") or {}).get("calls", calls))
    words = ["run", str(target), "--json", "--no-peak", "--again", "--quiet", "--worker=python"]
    words += words_of({"name": name, "runs": plan.runs, "seconds": plan.seconds, "warmup": plan.warmup})
    side = side_of(plan, "new", import_path(target))
    words += words_of({"env": {"BENCH_SIDES": plan.sides, "BENCH_SIDE": side}, "option": {"calls": calls}})
    words += words_of({"retries": plan.retries, "store": plan.store})
    results = Results.of(call(words, allowed=(0, 4), variables=variables()).document())
    if results[0].median_ns is None:
        kind, failures = next(iter(results[0].document["failures"].items()))
        raise AssayError(f"every run {kind}: {failures['message']}")
    if plan.baseline is None or not before:
        return Judged(None, results, calls)
    now = results.campaigns[-1]["id"]
    found = store.compare(f"campaign:{before[-1].id}", f"campaign:{now}", gate=plan.gate, progress=False)
    return Judged(found, results, calls)


def _campaigns(store: Store) -> list[Any]:
    try:
        return list(store.campaigns())
    except AssayError:
        if not os.path.exists(store.place):
            return []
        raise


@dataclass(frozen=True)
class Step:
    """What is timed at once, the same for both sides."""

    calls: int  #: of the function, a power of two
    pair_steps: int  #: steps that count in the turn of a side


def step_of(function: Function) -> Step:
    """By calling it here. What the function raises is raised before anything is measured."""
    calls = 1
    while True:
        begin = time.perf_counter_ns()
        for _ in range(calls):
            function()
        took = time.perf_counter_ns() - begin
        if took >= _STEP_NS or calls >= 1 << 20:
            return Step(calls, max(2, min(50, _SLICE_NS // max(1, took))))
        calls *= 2


def variables() -> dict[str, str]:
    """For the program: its worker for Python, which this interpreter runs."""
    workers = os.pathsep.join([str(WORKERS), *filter(None, [os.environ.get("ASSAY_WORKERS")])])
    path = os.pathsep.join([os.path.dirname(sys.executable), *filter(None, [os.environ.get("PATH")])])
    return {"ASSAY_WORKERS": workers, "PATH": path}


def changed(plan: Plan, **given: Any) -> Plan:
    """The plan with what a test says of its own; None leaves it."""
    return replace(plan, **{name: value for name, value in given.items() if value is not None})
