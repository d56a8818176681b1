"""What lock-step groups say: one log-ratio a group and side, and an interval over groups."""

import collections
import math
import statistics
import sys


def student_within(t, freedom):
    """P(|T| <= t) of Student's T with a whole number of degrees of freedom: its integral is a finite sum."""
    angle = math.atan(t / math.sqrt(freedom))
    odd = freedom % 2
    term, total = (math.cos(angle), 0.0) if odd else (1.0, 0.0)
    for k in range(1 + odd, freedom, 2):
        total += term
        term *= math.cos(angle) ** 2 * k / (k + 1)
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if odd else total


def student_975(freedom):
    """Student's quantile for a two-sided 95 % interval, by bisection."""
    low, high = 1.9, 12.8  # from many degrees of freedom to one
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_within(middle, freedom) < 0.95 else (low, middle)
    return high


def sample_medians(record, sides=2):
    """Median of each measured slice by its round: turns 2r and 2r + 1 are round r of a pair. The first step settles."""
    rank = record["ranks"][0]
    medians, at = {}, 0
    for piece in rank["slices"]:
        samples = rank["samples_ns"][at : at + piece["samples"]]
        at += piece["samples"]
        if not piece["warmup"]:
            medians[piece["turn"] // sides] = statistics.median(samples[1:] or samples)
    return medians


def wall_times(record):
    """Time of a step in each measured slice, by its round: the whole slice over its steps, with what lies between."""
    slices = [piece for piece in record["ranks"][0]["slices"] if not piece["warmup"]]
    return {piece["turn"] // 2: (piece["end_ns"] - piece["begin_ns"]) / piece["samples"] for piece in slices}


def log_ratios(records, side_of, times=sample_medians):
    """One number a pair: the median of its rounds' log-ratios of side 1 to side 0."""
    pairs = collections.defaultdict(dict)
    for record in records:
        pairs[record["pair"]["id"]][side_of[record["trial"]]] = times(record)
    ratios = []
    for sides in pairs.values():
        if sides[0].keys() != sides[1].keys():
            sys.exit("a round of a pair has only one side")
        ratios.append(statistics.median(math.log(sides[1][r] / sides[0][r]) for r in sides[0]))
    return ratios


def log_ratios_of_group(records, side_of, side, sides):
    """One number a group: the median of its rounds' log-ratios of a side to side 0."""
    groups = collections.defaultdict(dict)
    for record in records:
        if side_of[record["trial"]] in (0, side):
            groups[record["pair"]["id"]][side_of[record["trial"]]] = sample_medians(record, sides)
    return [
        statistics.median(math.log(of[side][r] / of[0][r]) for r in of[side].keys() & of[0].keys())
        for of in groups.values()
    ]


def interval(ratios):
    """Mean of two log-ratios or more, and half-width of its t-interval."""
    half = student_975(len(ratios) - 1) * statistics.stdev(ratios) / math.sqrt(len(ratios))
    return statistics.mean(ratios), half
