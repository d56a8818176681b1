"""What `assay predict` says. Fields are as in docs/formats; `document` has all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from assay import _display
from assay._values import Document, frame_of


@dataclass(frozen=True)
class Point:
    """A predicted step on a number of devices."""

    devices: int
    batch: int
    seconds: float
    low_seconds: float
    high_seconds: float
    samples_per_second: float
    efficiency: float
    limit: str
    document: Document = field(repr=False, compare=False)

    @classmethod
    def of(cls, found: Document) -> Point:
        return cls(
            devices=found["devices"],
            batch=found["batch"],
            seconds=found["step"]["seconds"],
            low_seconds=found["low_seconds"],
            high_seconds=found["high_seconds"],
            samples_per_second=found["samples_per_second"],
            efficiency=found["efficiency"],
            limit=found["limit"],
            document=found,
        )


@dataclass(frozen=True)
class Prediction:
    """How training scales on a cluster, what limits it and what would help."""

    network: str
    cluster: str
    points: tuple[Point, ...]
    advice: tuple[str, ...]  #: for the last point, the most helpful first
    notes: tuple[str, ...]
    document: Document = field(repr=False, compare=False)

    @classmethod
    def of(cls, found: Document) -> Prediction:
        return cls(
            network=found["network"],
            cluster=found["cluster"],
            points=tuple(Point.of(one) for one in found["points"]),
            advice=tuple(f"{one['gain']:.2f} x  {one['change']}" for one in found["advice"]),
            notes=tuple(found["notes"]),
            document=found,
        )

    def frame(self) -> Any:
        """As a pandas.DataFrame, a row for each number of devices."""
        return frame_of(
            {name: getattr(point, name) for name in Point.__dataclass_fields__ if name != "document"}
            for point in self.points
        )

    def picture(self) -> _display.Picture:
        """The step on each number of devices, with its range."""
        rows = [
            _display.Row(
                f"{point.devices} device{'s' if point.devices > 1 else ''}",
                point.low_seconds,
                point.seconds,
                point.high_seconds,
            )
            for point in self.points
        ]
        return _display.row_picture(rows, "predicted time of a step, with its range", _display.duration)

    def _repr_html_(self) -> str:
        head = ["devices", "batch of each", "step", "range", "samples/s", "efficiency", "limit"]
        body = [
            [
                str(point.devices),
                str(point.batch),
                _display.duration(point.seconds),
                f"{_display.duration(point.low_seconds)} to {_display.duration(point.high_seconds)}",
                _display.rate(point.samples_per_second),
                f"{100 * point.efficiency:.1f} %",
                point.limit,
            ]
            for point in self.points
        ]
        title = _display.paragraph(f"{self.network} on {self.cluster}")
        advice = _display.paragraph("What would help on the last: " + "; ".join(self.advice)) if self.advice else ""
        return title + _display.table(head, body, "rrrrrrl") + self.picture().svg + advice
