"""A step of training that is replayed, `FILE.replay`: computing is waited for, gradients really travel, over gloo.

The file is written by `assay predict --replay`, docs/formats/replay.schema.json. Its buckets are taken as they are.
"""

import json
import time

import assay_file
import assay_worker
from torch import distributed

from . import collectives, settings, steps

_FLOAT_BYTES = 4
_MOST_ROUNDING = 1e-9  # seconds, of sums of times
_clock = time.monotonic_ns


def read(prepare):
    """The file as a dictionary, with what it may leave out. What does not fit it is refused by name."""
    prepare.refuse_settings_beyond(settings.COLLECTIVE)
    prepare.options({})
    path, workload = prepare.file["path"], prepare.workload
    if not prepare.trains:
        raise assay_worker.Refused("mode infer: %s is a step of training." % path)
    if workload["precision"] != "fp32":
        raise assay_worker.Refused("precision '%s': a replay exchanges only fp32." % workload["precision"])
    replay = _parse(path, assay_file.read(prepare))
    if replay["batch"] != workload["batch"]:
        message = "batch %d: %s is a step of batch %d. Use that."
        raise assay_worker.Refused(message % (workload["batch"], path, replay["batch"]))
    return replay


def _parse(path, data):
    try:
        replay = {"update_seconds": 0, **json.loads(data)}
        names = ("forward_seconds", "backward_seconds", "update_seconds")
        good = type(replay["batch"]) is int and all(0 <= replay[name] <= 86400 for name in names)
        ready, end = replay["forward_seconds"], replay["forward_seconds"] + replay["backward_seconds"]
        for bucket in replay["buckets"]:
            good &= ready - _MOST_ROUNDING <= bucket["ready_seconds"] <= end + _MOST_ROUNDING
            good &= type(bucket["bytes"]) is int and bucket["bytes"] > 0 and bucket["bytes"] % _FLOAT_BYTES == 0
            ready = bucket["ready_seconds"]
    except (ValueError, TypeError, KeyError) as error:
        message = "%s is not a replay: %r. Write one with assay predict --replay." % (path, error)
        raise assay_worker.Refused(message) from None
    if not good:
        message = "%s: a time, batch or size is out of range, or a bucket is not ready within the backward pass."
        raise assay_worker.Refused(message % path)
    return replay


def build(prepare):
    """Exchanges every bucket once and checks the sums."""
    replay = read(prepare)
    count = sum(bucket["bytes"] for bucket in replay["buckets"]) // _FLOAT_BYTES
    gradients = collectives.given(prepare.rank, count)
    made = Replay(replay, gradients, prepare.ranks)
    if prepare.ranks > 1:
        made.exchange_all()
        collectives.check(prepare, gradients, collectives.sum_of(count, prepare.ranks))
    gradients.zero_()  # a sum in place grows with every step unless it is 0
    return made


class Replay(steps.Steps):
    """Waits until points in time that are set when the step begins; a bucket is handed to gloo when it is ready."""

    phases = ("forward", "backward", "communicate", "update")

    def __init__(self, replay, gradients, ranks):
        self._ranks, self._taken = ranks, []
        self._forward_ns, self._backward_ns, self._update_ns = (
            round(1e9 * replay[name]) for name in ("forward_seconds", "backward_seconds", "update_seconds")
        )
        sizes = [bucket["bytes"] // _FLOAT_BYTES for bucket in replay["buckets"]]
        ready_ns = [round(1e9 * bucket["ready_seconds"]) for bucket in replay["buckets"]]
        self._buckets = list(zip(ready_ns, gradients.split(sizes) if sizes else []))

    def exchange_all(self):
        for _, data in self._buckets:
            distributed.all_reduce(data)

    def step(self):
        self._play([])

    def step_with_phases(self):
        exchanges = []
        begin_ns, exchanged_ns, end_ns = self._play(exchanges)
        computed_ns = begin_ns + self._forward_ns + self._backward_ns
        self._taken.append((computed_ns, exchanges))
        return self._forward_ns, self._backward_ns, exchanged_ns - computed_ns, end_ns - exchanged_ns

    def take_buckets(self):
        """(bytes, ns, hidden_ns) of each bucket in the steps with phases since the last call."""
        taken, self._taken = self._taken, []
        if self._ranks == 1:
            return []
        buckets = []
        for index, (_, data) in enumerate(self._buckets):
            times = [(*exchanges[index], computed_ns) for computed_ns, exchanges in taken]
            ns = [end - start for start, end, _ in times]
            hidden_ns = [max(0, min(end, computed_ns) - start) for start, end, computed_ns in times]
            buckets.append((data.nbytes, ns, hidden_ns))
        return buckets

    def _play(self, exchanges):
        begin_ns = _clock()
        works = []
        for ready_ns, data in self._buckets:
            _sleep_until(begin_ns + ready_ns)
            if self._ranks > 1:
                works.append(self._hand_over(data, exchanges))
        for work in works:
            work.wait()
        _sleep_until(begin_ns + self._forward_ns + self._backward_ns)
        exchanged_ns = _clock()
        if self._update_ns:
            _sleep_until(exchanged_ns + self._update_ns)
        return begin_ns, exchanged_ns, _clock()

    def _hand_over(self, data, exchanges):
        exchange = [_clock(), 0]
        exchanges.append(exchange)
        work = distributed.all_reduce(data, async_op=True)

        def note_end(_):
            exchange[1] = _clock()

        return work.get_future().then(note_end)


def _sleep_until(deadline_ns):
    left_ns = deadline_ns - _clock()
    if left_ns > 0:
        time.sleep(left_ns * 1e-9)
