"""Collective operations of gloo as networks of their own: what an exchange costs without a network around it.

README.md says what `bytes` counts for each. An entry of NETWORKS gives how it runs, where its result is found, and what
that must be.
"""

import time

import assay_primitive
import assay_worker
import torch
from torch import distributed

from . import settings, steps

_FLOAT_BYTES = 4
_UNSET = -1.0


class Collective(steps.Steps):
    """One operation between all ranks, timed as a step."""

    phases = ("communicate",)

    def __init__(self, run):
        self._run = run

    def step(self):
        self._run()

    def step_with_phases(self):
        begin_ns = time.monotonic_ns()
        self._run()
        return (time.monotonic_ns() - begin_ns,)


def refuse_early(prepare):
    """What needs no other rank to be refused."""
    name, ranks = prepare.workload["network"], prepare.ranks
    assay_primitive.refuse_samples(prepare)
    prepare.refuse_settings_beyond(settings.COLLECTIVE)
    if name == "ping_pong" and ranks != 2:
        raise assay_worker.Refused("%d ranks: ping_pong is between exactly 2." % ranks)
    if ranks < 2:
        raise assay_worker.Refused("%d rank: %s needs 2 or more." % (ranks, name))
    if prepare.workload["precision"] != "fp32":
        raise assay_worker.Refused("precision '%s': %s exchanges only fp32." % (prepare.workload["precision"], name))
    _elements(prepare)


def build(prepare):
    """Runs it once and checks the result."""
    name = prepare.workload["network"]
    run, found, wanted = NETWORKS[name](_elements(prepare), prepare.rank, prepare.ranks)
    run()
    check(prepare, found, wanted)
    if name == "all_reduce":
        found.zero_()  # a sum in place grows with every step unless it is 0
    return Collective(run)


def check(prepare, found, wanted):
    """Fails where an exchange gave this rank anything else."""
    wrong = torch.nonzero(found != wanted).flatten().tolist()
    if wrong:
        message = "%s gave rank %d of %d a wrong result: element %d is %r, not %r"
        values = (float(found[wrong[0]]), float(wanted[wrong[0]]))
        raise RuntimeError(message % (prepare.workload["network"], prepare.rank, prepare.ranks, wrong[0], *values))


def _elements(prepare):
    size, part = prepare.options({"bytes": 1 << 20})["bytes"], _FLOAT_BYTES * prepare.ranks
    if type(size) is not int or size < 1 or size % part:
        message = "option bytes=%r: must be a multiple of %d, which is %d bytes for each of %d ranks."
        raise assay_worker.Refused(message % (size, part, _FLOAT_BYTES, prepare.ranks))
    return size // _FLOAT_BYTES


def given(rank, count):
    """What a rank gives: integers so small that sums are exact. Neighbouring ranks and blocks differ."""
    return ((rank % 127 + 1) * (torch.arange(count) % 61 + 1)).float()


def sum_of(count, ranks):
    """Of what all ranks give."""
    return sum(given(rank, count) for rank in range(ranks))


def _unset(count):
    return torch.full((count,), _UNSET)


def _all_reduce(count, rank, ranks):
    data = given(rank, count)
    return lambda: distributed.all_reduce(data), data, sum_of(count, ranks)


def _all_gather(count, rank, ranks):
    block = count // ranks
    give, get = given(rank, block), _unset(count)
    wanted = torch.cat([given(other, block) for other in range(ranks)])
    return lambda: distributed.all_gather_single(get, give), get, wanted


def _reduce_scatter(count, rank, ranks):
    give, get = given(rank, count), _unset(count // ranks)
    return lambda: distributed.reduce_scatter_single(get, give), get, sum_of(count, ranks).chunk(ranks)[rank]


def _all_to_all(count, rank, ranks):
    give, get = given(rank, count), _unset(count)
    wanted = torch.cat([given(other, count).chunk(ranks)[rank] for other in range(ranks)])
    return lambda: distributed.all_to_all_single(get, give), get, wanted


def _broadcast(count, rank, _):
    data = given(0, count) if rank == 0 else _unset(count)
    return lambda: distributed.broadcast(data, 0), data, given(0, count)


def _ping_pong(count, rank, _):
    give, get = given(0, count), _unset(count)

    def begin():
        distributed.send(give, 1)
        distributed.recv(get, 1)

    def answer():
        distributed.recv(get, 0)
        distributed.send(get, 0)

    return begin if rank == 0 else answer, get, given(0, count)


NETWORKS = {
    "all_reduce": _all_reduce,
    "all_gather": _all_gather,
    "reduce_scatter": _reduce_scatter,
    "all_to_all": _all_to_all,
    "broadcast": _broadcast,
    "ping_pong": _ping_pong,
}
