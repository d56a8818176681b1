"""The Gaussian process against ordinary kriging: one linear system with a Lagrange multiplier, solved by numpy."""

import json
import os
import pathlib
import subprocess

import numpy
import pytest

PROGRAM = pathlib.Path(os.environ["ASSAY_BUILD"]) / "tests" / "posterior"


def ask(question):
    done = subprocess.run([PROGRAM], input=json.dumps(question), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def kernel(a, b, h):
    r = numpy.sqrt((((a[:, None, :] - b[None, :, :]) / numpy.array(h["lengths"])) ** 2).sum(-1))
    matern = (1 + 5**0.5 * r + 5 / 3 * r**2) * numpy.exp(-(5**0.5) * r)
    return h["scale"] ** 2 * matern + h["slope"] ** 2 * a @ b.T


def kriged(observed, values, noise, points, h):
    """Means and covariances: weights w with sum 1 that minimise the variance of w'y - f solve K w + m 1 = k."""
    n = len(values)
    system = numpy.ones((n + 1, n + 1))
    system[:n, :n] = kernel(observed, observed, h) + numpy.diag(noise)
    system[n, n] = 0
    right = numpy.vstack([kernel(observed, points, h), numpy.ones(len(points))])
    solved = numpy.linalg.solve(system, right)
    return solved[:n].T @ values, kernel(points, points, h) - right.T @ solved


@pytest.mark.parametrize("seed", range(10))
def test_predictions_are_those_of_kriging(seed):
    """Random points with repeats of some, several evaluations of others, and doubted values."""
    random = numpy.random.default_rng(seed)
    features = int(random.integers(1, 12))
    count = int(random.integers(1, 60))
    observed = random.normal(0, 0.3, (count, features))
    observed[count // 2] = observed[0]
    values = random.normal(-3, 0.5, count)
    evaluations = random.integers(1, 4, count).astype(float)
    doubt = numpy.where(random.random(count) < 0.1, 0.2, 0)
    points = numpy.vstack([random.normal(0, 0.3, (600, features)), observed[:1]])
    h = {"lengths": list(random.uniform(0.2, 3, features)), "scale": 0.6, "slope": 0.2, "noise": 0.04}
    rows = [[list(x), y, e] for x, y, e in zip(observed, values, evaluations)]
    found = ask(h | {"observations": rows, "doubt": list(doubt), "points": points.tolist()})
    means, covariance = kriged(observed, values, 0.04**2 / evaluations + doubt, points, h)
    # The jitter of our factor is 1e-9 of the variance.
    assert numpy.abs(numpy.array(found["mean"]) - means).max() < 1e-5
    assert numpy.abs(numpy.array(found["variance"]) - numpy.diag(covariance)).max() < 1e-6
    assert numpy.abs(numpy.array(found["covariance"]) - covariance).max() < 1e-6
