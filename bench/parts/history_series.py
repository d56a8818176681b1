"""Histories with a planted truth, and what Assay and Apache Otava find in them."""

import json
import math
import pathlib
import random
import statistics
import subprocess
import sys

from parts import figure

POINTS = 80
LEAST = 0.02
NOISES = ("gaussian", "outliers", "correlated")
SD = 0.015  # of the logarithm of a process's median
RUNS = 3  # processes of a point
OUTLIERS = 0.05  # share of points that are 10 to 50 % slower
CORRELATION = 0.4  # of neighbours
TYPICAL_NS = 1e6
NEAR_END = (3, 9)  # slow points that a history ends with, where a gate is


def noise(kind, draw, points, runs):
    """Logarithms of points around 0, each the median of so many processes."""
    values = [statistics.median(draw.gauss(0, SD) for _ in range(runs)) for _ in range(points)]
    if kind == "outliers":
        return [v + math.log1p(draw.uniform(0.1, 0.5)) * (draw.random() < OUTLIERS) for v in values]
    if kind == "correlated":
        for i in range(1, points):
            values[i] = CORRELATION * values[i - 1] + math.sqrt(1 - CORRELATION**2) * values[i]
    return values


def planted(kind, step, count, points=POINTS, runs=RUNS):
    """Histories in nanoseconds that are slower by `step` from some point on, with that point (10 from either end)."""
    draw = random.Random(f"{kind} {step} {runs}")
    found = []
    for _ in range(count):
        at = draw.randrange(10, points - 9)
        logs = [v + math.log1p(step) * (i >= at) for i, v in enumerate(noise(kind, draw, points, runs))]
        found.append(([TYPICAL_NS * math.exp(v) for v in logs], at))
    return found


def planted_near_end(kind, step, count, points=POINTS, runs=RUNS):
    """The same where the history ends with 3 to 9 slow points."""
    draw = random.Random(f"{kind} {step} {runs} near the end")
    found = []
    for _ in range(count):
        at = points - draw.randint(*NEAR_END)
        logs = [v + math.log1p(step) * (i >= at) for i, v in enumerate(noise(kind, draw, points, runs))]
        found.append(([TYPICAL_NS * math.exp(v) for v in logs], at))
    return found


def ask_levels(**question):
    """What the program `levels` (tests/compare/levels.cpp) answers."""
    done = subprocess.run([figure.BUILD / "tests" / "levels"], input=json.dumps(question), capture_output=True,
                          text=True, check=True)  # fmt: skip
    return json.loads(done.stdout)


def found_by_assay(histories):
    """Indexes of the change points of each history, as `assay history` finds them."""
    answers = ask_levels(series=histories, least=LEAST)
    return [[change["index"] for change in answer["changes"]] for answer in answers]


def python_with_otava():
    """A Python that can import it, or None."""
    for python in (sys.executable, figure.ROOT / ".venv" / "bin" / "python"):
        if pathlib.Path(python).exists() and not subprocess.run([python, "-c", "import otava"], check=False,
                                                               capture_output=True).returncode:  # fmt: skip
            return str(python)
    return None


def found_by_otava(histories, python, p=None):
    """The same by Apache Otava with its own defaults, but for the smallest change that is told, and the largest p."""
    question = json.dumps({"series": histories, "least": LEAST} | ({} if p is None else {"p": p}))
    done = subprocess.run([python, figure.PARTS / "otava_points.py"], input=question, capture_output=True,
                          text=True, check=True)  # fmt: skip
    return json.loads(done.stdout)
