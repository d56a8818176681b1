"""What `assay compare` says. Fields are as in docs/formats; `document` has all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from assay import _display
from assay._values import Document, Interval, frame_of, interval_of, workload_title

Verdict = Literal["slower", "faster", "no_difference", "undecided"]


@dataclass(frozen=True)
class Comparison:
    """One trial on both sides. Ratios are of time, second over first: above 1 the second is slower."""

    workload: str
    first_ns: float | None
    second_ns: float | None
    ratio: float | None
    ratio_interval: Interval | None
    p: float | None
    pairs: int
    method: str
    verdict: Verdict
    sentence: str
    fails_gate: bool | None
    leaves_gate_open: bool | None
    document: Document = field(repr=False, compare=False)

    @classmethod
    def of(cls, found: Document) -> Comparison:
        return cls(
            workload=workload_title(found["a"]["trial"]),
            first_ns=found["a"]["median_ns"],
            second_ns=found["b"]["median_ns"],
            ratio=found["ratio"],
            ratio_interval=interval_of(found["ratio_interval"]),
            p=found["p"],
            pairs=found["pairs"],
            method=found["method"],
            verdict=found["verdict"],
            sentence=found["sentence"],
            fails_gate=found["fails_gate"],
            leaves_gate_open=found.get("leaves_gate_open"),
            document=found,
        )


class Comparisons(list[Comparison]):
    """What `assay compare` says of two sides; in a notebook a table and a picture of the ratios."""

    first: str
    second: str
    gate: float | None
    failed: int
    open: int

    @classmethod
    def of(cls, found: Document) -> Comparisons:
        made = cls(Comparison.of(one) for one in found["comparisons"])
        made.first, made.second = found["a"], found["b"]
        made.gate, made.failed, made.open = found["gate"], found["failed"], found.get("open", 0)
        return made

    @property
    def passed(self) -> bool | None:
        """Whether the gate passes; None where there is no gate, or where it cannot decide."""
        if self.gate is None or (self.failed == 0 and self.open > 0):
            return None
        return self.failed == 0

    def frame(self) -> Any:
        """As a pandas.DataFrame, a row for each comparison."""
        return frame_of(
            {
                "workload": one.workload,
                "first_ns": one.first_ns,
                "second_ns": one.second_ns,
                "ratio": one.ratio,
                "low": one.ratio_interval.low if one.ratio_interval else None,
                "high": one.ratio_interval.high if one.ratio_interval else None,
                "p": one.p,
                "pairs": one.pairs,
                "method": one.method,
                "verdict": one.verdict,
                "fails_gate": one.fails_gate,
            }
            for one in self
        )

    def picture(self) -> _display.Picture:
        """Ratios with their intervals, beside 1 and the gate."""
        rows = [
            _display.Row(one.workload, one.ratio_interval.low, one.ratio, one.ratio_interval.high, one.verdict)
            for one in self
            if one.ratio is not None and one.ratio_interval is not None
        ]
        marks = [1.0] + ([1.0 + self.gate] if self.gate is not None else [])
        what = "time of the second over the first, with its 95 % interval"
        return _display.row_picture(rows, what, lambda ratio: f"{ratio:.3g}", marks)

    def _repr_html_(self) -> str:
        head = ["workload", "first", "second", "ratio", "95 % interval", "p", "verdict", ""]
        body = [
            [
                one.workload,
                _display.nanoseconds(one.first_ns),
                _display.nanoseconds(one.second_ns),
                "-" if one.ratio is None else f"{one.ratio:.3f}",
                "-" if one.ratio_interval is None else f"{one.ratio_interval.low:.3f} to {one.ratio_interval.high:.3f}",
                "-" if one.p is None else f"{one.p:.2g}",
                one.verdict.replace("_", " "),
                one.sentence,
            ]
            for one in self
        ]
        title = _display.paragraph(f"first: {self.first}, second: {self.second}")
        return title + _display.table(head, body, "lrrrrrll") + self.picture().svg
