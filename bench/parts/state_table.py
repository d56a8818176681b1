"""Records of the big comparison as Markdown. Pure: what was measured and why the rest was not, in; text, out.

A run gives one number, batch / median step. Runs of a cell are put together by their geometric mean. With few runs a
cell has no interval of its own, so the scatter of all cells is pooled: how far logarithms of runs lie from their cell's
mean. Half of an interval of n runs is the 95 % quantile of that over the root of n.
"""

import math
import statistics
from dataclasses import dataclass, field

FEW = 20  # deviations below which no noise is told
LONGEST_MESSAGE = 160
NO_TIME = "no time"
WHY = {
    "no training": "the runtime, or its worker, infers only",
    "too long": "a step of more than 300 GFLOP does not fit into the time of a run",
    NO_TIME: "planned, and not measured within the time",
    "out of memory": "the worker passed the limit of memory",
}


@dataclass
class Cell:
    rates: list = field(default_factory=list)  # samples/s of each run that counts
    trusted: bool = True
    reason: str = ""
    share: float | None = None  # of the roofline

    @property
    def rate(self):
        return math.exp(statistics.fmean(map(math.log, self.rates)))


def cells_of(wanted, against, runs, shares):
    """Every cell, measured or with its reason, and the messages of those that failed.

    `shares` says of a cell which share of the roofline one sample/s is: Assay's own share is of the mean step, ours of
    the median step, as the rate is.
    """
    by_key, messages = {}, []
    for run in runs:
        by_key.setdefault((run["network"], run["mode"], run["batch"], run["worker"]), []).append(run)
    cells = {key: Cell(reason=reason) for key, reason in against.items()}
    for key in wanted:
        good = [run for run in by_key.get(key, []) if run["outcome"] == "ok"]
        if not good:
            cells[key] = Cell(reason=reason_of(by_key.get(key, []), messages))
            continue
        trusted = [run for run in good if run["trusted"]]
        rates = [run["batch"] / (run["median_ns"] * 1e-9) for run in trusted or good]
        cells[key] = Cell(rates, bool(trusted))
        if key in shares:
            cells[key].share = shares[key] * cells[key].rate
    return cells, messages


def reason_of(bad, messages):
    bad = [run for run in bad if run["outcome"] != "interrupted"]
    if not bad:
        return NO_TIME
    if bad[-1]["outcome"] == "out_of_memory":
        return "out of memory"
    said = " ".join(bad[-1]["message"].split())[:LONGEST_MESSAGE].replace("|", "\\|")
    told = f"{bad[-1]['outcome']}: {said}"
    if told not in messages:
        messages.append(told)
    return f"failed [{messages.index(told) + 1}]"


def deviations(cells):
    """How far each run's logarithm lies from its cell's mean, made as large as if the true mean were known."""
    found = []
    for cell in cells:
        n = len(cell.rates)
        if n > 1:
            middle = statistics.fmean(map(math.log, cell.rates))
            found += [abs(math.log(rate) - middle) * math.sqrt(n / (n - 1)) for rate in cell.rates]
    return sorted(found)


def quantile(ordered, share):
    """The smallest value that at least this share is not above."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def noise_of(cells):
    """The 95 % quantile of all deviations, or None where there are too few to tell."""
    found = deviations(cells)
    return quantile(found, 0.95) if len(found) >= FEW else None


def ends(cell, noise):
    """The interval of a cell, or None."""
    if noise is None:
        return None
    factor = math.exp(noise / math.sqrt(len(cell.rates)))
    return cell.rate / factor, cell.rate * factor


def number(value):
    """Three digits, as people write them."""
    rounded = float(f"{value:.3g}")
    return f"{rounded:,.0f}" if rounded >= 1000 else f"{rounded:.3g}"


def percent(log_ratio):
    return f"{100 * (math.exp(log_ratio) - 1):.0f} %"


def among_the_fastest(cell, best, noise):
    """Not told apart from the fastest of its row."""
    if cell is best:
        return True
    return noise is not None and ends(cell, noise)[1] >= ends(best, noise)[0]


def shown(cell, best, noise):
    if not cell.rates:
        return cell.reason
    if not cell.trusted:
        return f"{number(cell.rate)} (?)"
    both = ends(cell, noise)
    interval = f" ({number(both[0])} to {number(both[1])})" if both else ""
    if among_the_fastest(cell, best, noise):
        return f"**{number(cell.rate)}**{interval}"
    return f"{number(cell.rate)}{interval}, {best.rate / cell.rate:.3g} x"


def best_of(row):
    """The fastest that was not disturbed, or None."""
    measured = [cell for cell in row if cell.rates and cell.trusted]
    return max(measured, key=lambda cell: cell.rate) if measured else None


def rows_of(cells, mode, batch, runtimes):
    """(network, cells in the order of runtimes) for each network that is in the comparison."""
    networks = sorted({key[0] for key in cells if key[1:3] == (mode, batch)})
    return [(name, [cells[name, mode, batch, runtime] for runtime in runtimes]) for name in networks]


def table(head, lines):
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


def rates_table(cells, mode, batch, runtimes, noise, size_words):
    lines = []
    for network, row in rows_of(cells, mode, batch, runtimes):
        best = best_of(row)
        lines.append([f"{network}, {size_words(network)}", *(shown(cell, best, noise) for cell in row)])
    return table(["network", *runtimes], lines)


def shares_table(cells, mode, batch, runtimes):
    lines = []
    for network, row in rows_of(cells, mode, batch, runtimes):
        lines.append([network, *("-" if cell.share is None else f"{100 * cell.share:.0f} %" for cell in row)])
    return table(["network", *runtimes], lines)


def summary(cells, mode, batch, runtimes, noise):
    """For each runtime: networks it ran, on how many it is among the fastest, how long it takes beside the fastest.
    Without what was disturbed: one such run can be many times too long."""
    rows = rows_of(cells, mode, batch, runtimes)
    lines = []
    for place, runtime in enumerate(runtimes):
        pairs = [(row[place], best_of(row)) for _, row in rows if row[place].rates and row[place].trusted]
        if not pairs:
            continue
        first = sum(among_the_fastest(cell, best, noise) for cell, best in pairs)
        times = math.exp(statistics.fmean(math.log(best.rate / cell.rate) for cell, best in pairs))
        shares = [cell.share for cell, _ in pairs if cell.share is not None]
        share = f"{100 * statistics.median(shares):.0f} %" if shares else "-"
        lines.append([runtime, f"{len(pairs)} of {len(rows)}", str(first), f"{times:.3g} x", share])
    if not lines:
        return ["No runtime ran this."]
    head = ["runtime", "networks", "fastest or like it", "time beside the fastest", "of the roofline"]
    return [table(head, lines), "Samples per second:"]


def noise_table(cells, runtimes):
    lines = []
    for runtime in runtimes:
        found = deviations([cell for key, cell in cells.items() if key[3] == runtime])
        if len(found) >= FEW:
            half, most = (percent(quantile(found, share)) for share in (0.5, 0.95))
            lines.append([runtime, str(len(found)), half, most])
    if not lines:
        return f"Fewer than {FEW} runs of any runtime have another run of their trial beside them: too few to tell."
    return table(["runtime", "runs with others of their trial", "half within", "95 % within"], lines)


def legend(cells, messages):
    used = {cell.reason for cell in cells.values() if cell.reason}
    lines = [f"- *{reason}*: {why}." for reason, why in WHY.items() if reason in used]
    missing = any(reason.startswith("no operator") for reason in used)
    lines += ["- *no operator*: the worker does not build that operator, and refuses the network."] if missing else []
    lines += [f"- [{number}] {message}" for number, message in enumerate(messages, 1)]
    return "\n".join(lines)


def page_part(cells, messages, runtimes, size_words):
    """What stands between the markers of the page, from the cells of all modes and batches."""
    noise = noise_of(cells.values())
    groups = sorted({key[1:3] for key in cells})
    runs = sorted({len(cell.rates) for cell in cells.values() if cell.rates}) or [0]
    many = str(runs[0]) if len(runs) == 1 else f"{runs[0]} to {runs[-1]}"
    parts = [f"Runs per number: {many}."]
    if noise is not None:
        parts.append(f"Intervals are 95 %, from the noise of all cells together: one run is within {percent(noise)}.")
    for mode, batch in groups:
        title = f"{'Inference' if mode == 'infer' else 'Training'}, batch {batch}"
        parts += [f"### {title}", *summary(cells, mode, batch, runtimes, noise)]
        parts += [rates_table(cells, mode, batch, runtimes, noise, size_words)]
        if any(cell.share is not None for key, cell in cells.items() if key[1:3] == (mode, batch)):
            parts += ["Share of the roofline:", shares_table(cells, mode, batch, runtimes)]
    parts += ["### Why a cell is empty", legend(cells, messages) or "None is."]
    parts += ["### Noise", noise_table(cells, runtimes)]
    return "\n\n".join(parts) + "\n"
