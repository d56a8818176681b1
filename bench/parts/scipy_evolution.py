"""Seconds of scipy's differential evolution on the generic law, at the evaluations of bench/fit_speed.

    scipy_evolution.py TABLE.csv EVALUATIONS

The cost is that of assay/model/fitting/generic_form.cpp, written for numpy: over all rows at once.
"""

import sys
import time

import numpy as np
from scipy.optimize import differential_evolution

PENALTY = 1e-3
SUMMANDS = 2  # the first columns are intrinsic


def main(path, evaluations):
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

    box = [(-10, 2.5)] * SUMMANDS + [(-1, 4)] * SUMMANDS + [(-2, 2)] * products.shape[1] + [(0, seconds.min())]
    population = 10 * len(box)
    begin = time.perf_counter()
    found = differential_evolution(cost, box, maxiter=evaluations // population - 1, popsize=10, tol=0, atol=0, rng=1,
                                   mutation=0.7, recombination=0.9, polish=False)  # fmt: skip
    print(time.perf_counter() - begin)
    print(found.nfev, found.fun, file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
