"""Gemm and triad as a person would time them, by numpy or by torch. Prints FLOP/s and bytes/s of median steps as JSON.

usage: bare_roofs.py numpy|torch GEMM_SIZE,… ELEMENTS SECONDS
"""

import json
import statistics
import sys
import time

LIBRARY, SIZES, ELEMENTS, SECONDS = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3]), float(sys.argv[4])


def median_seconds(step):
    step()
    taken, begin = [], time.perf_counter()
    while not taken or time.perf_counter() - begin < SECONDS:
        before = time.perf_counter()
        step()
        taken.append(time.perf_counter() - before)
    return statistics.median(taken)


def by_numpy():
    import numpy

    random = numpy.random.default_rng(1)

    def gemm(size):
        a, b = (random.random((size, size), numpy.float32) for _ in range(2))
        c = numpy.empty_like(a)
        return lambda: numpy.matmul(a, b, out=c)

    b, c = (random.random(ELEMENTS, numpy.float32) for _ in range(2))
    a = numpy.zeros_like(b)

    def triad():
        numpy.multiply(c, 3, out=a)  # numpy has no single pass for it
        numpy.add(a, b, out=a)

    return gemm, triad


def by_torch():
    import torch

    def gemm(size):
        a, b = torch.randn(size, size), torch.randn(size, size)
        c = torch.empty(size, size)
        return lambda: torch.mm(a, b, out=c)

    a, b, c = torch.zeros(ELEMENTS), torch.randn(ELEMENTS), torch.randn(ELEMENTS)
    return gemm, lambda: torch.add(b, c, alpha=3, out=a)


make_gemm, triad_step = {"numpy": by_numpy, "torch": by_torch}[LIBRARY]()
rates = [2 * int(size) ** 3 / median_seconds(make_gemm(int(size))) for size in SIZES]
print(json.dumps({"gemm": max(rates), "triad": 12 * ELEMENTS / median_seconds(triad_step)}))
