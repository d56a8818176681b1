"""Assay's statistics against SciPy, statsmodels' formulas by hand in numpy, and ruptures."""

import importlib.util
import json
import math
import os
import pathlib
import statistics
import subprocess

import numpy
import pytest
import ruptures
import scipy.stats

PROGRAM = pathlib.Path(os.environ["ASSAY_BUILD"]) / "tests" / "statistics"
CLOSE = {"rel": 1e-9, "abs": 1e-12}


def ask(questions):
    done = subprocess.run([PROGRAM], input=json.dumps(questions), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def random():
    return numpy.random.default_rng(7)


def test_welch_is_that_of_scipy(random):
    """p, degrees and interval of 200 pairs of samples with unequal sizes and spreads, to 9 digits."""
    samples = [
        (random.normal(5, 0.1, random.integers(2, 30)), random.normal(5.05, random.uniform(0.01, 0.5), 8))
        for _ in range(200)
    ]
    answers = ask([{"f": "welch", "a": list(a), "b": list(b)} for a, b in samples])
    for (a, b), answer in zip(samples, answers):
        wanted = scipy.stats.ttest_ind(b, a, equal_var=False)
        interval = wanted.confidence_interval(0.95)
        assert answer["p"] == pytest.approx(wanted.pvalue, **CLOSE)
        assert answer["degrees"] == pytest.approx(wanted.df, **CLOSE)
        assert [answer["low"], answer["high"]] == pytest.approx([interval.low, interval.high], **CLOSE)


def test_pairs_are_the_one_sample_test_of_scipy(random):
    samples = [random.normal(0.01, 0.02, random.integers(2, 40)) for _ in range(100)]
    for sample, answer in zip(samples, ask([{"f": "paired", "d": list(sample)} for sample in samples])):
        wanted = scipy.stats.ttest_1samp(sample, 0)
        interval = wanted.confidence_interval(0.95)
        assert answer["p"] == pytest.approx(wanted.pvalue, **CLOSE)
        assert [answer["low"], answer["high"]] == pytest.approx([interval.low, interval.high], **CLOSE)


def test_the_covariate_is_least_squares_with_a_common_slope(random):
    """y = mean + side + slope x, solved by numpy with the full design matrix."""
    questions, wanted = [], []
    for _ in range(100):
        n, m = random.integers(3, 20, 2)
        xa, xb = random.normal(0, 1, n), random.normal(0.5, 1, m)
        a, b = 1 + 0.8 * xa + random.normal(0, 0.1, n), 1.2 + 0.8 * xb + random.normal(0, 0.1, m)
        questions.append({"f": "covariate", "a": list(a), "xa": list(xa), "b": list(b), "xb": list(xb)})
        design = numpy.column_stack([numpy.ones(n + m), numpy.r_[numpy.zeros(n), numpy.ones(m)], numpy.r_[xa, xb]])
        y = numpy.r_[a, b]
        solution, _, _, _ = numpy.linalg.lstsq(design, y, rcond=None)
        residual = y - design @ solution
        variance = residual @ residual / (n + m - 3)
        error = numpy.sqrt(variance * numpy.linalg.inv(design.T @ design)[1, 1])
        wanted.append((solution[1], 2 * scipy.stats.t.sf(abs(solution[1]) / error, n + m - 3)))
    for answer, (estimate, p) in zip(ask(questions), wanted):
        assert answer["estimate"] == pytest.approx(estimate, rel=1e-8, abs=1e-10)
        assert answer["p"] == pytest.approx(p, rel=1e-6, abs=1e-12)


def test_the_interval_of_the_median_has_the_coverage_of_its_order_statistics(random):
    """SciPy's binomial says which order statistics they are; the search there is written anew."""
    for n in [1, 5, 6, 7, 10, 30, 100, 1000]:
        for confidence in [0.95, 1 - 0.05 / 3, 0.99]:
            values = sorted(random.normal(0, 1, n))
            (answer,) = ask([{"f": "median_interval", "values": values, "confidence": confidence}])
            ranks = [r for r in range(1, n // 2 + 2) if scipy.stats.binom.cdf(r - 1, n, 0.5) <= (1 - confidence) / 2]
            assert answer == (None if not ranks else [values[max(ranks) - 1], values[n - max(ranks)]])


NEVER = 1e9  # what has not ended: above all others, and equal to itself


def times_with_caps(random, count, later, capped):
    """Times of which about a share of `capped` did not end."""
    times = random.normal(100 + later, 20, count).round()  # so that some are equal
    return numpy.where(random.uniform(0, 1, count) < capped, NEVER, times)


def test_ranks_are_mann_whitney_of_scipy_over_all_ways_to_share_them(random):
    """40 pairs of small samples with ties: p over every permutation, as SciPy counts them."""
    samples = [
        (times_with_caps(random, random.integers(2, 7), 0, 0.2), times_with_caps(random, 6, 20, 0.5)) for _ in range(40)
    ]
    every = scipy.stats.PermutationMethod(n_resamples=10_000)  # more than C(12, 6): then it takes each once
    for (a, b), answer in zip(samples, ask([{"f": "ranks", "a": list(a), "b": list(b)} for a, b in samples])):
        wanted = scipy.stats.mannwhitneyu(b, a, method=every)
        assert answer["p"] == pytest.approx(wanted.pvalue, **CLOSE)
        assert answer["b_above_a"] == pytest.approx(wanted.statistic / (len(a) * len(b)), **CLOSE)


def test_ranks_of_many_values_are_the_normal_approximation_of_scipy(random):
    samples = [(times_with_caps(random, 40, 0, 0.2), times_with_caps(random, 35, 8, 0.4)) for _ in range(40)]
    answers = ask([{"f": "ranks", "a": list(a), "b": list(b)} for a, b in samples])
    for (a, b), answer in zip(samples, answers):
        wanted = scipy.stats.mannwhitneyu(b, a, method="asymptotic")
        assert answer["p"] == pytest.approx(wanted.pvalue, **CLOSE)
        assert answer["b_above_a"] == pytest.approx(wanted.statistic / (len(a) * len(b)), **CLOSE)
    assert min(answer["p"] for answer in answers) < 0.01 < max(answer["p"] for answer in answers)


def test_holm_is_never_less_than_the_raw_values_and_equals_its_definition(random):
    p = list(random.uniform(0, 1, 30) ** 3)
    (answer,) = ask([{"f": "holm", "p": p}])
    order = numpy.argsort(p)
    wanted = numpy.minimum(1, numpy.maximum.accumulate((30 - numpy.arange(30)) * numpy.array(p)[order]))
    assert numpy.array(answer)[order] == pytest.approx(wanted)


class LogVariance(ruptures.base.BaseCost):
    """n ln(max(variance, least)): the cost that Assay's PELT minimises."""

    model, min_size = "", 3

    def __init__(self, least):
        self.least = least

    def fit(self, signal):
        self.signal = signal.ravel()
        return self

    def error(self, start, end):
        return (end - start) * numpy.log(max(self.signal[start:end].var(), self.least))


def test_pelt_finds_what_ruptures_finds(random):
    """The total cost equals that of ruptures' PELT with the same cost function to 9 digits or is below it (ruptures
    prunes too early where segments have a least length), and the change points are the same in 95 of 100 series."""
    series = []
    for _ in range(100):
        steps = numpy.repeat(random.normal(0, 3, 6), 30)
        series.append(100 + steps + random.normal(0, 1, 180) * numpy.repeat(random.uniform(0.3, 2, 3), 60))
    penalty, least = 15.0, 1e-6
    answers = ask([{"f": "pelt", "values": list(s), "penalty": penalty, "least": least, "shortest": 3} for s in series])
    same = 0
    for values, answer in zip(series, answers):
        cost = LogVariance(least).fit(values)
        found = ruptures.Pelt(custom_cost=LogVariance(least), min_size=3, jump=1).fit(values).predict(pen=penalty)

        def total(ends, cost=cost):
            return sum(cost.error(b, e) for b, e in zip([0, *ends[:-1]], ends)) + penalty * len(ends)

        ours = [*answer[1:], len(values)]
        assert total(ours) <= total(found) + 1e-6
        same += ours == found
    assert same >= 95


def read_pairing():
    path = pathlib.Path(__file__).parents[2] / "bench" / "parts" / "pairing.py"
    spec = importlib.util.spec_from_file_location("pairing", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("pairs", [*range(2, 70), 999, 1000])
def test_the_interval_of_any_number_of_pairs_is_that_of_scipy(pairs, random):
    ratios = list(random.normal(0.01, 0.1, pairs))
    middle, half = read_pairing().interval(ratios)
    spread = statistics.stdev(ratios) / math.sqrt(pairs)
    low, high = scipy.stats.t.interval(0.95, pairs - 1, statistics.mean(ratios), spread)
    assert [middle - half, middle + half] == pytest.approx([low, high], rel=1e-8)
