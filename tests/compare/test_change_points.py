"""Change points against planted truths, and against Apache Otava as an independent oracle.

All seeds are fixed, so a test passes always or never. Where a bound is a share, the remark beside it says why.
"""

import json
import math
import pathlib
import random
import subprocess
import sys
import time

import pytest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))
from parts import history_series as series  # noqa: E402

COUNT = 100


def otava(values, p):
    """Otava's change points; the same window, p and smallest change as ours."""
    pytest.importorskip("otava", reason="scripts/setup brings apache-otava")
    question = json.dumps({"series": values, "least": 0, "p": p})
    program = [sys.executable, BENCH / "parts" / "otava_points.py"]
    done = subprocess.run(program, input=question, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def stepped(draw, points=120, steps=3, size=6):
    """Independent noise of standard deviation 1 around levels that lie `size` apart, 20 points or more long."""
    cuts = sorted(20 + 25 * i + draw.randrange(6) for i in range(steps))
    level = 100.0
    values = []
    for i in range(points):
        level += size * draw.choice((-1, 1)) if i in cuts else 0
        values.append(level + draw.gauss(0, 1))
    return values, cuts


def test_large_steps_are_where_otava_finds_them():
    """Tolerances: in 95 of 100 series the same number, then each within one point. Student's test at p = 1e-4 (1e-3
    for weak points) is the same; splits differ where Otava also varies the right end of a split."""
    draw = random.Random(7)
    made = [stepped(draw) for _ in range(COUNT)]
    values = [one for one, _ in made]
    ours = [[change["index"] for change in answer["changes"]]
            for answer in series.ask_levels(series=values, least=0, p=1e-4, plain=True)]  # fmt: skip
    theirs = otava(values, 1e-4)
    same = sum(len(a) == len(b) and all(abs(x - y) <= 1 for x, y in zip(a, b)) for a, b in zip(ours, theirs))
    assert same >= 95
    right = sum(found == cuts for found, (_, cuts) in zip(ours, made))
    assert right >= 95  # a step of 6 deviations is misplaced by one with 0.3 % each


def within_one(kind, step):
    made = series.planted(kind, step, COUNT)
    found = series.found_by_assay([times for times, _ in made])
    return sum(any(abs(p - at) <= 1 for p in points) for points, (_, at) in zip(found, made))


def alarms(kind):
    return sum(bool(points) for points in series.found_by_assay([times for times, _ in series.planted(kind, 0, COUNT)]))


@pytest.mark.parametrize("kind", series.NOISES)
def test_a_planted_step_of_4_percent_is_found_at_the_right_point(kind):
    assert within_one(kind, 0.04) >= 95


def test_a_step_for_the_better_is_found_as_well():
    assert within_one("outliers", -0.04) >= 95


# What was measured when the method was chosen: .00, .07 and .15.
@pytest.mark.parametrize("kind, most", [("gaussian", 1), ("outliers", 7), ("correlated", 15)])
def test_without_a_step_there_are_few_alarms(kind, most):
    assert alarms(kind) <= most


def test_the_interval_holds_the_truth_about_as_often_as_it_says():
    made = series.planted("gaussian", 0.05, COUNT)
    answers = series.ask_levels(series=[times for times, _ in made], least=series.LEAST)
    changes = [change for answer in answers for change in answer["changes"]]
    held = sum(change["low"] <= math.log(1.05) <= change["high"] for change in changes)
    # Nominally 95 %; the point is chosen where levels differ most, which costs a little. P(Bin(100, .92) < 83) < .001
    assert len(changes) >= 95 and held >= 0.83 * len(changes)


def test_outliers_are_set_aside_and_little_else():
    draw = random.Random(3)
    times = [1e6 * math.exp(draw.gauss(0, series.SD)) for _ in range(series.POINTS)]
    planted = {5, 31, 32, 60, 79}
    for index in planted:
        times[index] *= 1.4
    [answer] = series.ask_levels(series=[times], least=series.LEAST)
    assert set(answer["set_aside"]) >= planted
    assert len(answer["set_aside"]) <= len(planted) + 4  # 3 deviations of a window of 11 are passed by a few percent
    assert answer["changes"] == []


def test_a_large_step_is_seen_after_three_points():
    draw = random.Random(5)
    times = [1e6 * math.exp(draw.gauss(0, series.SD)) * (1.3 if i >= 37 else 1) for i in range(40)]
    [answer] = series.ask_levels(series=[times], least=series.LEAST)
    assert [change["index"] for change in answer["changes"]] == [37]


def test_a_thousand_points_take_well_under_a_second():
    [(times, at)] = series.planted("gaussian", 0.04, 1, points=1000)
    began = time.perf_counter()
    [found] = series.found_by_assay([times])
    assert time.perf_counter() - began < 1
    assert any(abs(point - at) <= 2 for point in found)
