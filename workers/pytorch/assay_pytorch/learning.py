"""Steps that learn digits: each on a batch of its own, with an optimizer that people train with."""

import assay_digits
import torch
from torch import nn

from . import steps
from .values import Values

_WARM_UP_STEPS = 3


class FirstWeights(Values):
    """Weights that all frameworks begin with: those of `prepare`, or drawn from its seed."""

    def __init__(self, prepare):
        self._path, self._arrays = prepare.values or "seed %d" % prepare.seed, assay_digits.first_weights(prepare)


class Learning(steps.Steps):
    """forward() with loss, backward() and an update, on the next batch. `run` is the module, perhaps compiled."""

    def __init__(self, run, built, lessons, device):
        self._run, self._built, self._lessons, self._device = run, built, lessons, device
        self.module = built.module
        for _ in range(_WARM_UP_STEPS):  # compiles, and allocates what every step needs
            self._begin()
            self.step()
        self._begin()

    def _begin(self):
        """From the first weights and the first batch on."""
        self._built.fill()
        self._lessons.begin()
        self.module.train()
        self._optimizer = _optimizer(self._lessons, self.module.parameters())
        self._losses = []

    def step(self):
        images, labels = self._lessons.next()
        [images] = self._device.move_inputs([torch.from_numpy(images)])
        labels = torch.from_numpy(labels).to(self._device.kind)
        loss = nn.functional.cross_entropy(self._run(images), labels)
        loss.backward()
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self._device.wait()
        self._losses.append(loss.detach())

    def score(self):
        """How many held-out samples are right, how many there are, and the losses of the steps before."""
        held_out = self._lessons.held_out
        self.module.eval()
        with torch.inference_mode():
            [images] = self._device.move_inputs([torch.from_numpy(held_out.images)])
            found = self.module(images).argmax(-1).cpu().numpy()
        self.module.train()
        losses, self._losses = assay_digits.finite(float(loss) for loss in self._losses), []
        self._lessons.turn()
        return int((found == held_out.labels).sum()), len(held_out.labels), losses


def _optimizer(lessons, parameters):
    rate = lessons.learning_rate
    if lessons.optimizer == "sgd":
        return torch.optim.SGD(parameters, lr=rate, momentum=assay_digits.MOMENTUM)
    adam = assay_digits.ADAM
    return torch.optim.Adam(parameters, lr=rate, betas=(adam["beta1"], adam["beta2"]), eps=adam["epsilon"])
