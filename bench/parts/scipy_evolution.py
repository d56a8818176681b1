"""Seconds of scipy's differential evolution on the generic law, at the evaluations of bench/fit_speed.

    scipy_evolution.py TABLE.csv EVALUATIONS [--vectorized]

The cost is that of assay/model/fitting/generic_form.cpp, written for numpy: over all rows at once; with --vectorized
over all candidates of a generation too, as SciPy recommends where the cost can be written so.
"""

import sys
import time

import numpy as np
from scipy.optimize import differential_evolution

PENALTY = 1e-3
SUMMANDS = 2  # the first columns are intrinsic


def main(path, evaluations, vectorized):
    table = np.genfromtxt(path, delimiter=",", skip_header=1)
    logs, seconds = np.log(table[:, :-1]), table[:, -1]
    logs -= logs.mean(axis=0)
    seconds = seconds / np.exp(np.log(seconds).mean())
    sums, products = logs[:, :SUMMANDS], logs[:, SUMMANDS:]

    def cost(x):
        a, p, q, c = x[:SUMMANDS], x[SUMMANDS : 2 * SUMMANDS], x[2 * SUMMANDS : -1], x[-1]
        said = np.exp(a + sums * p).sum(axis=1) * np.exp(products @ q) + c
        sizes = np.exp(a).sum() + np.abs(p).sum() + np.abs(q).sum() + c
        return np.abs(said / seconds - 1).mean() + PENALTY * sizes

    def costs(x):
        """The same of every column of x. Rows of the table come first, so that each term is one array."""
        a, p, q, c = x[:SUMMANDS], x[SUMMANDS : 2 * SUMMANDS], x[2 * SUMMANDS : -1], x[-1]
        summed = np.zeros((len(seconds), x.shape[1]))
        for i in range(SUMMANDS):
            summed += np.exp(a[i] + np.outer(sums[:, i], p[i]))
        said = summed * np.exp(products @ q) + c
        sizes = np.exp(a).sum(axis=0) + np.abs(p).sum(axis=0) + np.abs(q).sum(axis=0) + c
        return np.abs(said / seconds[:, None] - 1).mean(axis=0) + PENALTY * sizes

    box = [(-10, 2.5)] * SUMMANDS + [(-1, 4)] * SUMMANDS + [(-2, 2)] * products.shape[1] + [(0, seconds.min())]
    population = 10 * len(box)
    some = np.random.default_rng(1).uniform(*zip(*box, strict=True), size=(5, len(box)))
    assert np.allclose(costs(some.T), [cost(x) for x in some], rtol=1e-9), "the two forms of the cost differ"
    begin = time.perf_counter()
    # A vectorized cost needs a population that changes all at once; else each candidate takes its place as it is found.
    how = {"vectorized": True, "updating": "deferred"} if vectorized else {"updating": "immediate"}
    found = differential_evolution(
        costs if vectorized else cost, box, maxiter=evaluations // population - 1, popsize=10, tol=0, atol=0, rng=1,
        mutation=0.7, recombination=0.9, polish=False, **how)  # fmt: skip
    print(time.perf_counter() - begin)
    print(found.nfev, found.fun, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), "--vectorized" in sys.argv[3:])
