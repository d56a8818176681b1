"""Records of the engines that generate text as Markdown. Pure: what was measured in, text out.

A row is one engine on one model in one format. Ratios are those of lock-step groups, to the first engine of the group;
what was not measured has its reason in place of a number.
"""

import statistics

FEW_GROUPS = 6  # below them Assay gives no verdict
HEAD = ("engine", "first token", "per token", "tokens/s out", "time beside the first", "weights", "cache", "of triad",
        "log-probabilities", "other next token")  # fmt: skip
TITLES = {"fp32": "F32", "fp16": "F16", "bf16": "BF16", "q8_0": "Q8_0", "q4_0": "Q4_0",
          "int4": "INT4, made by ONNX Runtime GenAI from F32"}  # fmt: skip
INTRO = """# The state of generation on CPUs

*For those who choose an engine or a format of weights: every engine that has a worker here, on models with the same
weights.*

One command measures it and writes this page again; it keeps what it has in a store and goes on where it stopped:
`bench/generate_state`.

## How to read it
- Models are Llamas whose weights follow from a seed ([generating](generating.md)): their text means nothing, their
  times are those of any weights of that shape. All engines have the same prompt and the same forced tokens.
- **Time beside the first**: of the whole answer, in lock-step groups, with the 95 % interval. With fewer than 6
  groups it is shown and proves nothing.
- **First token** and **per token** are medians over the runs; a token takes longer the more text is before it.
- **Of triad**: bytes of the weights over the time of a token, as a share of the best triad measured here: how much of
  the memory bandwidth decoding reaches at least. A model that fits into a cache may have more than 100 %.
- **Log-probabilities**: how far those of the forced tokens are in the mean from F32 weights of the same seed in
  PyTorch; **other next token**: the share of places at which another token is the most probable. Random weights make
  flat distributions, so that the next token changes more easily than in a trained model.
- **(?)**: the program's own validity flags say that runs of this row were disturbed.
"""


def times(ns):
    return "-" if ns is None else f"{ns / 1e6:.3g} ms"


def size(count):
    return "-" if count is None else f"{count / 2**20:.3g} MiB" if count < 2**30 else f"{count / 2**30:.3g} GiB"


def percent(share):
    return "-" if share is None else f"{100 * share:.3g} %"


def sides_of(compared):
    """Trial to (ratio, low, high, groups), from what `assay compare --json` says of two sides or of more; the first
    side of a group has the ratio 1 and no interval."""
    found = {}
    for one in compared.get("comparisons", []):
        interval = one["ratio_interval"] or {}
        found[one["a"]["trial_id"]] = (1.0, None, None, one["pairs"])
        found[one["b"]["trial_id"]] = (one["ratio"], interval.get("low"), interval.get("high"), one["pairs"])
    for family in compared.get("families", []):
        groups = min((pair["groups"] for pair in family["pairs"]), default=0)
        for side in family["sides"]:
            interval = side["ratio_interval"] or {}
            found[side["trial_id"]] = (side["ratio"], interval.get("low"), interval.get("high"), groups)
    return found


def ratio_words(side):
    if side is None or side[0] is None:
        return "-"
    ratio, low, high, groups = side
    interval = f" ({low:.3g} to {high:.3g})" if low is not None and high is not None else ""
    return f"{ratio:.3g}{interval}" + ("" if groups >= FEW_GROUPS or not interval else f", {groups} groups")


def half_widths(sides):
    """Of the ratios that have an interval, as shares of the ratio."""
    return [(high - low) / 2 / ratio for ratio, low, high, _ in sides.values() if low is not None and high is not None]


def groups_of(part):
    """Groups that all rows of a table have; an engine alone has runs in their place."""
    _, _, rows, sides, runs = part
    return min((side[3] for side in sides.values()), default=runs) if rows else 0


def missing(parts, wanted, groups):
    """Of the (shape, format) that are wanted: (shape, format, groups so far) where those are not enough."""
    has = {part[:2]: groups_of(part) for part in parts}
    return [(*one, has.get(one, 0)) for one in wanted if has.get(one, 0) < groups]


def so_far(parts, wanted, groups):
    """Whether all is measured, in words."""
    left = missing(parts, wanted, groups)
    if not left:
        return f"All {len(wanted)} tables have their {groups} groups."
    words = ", ".join(f"{shape} in {TITLES[name]} ({count} of {groups} groups)" for shape, name, count in left)
    return f"{len(wanted) - len(left)} of {len(wanted)} tables are complete so far. Still to be measured: {words}."


def row(result, side, accuracy):
    """A line of the table, from an entry of `assay show --json`."""
    worker, generated = result["trial"]["worker"], result.get("generated")
    name = f"{worker['name']} {worker['release']}"
    if not generated:
        reasons = ", ".join(sorted(result["failures"])) or "not measured"
        return [name, reasons, *["-"] * (len(HEAD) - 2)]
    disturbed = " (?)" if result["validity"] or result["untrusted"] else ""
    return [name, times(generated["first_token_ns"]), times(generated["token_ns"]) + disturbed,
            f"{generated['output_tokens_per_second']:.3g}", ratio_words(side), size(generated["weights_bytes"]),
            size(generated["cache_bytes"]), percent(result["share_of_roofline"]),
            "-" if accuracy is None else f"{accuracy['log_probability']:.2g}",
            percent(accuracy and accuracy["other_token"])]  # fmt: skip


def table(rows):
    rule = ["---"] + ["---:"] * (len(HEAD) - 1)
    return "\n".join("| " + " | ".join(line) + " |" for line in [HEAD, rule, *rows])


def page(parts, note):
    """`parts`: (shape, format, rows, sides, runs of each) in order; `note`: when it was measured, and how much."""
    widths = [width for part in parts for width in half_widths(part[3])]
    lines = [INTRO, "## Results", note]
    if widths:
        lines.append(f"Half-width of the ratios' intervals: {percent(statistics.median(widths))} in the median.")
    shape = None
    for name, precision, rows, *_ in parts:
        if name != shape:
            lines.append(f"### {name}")
            shape = name
        lines += [f"Weights in {TITLES[precision]}:", table(rows)]
    return "\n\n".join(line.strip("\n") for line in lines) + "\n"
