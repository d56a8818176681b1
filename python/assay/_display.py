"""What notebooks show: tables in HTML and pictures in SVG. All text is escaped; nothing is loaded from elsewhere."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

_WIDTH = 720
_ROW = 26
_BELOW = 44  # of the axis and its title
_MOST_LABEL = 60
_COLOURS = {"": "#2a78c2", "slower": "#c44e1b", "faster": "#2e8b57", "no_difference": "#7a7a7a", "undecided": "#b8860b"}
_MOST_DOTS = 2000  # of a run: more are drawn over each other


class _Bounds(Protocol):
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


@dataclass(frozen=True)
class Picture:
    """A picture as SVG text; notebooks draw it."""

    svg: str

    def _repr_html_(self) -> str:
        return self.svg

    def save(self, path: str) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


@dataclass(frozen=True)
class Row:
    """A value with the ends of what it may be; `kind` is a verdict or empty."""

    label: str
    low: float
    middle: float
    high: float
    kind: str = ""


def duration(seconds: float) -> str:
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if abs(seconds) >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds / 1e-9:.4g} ns"


def nanoseconds(ns: float | None) -> str:
    return "-" if ns is None else duration(ns / 1e9)


def rate(per_second: float | None) -> str:
    if per_second is None:
        return "-"
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if per_second >= size:
            return f"{per_second / size:.4g}{unit}/s"
    return f"{per_second:.4g}/s"


def interval(middle: float | None, bounds: _Bounds | None) -> str:
    """As the program has it: -1.2 +3.4 %."""
    if middle is None or bounds is None or middle <= 0:
        return "-"
    return f"{100 * (bounds.low / middle - 1):+.1f} {100 * (bounds.high / middle - 1):+.1f} %"


def paragraph(text: str) -> str:
    return f"<p>{html.escape(text)}</p>"


def table(head: Sequence[str], body: Sequence[Sequence[str]], sides: str) -> str:
    """`sides` has a letter for each column: l is set to the left, r to the right."""
    names = {"l": "left", "r": "right"}

    def row(tag: str, cells: Sequence[str]) -> str:
        shown = (
            f'<{tag} style="text-align:{names[side]}">{html.escape(text)}</{tag}>' for side, text in zip(sides, cells)
        )
        return f"<tr>{''.join(shown)}</tr>"

    rows = "".join(row("td", cells) for cells in body)
    return f"<table><thead>{row('th', head)}</thead><tbody>{rows}</tbody></table>"


class _Scale:
    """From values to pixels; logarithmic where they span more than a factor of 20."""

    def __init__(self, low: float, high: float, begin: float, end: float) -> None:
        self.is_log = low > 0 and high / low > 20
        if not self.is_log:
            margin = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
            low, high = low - margin if low - margin > 0 or low <= 0 else 0.0, high + margin
        self._low, self._high = (math.log(low), math.log(high)) if self.is_log else (low, high)
        self._begin, self._end = begin, end
        self.low, self.high = low, high

    def place(self, value: float) -> float:
        value = math.log(value) if self.is_log else value
        return self._begin + (value - self._low) / (self._high - self._low) * (self._end - self._begin)

    def ticks(self) -> list[float]:
        if self.is_log:
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            return [10.0**power for power in range(first, last + 1)] or [self.low, self.high]
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / 4))
        for factor in (5, 2):
            if (self.high - self.low) / (factor * step) >= 4:
                step *= factor
                break
        first = math.ceil(self.low / step)
        return [step * number for number in range(first, math.floor(self.high / step) + 1)]


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(text)}</text>'


def _svg(height: float, label: str, parts: Sequence[str]) -> str:
    style = "max-width:100%;font:12px sans-serif;fill:currentColor;stroke:none"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" width="{_WIDTH}" role="img" '
        f'aria-label="{html.escape(label)}" style="{style}">{"".join(parts)}</svg>'
    )


def _x_axis(scale: _Scale, bottom: float, title: str, shown: Callable[[float], str]) -> list[str]:
    parts = []
    for tick in scale.ticks():
        x = scale.place(tick)
        parts.append(f'<path d="M{x:.1f} 8V{bottom:.1f}" stroke="currentColor" stroke-opacity=".15"/>')
        parts.append(_text(x, bottom + 16, shown(tick), "middle"))
    parts.append(_text(_WIDTH - 8, bottom + 36, title, "end"))
    return parts


def row_picture(rows: Sequence[Row], title: str, shown: Callable[[float], str], marks: Sequence[float] = ()) -> Picture:
    """A dot with a bar for each row; `marks` are dashed lines across."""
    if not rows:
        return Picture("")
    labels = [row.label if len(row.label) <= _MOST_LABEL else row.label[: _MOST_LABEL - 1] + "…" for row in rows]
    left = min(_WIDTH * 0.55, 16 + 6.6 * max(map(len, labels)))
    values = [value for row in rows for value in (row.low, row.middle, row.high)] + list(marks)
    scale = _Scale(min(values), max(values), left, _WIDTH - 24)
    bottom = 12.0 + _ROW * len(rows)
    parts = _x_axis(scale, bottom, title, shown)
    for mark in marks:
        x = scale.place(mark)
        parts.append(f'<path d="M{x:.1f} 8V{bottom:.1f}" stroke="currentColor" stroke-dasharray="4 3"/>')
    for number, (row, label) in enumerate(zip(rows, labels)):
        y = 12 + _ROW * (number + 0.5)
        colour = _COLOURS.get(row.kind, _COLOURS[""])
        low, high = scale.place(row.low), scale.place(row.high)
        parts.append(_text(left - 8, y + 4, label, "end"))
        parts.append(f'<path d="M{low:.1f} {y:.1f}H{high:.1f}" stroke="{colour}" stroke-width="3"/>')
        said = html.escape(f"{row.label}: {shown(row.middle)} ({shown(row.low)} to {shown(row.high)})")
        dot = f'<circle cx="{scale.place(row.middle):.1f}" cy="{y:.1f}" r="5" fill="{colour}">'
        parts.append(f"{dot}<title>{said}</title></circle>")
    return Picture(_svg(bottom + _BELOW, title, parts))


def step_picture(series: Sequence[tuple[Sequence[int], int]]) -> Picture:
    """Every step of each run beside the others: samples in nanoseconds, and where the steady part begins."""
    if not series:
        return Picture("")
    left, top, bottom = 80.0, 12.0, 220.0
    largest = max(max(samples) for samples, _ in series) / 1e9
    smallest = min(min(samples) for samples, _ in series) / 1e9
    scale = _Scale(smallest, largest, bottom, top)
    parts = []
    for tick in scale.ticks():
        y = scale.place(tick)
        parts.append(f'<path d="M{left:.0f} {y:.1f}H{_WIDTH - 16}" stroke="currentColor" stroke-opacity=".15"/>')
        parts.append(_text(left - 8, y + 4, duration(tick), "end"))
    room = (_WIDTH - 16 - left) / len(series)
    for number, (samples, steady_from) in enumerate(series):
        stride = max(1, len(samples) // _MOST_DOTS)
        for step in range(0, len(samples), stride):
            x = left + room * (number + 0.04 + 0.92 * step / len(samples))
            opacity = "" if step >= steady_from else ' fill-opacity=".25"'
            y = scale.place(samples[step] / 1e9)
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="1.6" fill="{_COLOURS[""]}"{opacity}/>')
    parts.append(_text(_WIDTH - 8, bottom + 30, "steps in order, a run beside the other; warm-up is pale", "end"))
    return Picture(_svg(bottom + _BELOW, "time of every step", parts))
