"""Training on several ranks: DistributedDataParallel, and when each of its buckets was exchanged."""

import time

from torch import distributed
from torch.nn.parallel import DistributedDataParallel

from . import steps

_MEBIBYTE = 1 << 20
# DDP puts gradients into other buckets after the first step, in the order in which they came.
_WARM_STEPS = 3
_clock = time.monotonic_ns


class DistributedTraining(steps.Training):
    """A training step in which gradients are averaged over the ranks while the backward pass goes on.

    Phases: `backward` ends when the last bucket is handed over. `communicate` is what is left then, and the broadcast
    of buffers with which DDP begins a step.
    """

    phases = ("forward", "backward", "communicate", "update")

    def __init__(self, module, inputs, loss, wait, bucket_bytes):
        megabytes = None if bucket_bytes is None else bucket_bytes / _MEBIBYTE
        wrapped = DistributedDataParallel(module, bucket_cap_mb=megabytes)
        super().__init__(wrapped, inputs, loss, wait)
        self._exchanges, self._taken, self._computes_at = {}, [], 0
        self._has_buffers = any(True for _ in module.buffers())
        wrapped.register_comm_hook(None, self._average)
        module.register_forward_pre_hook(self._note_begin)
        for _ in range(_WARM_STEPS):
            self._exchanges.clear()
            self.step()
        self.bucket_bytes = wrapped.bucket_bytes_cap

    def step_with_phases(self):
        begin = _clock()
        loss = self._loss(self.module(*self._inputs))
        after_forward = _clock()
        loss.backward()
        del loss
        after_backward = _clock()
        self._update()
        end = _clock()
        done = [tuple(exchange) for exchange in self._exchanges.values()]
        handed_over = max(start for _, start, _ in done)
        self._taken.append((handed_over, done))
        broadcast = self._computes_at - begin if self._has_buffers else 0
        forward = after_forward - begin - broadcast
        return forward, handed_over - after_forward, broadcast + after_backward - handed_over, end - after_backward

    def take_buckets(self):
        """(bytes, ns, hidden_ns) of each bucket in the steps with phases since the last call."""
        taken, self._taken = self._taken, []
        buckets = []
        for index, (size, _, _) in enumerate(taken[0][1]):
            times = [(done[index], handed_over) for handed_over, done in taken]
            ns = [end - start for (_, start, end), _ in times]
            hidden_ns = [min(end, handed_over) - start for (_, start, end), handed_over in times]
            buckets.append((size, ns, hidden_ns))
        return buckets

    def _average(self, _, bucket):
        """The mean, divided first, as DDP does by itself. A hook cannot be taken away: plain steps have it too."""
        exchange = [bucket.buffer().nbytes, _clock(), 0]
        self._exchanges[bucket.index()] = exchange
        work = distributed.all_reduce(bucket.buffer().div_(distributed.get_world_size()), async_op=True)

        def finish(future):
            exchange[2] = _clock()
            return future.value()[0]

        return work.get_future().then(finish)

    def _note_begin(self, *_):
        self._computes_at = _clock()
