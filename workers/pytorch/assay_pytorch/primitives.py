"""Two primitives as networks of their own: a matrix product, and a pass over memory."""

import time

import assay_worker
import torch

from . import steps

NETWORKS = ("gemm", "triad")


class Primitive(steps.Steps):
    """One call, timed as a step; its only phase is forward."""

    phases = ("forward",)

    def __init__(self, run, wait):
        self._run, self._wait = run, wait

    def step(self):
        with torch.inference_mode():
            self._run()
            self._wait()

    def step_with_phases(self):
        begin_ns = time.monotonic_ns()
        self.step()
        return (time.monotonic_ns() - begin_ns,)


def refuse_samples(prepare):
    name, batch = prepare.workload["network"], prepare.workload["batch"]
    if prepare.trains:
        raise assay_worker.Refused("mode train: %s has nothing to train. Use mode infer." % name)
    if batch != 1:
        raise assay_worker.Refused("batch %d: %s has no samples. Use batch 1." % (batch, name))


def build(prepare, dtype, device, generator, wait):
    refuse_samples(prepare)
    make = {"gemm": _gemm, "triad": _triad}[prepare.workload["network"]]
    return Primitive(make(prepare, dtype, device, generator), wait)


def _gemm(prepare, dtype, device, generator):
    """c = a b, with a of m x k and b of k x n: 2 m n k operations."""
    sizes = _sizes(prepare, {"m": 1024, "n": 1024, "k": 1024})
    a = torch.randn(sizes["m"], sizes["k"], generator=generator).to(device, dtype)
    b = torch.randn(sizes["k"], sizes["n"], generator=generator).to(device, dtype)
    c = torch.empty(sizes["m"], sizes["n"], dtype=dtype, device=device)
    return lambda: torch.mm(a, b, out=c)


def _triad(prepare, dtype, device, generator):
    """a = b + s c in one pass and without temporaries: two elements read and one written for each of `elements`."""
    elements = _sizes(prepare, {"elements": 1 << 25})["elements"]
    b = torch.empty(elements).uniform_(-1, 1, generator=generator).to(device, dtype)
    c = torch.empty(elements).uniform_(-1, 1, generator=generator).to(device, dtype)
    a = torch.zeros(elements, dtype=dtype, device=device)  # written once, so that no step meets a new page
    return lambda: torch.add(b, c, alpha=3, out=a)


def _sizes(prepare, defaults):
    options = prepare.options(defaults)
    for name, value in options.items():
        if type(value) is not int or not 1 <= value < 2**40:
            raise assay_worker.Refused("option %s=%r: must be an integer from 1 on." % (name, value))
    return options
