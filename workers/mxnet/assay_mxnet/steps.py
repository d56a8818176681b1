"""Steps of a network, plain and by phases. MXNet computes in the background: a step or phase ends with waitall()."""

import itertools
import time

import assay_graph
import mxnet
import numpy
from mxnet import autograd, gluon

# Small, so that thousands of steps on one batch are alike: workers/pytorch says more.
LEARNING_RATE = 1e-5
MOMENTUM = 0.9
_clock = time.monotonic_ns
_wait = mxnet.nd.waitall


class Inference:
    """One forward pass on a fixed batch."""

    phases = ("forward",)

    def __init__(self, network):
        self._block, self._inputs = network.block, network.inputs
        self._output = None

    def take(self, inputs):
        """Computes on these from now on."""
        self._inputs = inputs

    def step(self):
        self._output = None  # what the last step left is given back in this one: no memory for two is needed
        self._output = self._block(*self._inputs)
        _wait()

    def step_with_phases(self):
        begin_ns = _clock()
        self.step()
        return (_clock() - begin_ns,)

    def evaluate(self, evaluate):
        self.step()
        self.write_output(evaluate.output)

    def write_output(self, path):
        assay_graph.write_values(path, {"output": self._output.asnumpy()})


class Training:
    """Forward with the loss of each sample, backward, and an update by SGD, on a fixed batch. With several ranks the
    parameter servers add up the gradients in between."""

    def __init__(self, network, batch, ranks, store):
        self._network, self._block, self._inputs = network, network.block, network.inputs
        self._samples = batch * ranks  # by which the update divides what was added up
        self._exchanges = store is not None
        self.phases = ("forward", "backward", *["communicate"] * self._exchanges, "update")
        named = {"learning_rate": LEARNING_RATE, "momentum": MOMENTUM, "wd": 0.0}
        self._trainer = gluon.Trainer(network.parameters, "sgd", named, kvstore=store, update_on_kvstore=False)
        if store is not None:
            self._hand_out_parameters(store)

    def _hand_out_parameters(self, store):
        """Left to itself the trainer does this amid the first exchange, where a rank may fetch another's gradients in
        place of the parameters."""
        self._trainer._init_kvstore()
        self._trainer._init_params()
        _wait()
        store._barrier()

    def take(self, inputs):
        """Computes on these from now on."""
        self._inputs = inputs

    def step(self):
        with autograd.record():
            losses = self._block(*self._inputs)
        losses.backward()
        self._trainer.step(self._samples)
        _wait()

    def step_with_phases(self):
        """The same with waits in between: nothing of one phase is hidden behind another."""
        marks = [_clock()]
        with autograd.record():
            losses = self._block(*self._inputs)
        _mark(marks)
        losses.backward()
        _mark(marks)
        self._trainer.allreduce_grads()
        if self._exchanges:
            _mark(marks)
        self._trainer.update(self._samples)
        _mark(marks)
        return tuple(after - before for before, after in itertools.pairwise(marks))

    def evaluate(self, evaluate):
        """With several ranks a loss is that of this rank's batch, a gradient the mean over ranks."""
        self._trainer.set_learning_rate(evaluate.learning_rate)
        self._trainer.optimizer.momentum = evaluate.momentum
        losses, norms = [], {}
        for update in range(evaluate.updates + 1):
            with autograd.record():
                loss = self._block(*self._inputs)
            losses.append(float(loss.mean().asscalar()))
            if update < evaluate.updates or not norms:
                loss.backward()
                self._trainer.allreduce_grads()
                norms = norms or self._gradient_norms()
            if update < evaluate.updates:
                self._trainer.update(self._samples)
        return losses, norms

    def _gradient_norms(self):
        """In double precision: MXNet's own norm() adds up in fp32 and is off by 1e-3 for large arrays."""
        found = {name: p.grad().asnumpy().astype("float64") for name, p in self._network.parameters.items()}
        return {name: float(numpy.linalg.norm(gradient)) / self._samples for name, gradient in found.items()}


def _mark(marks):
    _wait()
    marks.append(_clock())
