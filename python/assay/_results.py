"""Results of campaigns, and runs with their samples. Fields are as in docs/formats; `document` has all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from assay import _display
from assay._values import Document, Interval, frame_of, interval_of, settings_text, workload_title


@dataclass(frozen=True)
class Result:
    """What the runs of one trial on one platform say together. Times are of a step."""

    trial_id: str
    workload: str
    worker: str
    settings: str
    platform: str
    runs: int
    ok: int
    untrusted: int
    median_ns: float | None
    median_interval_ns: Interval | None
    p90_ns: float | None
    p99_ns: float | None
    samples_per_second: float | None
    document: Document = field(repr=False, compare=False)

    @property
    def median_seconds(self) -> float | None:
        return None if self.median_ns is None else self.median_ns / 1e9

    @classmethod
    def of(cls, found: Document) -> Result:
        trial = found["trial"]
        return cls(
            trial_id=found["trial_id"],
            workload=workload_title(trial),
            worker=f"{trial['worker']['name']} {trial['worker']['release']}",
            settings=settings_text(trial),
            platform=found["platform"],
            runs=found["runs"],
            ok=found["ok"],
            untrusted=found["untrusted"],
            median_ns=found["median_ns"],
            median_interval_ns=interval_of(found["median_interval"], ("low_ns", "high_ns")),
            p90_ns=found["p90_ns"],
            p99_ns=found["p99_ns"],
            samples_per_second=found["samples_per_second"],
            document=found,
        )


class Results(list[Result]):
    """Results of campaigns; in a notebook a table and a picture."""

    campaigns: list[Document]

    @classmethod
    def of(cls, found: Document) -> Results:
        made = cls(Result.of(one) for one in found["results"])
        made.campaigns = found["campaigns"]
        return made

    @property
    def failed_runs(self) -> int:
        return sum(int(campaign["progress"]["failed"]) for campaign in self.campaigns)

    def frame(self) -> Any:
        """As a pandas.DataFrame, a row for each result, with parts of the trial as columns."""
        return frame_of(self._row(one) for one in self)

    @staticmethod
    def _row(one: Result) -> Document:
        workload, settings = one.document["trial"]["workload"], one.document["trial"]["settings"]
        interval = one.median_interval_ns
        return {
            "trial_id": one.trial_id,
            "network": workload["network"],
            "mode": workload["mode"],
            "batch": workload["batch"],
            "precision": workload["precision"],
            "worker": one.worker,
            "settings": one.settings,
            "intra_op": settings.get("intra_op"),
            "platform": one.platform,
            "runs": one.runs,
            "ok": one.ok,
            "untrusted": one.untrusted,
            "median_ns": one.median_ns,
            "low_ns": interval.low if interval else None,
            "high_ns": interval.high if interval else None,
            "p90_ns": one.p90_ns,
            "p99_ns": one.p99_ns,
            "samples_per_second": one.samples_per_second,
        }

    def picture(self) -> _display.Picture:
        """Medians with their intervals."""
        rows = []
        for one in self:
            if one.median_ns is None:
                continue
            interval = one.median_interval_ns or Interval(one.median_ns, one.median_ns)
            label = f"{one.workload}, {one.worker}" + ("" if one.settings == "default" else f", {one.settings}")
            rows.append(_display.Row(label, interval.low / 1e9, one.median_ns / 1e9, interval.high / 1e9))
        return _display.row_picture(rows, "time of a step, with its 95 % interval", _display.duration)

    def _repr_html_(self) -> str:
        head = ["workload", "worker", "settings", "median", "95 % interval", "p90", "p99", "samples/s", "runs"]
        body = [
            [
                one.workload,
                one.worker,
                one.settings,
                _display.nanoseconds(one.median_ns),
                _display.interval(one.median_ns, one.median_interval_ns),
                _display.nanoseconds(one.p90_ns),
                _display.nanoseconds(one.p99_ns),
                _display.rate(one.samples_per_second),
                f"{one.ok} of {one.runs}" if one.ok != one.runs else str(one.runs),
            ]
            for one in self
        ]
        return _display.table(head, body, "lllrrrrrr") + self.picture().svg


@dataclass(frozen=True)
class Run:
    """One run of a trial: a fresh process, or several ranks of one."""

    trial_id: str
    index: int
    attempt: int
    counted: bool  #: False for an attempt that was measured again
    outcome: str  #: ok, refused, failed, crashed, …
    message: str
    trusted: bool
    reasons: tuple[str, ...]
    started_utc: str
    platform: str
    median_ns: int | None
    steady_from: int  #: index of the first sample that is summarised
    samples_ns: tuple[tuple[int, ...], ...]  #: of each process, every step in order, warm-up included
    document: Document = field(repr=False, compare=False)

    @classmethod
    def of(cls, found: Document) -> Run:
        return cls(
            trial_id=found["trial"],
            index=found["index"],
            attempt=found["attempt"],
            counted=found["counted"],
            outcome=found["outcome"]["kind"],
            message=found["outcome"]["message"],
            trusted=found["validity"]["trusted"],
            reasons=tuple(reason["message"] for reason in found["validity"]["reasons"]),
            started_utc=found["started_utc"],
            platform=found["platform"],
            median_ns=found["summary"]["median_ns"],
            steady_from=found["summary"]["steady_from"],
            samples_ns=tuple(tuple(rank["samples_ns"]) for rank in found["ranks"]),
            document=found,
        )


class Runs(list[Run]):
    """Runs with all their samples; in a notebook a picture of every step."""

    def frame(self) -> Any:
        """As a pandas.DataFrame, a row for each sample."""
        return frame_of(
            {
                "trial_id": run.trial_id,
                "run": run.index,
                "attempt": run.attempt,
                "process": process,
                "step": step,
                "steady": step >= run.steady_from,
                "ns": ns,
            }
            for run in self
            for process, samples in enumerate(run.samples_ns)
            for step, ns in enumerate(samples)
        )

    def picture(self) -> _display.Picture:
        """Every step of the first process of each run, in order; warm-up is pale."""
        series = [(run.samples_ns[0], run.steady_from) for run in self if run.samples_ns and run.samples_ns[0]]
        return _display.step_picture(series)

    def _repr_html_(self) -> str:
        head = ["trial", "run", "outcome", "median", "steps", "trusted", "because"]
        body = [
            [
                run.trial_id[:8],
                str(run.index),
                run.outcome,
                _display.nanoseconds(run.median_ns),
                str(sum(map(len, run.samples_ns))),
                "yes" if run.trusted else "no",
                run.message or "; ".join(run.reasons),
            ]
            for run in self
        ]
        return _display.table(head, body, "lrlrrll") + self.picture().svg
