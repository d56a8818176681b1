"""What lock-step pairs say: one log-ratio a pair, and an interval over pairs."""

import collections
import math
import statistics
import sys

# Student's quantile for a two-sided 95 % interval, by the number of pairs.
T_975 = {3: 4.303, 4: 3.182, 6: 2.571, 8: 2.365, 10: 2.262, 12: 2.201, 20: 2.093, 30: 2.045, 40: 2.023, 60: 2.001}


def sample_medians(record):
    """Median of each measured slice by its round: turns 2r and 2r + 1 are round r."""
    rank = record["ranks"][0]
    medians, at = {}, 0
    for piece in rank["slices"]:
        samples = rank["samples_ns"][at : at + piece["samples"]]
        at += piece["samples"]
        if not piece["warmup"]:
            medians[piece["turn"] // 2] = statistics.median(samples)
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


def interval(ratios):
    """Mean of log-ratios and half-width of its t-interval."""
    half = T_975[len(ratios)] * statistics.stdev(ratios) / math.sqrt(len(ratios))
    return statistics.mean(ratios), half
