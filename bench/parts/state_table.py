"""Rows of the big comparison as Markdown: what `assay compare --to fastest --json` says of each, in; text, out."""

import statistics
from dataclasses import dataclass, field

WHY = {
    "no training": "the runtime, or its worker, infers only",
    "no bf16": "the worker does not compute in that precision",
    "not yet": "planned, and not measured yet",
}


@dataclass
class Cell:
    """How a side stands to the fastest of its row, or why it has no number."""

    reason: str = ""
    step_ns: float | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    like_fastest: bool = False  # no verdict says that it is slower

    @property
    def half_width(self):
        """Half of the interval as a share of the ratio; None for the fastest itself."""
        return None if self.low is None else (self.high - self.low) / 2 / self.ratio


@dataclass
class MeasuredRow:
    row: object
    cells: dict = field(default_factory=dict)  # by the name of the side
    groups: int = 0


def cells_of(family, side_of):
    """The cells of a row from one family of `assay compare`; `side_of(trial)` names a column."""
    fastest = family["reference"]
    slower = {
        max(pair["first"], pair["second"], key=lambda one: one != fastest): is_slower(pair, fastest)
        for pair in family["pairs"]
        if fastest in (pair["first"], pair["second"])
    }
    cells = {}
    for number, side in enumerate(family["sides"]):
        interval = side["ratio_interval"] or {}
        cells[side_of(side["trial"])] = Cell(
            step_ns=side["median_ns"],
            ratio=side["ratio"],
            low=None if number == fastest else interval.get("low"),
            high=None if number == fastest else interval.get("high"),
            like_fastest=number == fastest or not slower[number],
        )
    return cells


def is_slower(pair, fastest):
    """Whether the verdict on a pair is that the side other than the fastest is slower."""
    return pair["verdict"] == ("slower" if pair["first"] == fastest else "faster")


def duration(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def shown(cell):
    if cell.ratio is None:
        return cell.reason
    if cell.low is None:
        return f"**1**, {duration(cell.step_ns)}"
    words = f"{cell.ratio:.2f} ({cell.low:.2f} to {cell.high:.2f})"
    return f"**{words}**" if cell.like_fastest else words


def table(head, lines):
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


def ratios_table(measured, sides):
    lines = [
        [f"{one.row.network}, {one.row.size}", *(shown(one.cells[side]) for side in sides)]
        for one in sorted(measured, key=lambda one: one.row.network)
    ]
    return table(["network", *sides], lines)


def summary(measured, sides):
    """Of each side: rows it ran, on how many nothing is proved faster, and its geometric mean beside the fastest."""
    lines = []
    for side in sides:
        cells = [one.cells[side] for one in measured if one.cells[side].ratio is not None]
        if cells:
            times = statistics.geometric_mean(cell.ratio for cell in cells)
            fastest = sum(cell.like_fastest for cell in cells)
            lines.append([side, f"{len(cells)} of {len(measured)}", str(fastest), f"{times:.2f}"])
    return table(["runtime", "networks", "fastest, or not told apart from it", "time beside the fastest"], lines)


def half_widths(measured):
    return [cell.half_width for one in measured for cell in one.cells.values() if cell.half_width is not None]


def legend(measured, messages):
    used = {cell.reason for one in measured for cell in one.cells.values() if cell.reason}
    lines = [f"- *{reason}*: {why}." for reason, why in WHY.items() if reason in used]
    if any(reason.startswith("no operator") for reason in used):
        lines.append("- *no operator*: the worker does not build that operator, and refuses the network.")
    return "\n".join(lines + [f"- [{number}] {message}" for number, message in enumerate(messages, 1)])


def page_part(measured, sides, messages):
    """What stands between the markers of the page."""
    halves = half_widths(measured)
    parts = []
    if halves:
        below = sum(half < 0.12 for half in halves) / len(halves)
        parts.append(
            f"Half of an interval is {100 * statistics.median(halves):.1f} % of its ratio in the median of "
            f"{len(halves)} cells, and less than 12 % in {100 * below:.0f} % of them."
        )
    for mode, precision in sorted({(one.row.mode, one.row.precision) for one in measured}):
        chosen = [one for one in measured if (one.row.mode, one.row.precision) == (mode, precision)]
        parts.append(f"### {'Inference' if mode == 'infer' else 'Training'}, {precision}")
        parts += [summary(chosen, sides), "Time of a step, as a ratio to the fastest:", ratios_table(chosen, sides)]
    words = legend(measured, messages)
    return "\n\n".join(parts + (["### Why a cell is empty", words] if words else [])) + "\n"
