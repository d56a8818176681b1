"""Steps that learn digits: each on a batch of its own, by an optimizer of Gluon's."""

import copy

import assay_digits
import mxnet
from mxnet import autograd, gluon

from . import network

_WARM_UP_STEPS = 3
_wait = mxnet.nd.waitall


class Learning:
    """Forward with the loss of each sample, backward, and an update, on the next batch."""

    phases = ()

    def __init__(self, prepare):
        self._lessons, self._first = assay_digits.Lessons(prepare), assay_digits.first_weights(prepare)
        images, labels = self._lessons.next()
        [name] = [wanted["name"] for wanted in prepare.graph["inputs"]]
        values = {**self._first, "input/" + name: images, "target": labels}
        self._trained = network.build(prepare, values)
        inferring = copy.copy(prepare)
        inferring.trains = False
        self._judged = network.build(inferring, values)  # the same without the loss, with weights of its own
        for _ in range(_WARM_UP_STEPS):  # the first allocates what every step needs
            self._begin()
            self.step()
        self._begin()

    def _begin(self):
        """From the first weights and the first batch on."""
        for name, parameter in self._trained.parameters.items():
            parameter.set_data(mxnet.nd.array(self._first[name]))
        self._trainer = gluon.Trainer(self._trained.parameters, *_optimizer(self._lessons), kvstore=None)
        self._lessons.begin()
        self._losses = []
        _wait()

    def step(self):
        images, labels = self._lessons.next()
        inputs = [network.array(images), network.array(labels)]
        with autograd.record():
            losses = self._trained.block(*inputs)
        losses.backward()
        self._trainer.step(self._lessons.batch)
        _wait()
        self._losses.append(losses.copy())  # the block computes into the same memory in every step

    def score(self):
        """How many held-out samples are right, how many there are, and the losses of the steps before."""
        for name, parameter in self._judged.parameters.items():
            parameter.set_data(self._trained.parameters[name].data())
        correct = self._lessons.correct(lambda images: self._judged.block(network.array(images)).asnumpy().argmax(-1))
        losses, self._losses = assay_digits.finite(float(loss.mean().asscalar()) for loss in self._losses), []
        self._lessons.turn()
        return correct, len(self._lessons.held_out.labels), losses

    def evaluate(self, evaluate):
        assay_digits.refuse_evaluation(evaluate)


def _optimizer(lessons):
    """Its name for Gluon, and what it is given."""
    named = {"learning_rate": lessons.learning_rate, "wd": 0.0}
    if lessons.optimizer == "sgd":
        return "sgd", {**named, "momentum": assay_digits.MOMENTUM}
    return "adam", {**named, **assay_digits.ADAM}
