"""Steps of a network, as functions that JAX compiles once: plain, and by phases.

JAX's calls return before all is computed: a step ends when its results are there. Values and inputs are arguments, so
that nothing is computed from them while a function is compiled.
"""

import dataclasses
import itertools
import time
from typing import Any

import jax
import jax.numpy as jnp

# On a fixed batch, 0.01 makes resnet50 learn one image in four steps. The loss is then exactly 0, gradients decay into
# denormal numbers, and a step takes many times as long. At this rate thousands of steps are alike.
LEARNING_RATE = 1e-5
MOMENTUM = 0.9
_clock = time.monotonic_ns
_wait = jax.block_until_ready


class Inference:
    """`run(*arguments)`, on a fixed batch."""

    phases = ("forward",)

    def __init__(self, run, arguments):
        self._run, self.arguments = jax.jit(run), arguments
        self.output = None

    def step(self):
        self.output = None  # what the last step left is given back in this one: no memory for two is needed
        self.output = _wait(self._run(*self.arguments))

    def step_with_phases(self):
        begin_ns = _clock()
        self.step()
        return (_clock() - begin_ns,)


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    """What a step of training takes and leaves: trees of arrays."""

    parameters: Any
    momentum: Any
    statistics: Any  # running ones of batch norms
    key: Any  # what dropout draws from

    @staticmethod
    def first(parameters, statistics, key):
        return State(parameters, jax.tree.map(jnp.zeros_like, parameters), statistics, key)


class Training:
    """Forward with the loss, backward, exchange where there are several ranks, and an update by SGD.

    `loss(parameters, statistics, key, batch)` gives the loss and the statistics as they are afterwards."""

    def __init__(self, loss, state, batch, ranks=None):
        """`batch`: a tree of arrays. `ranks`: see ranks.py; None where there is one."""
        self._loss, self._ranks, self._batch = loss, ranks, batch
        self.phases = ("forward", "backward", *(("communicate",) if ranks else ()), "update")
        # With several ranks, plain steps take arrays that are parts of larger ones: see ranks.py.
        self._shared, self._own = (ranks.shared, ranks.own) if ranks else (_same, _same)
        compiled = ranks.compiled if ranks else jax.jit
        self._step = compiled(self._whole, donate_argnums=0)
        self._communicate = compiled(self._mean)
        self._forward_alone, self._backward_alone = jax.jit(self._forward), jax.jit(_backward)
        self._update_alone = jax.jit(_update, donate_argnums=0)
        self._rates, self._shared_batch = _rates(LEARNING_RATE, MOMENTUM), self._shared(batch)
        self._shared_rates, self._state = self._shared(self._rates), self._shared(state)

    def step(self):
        self._take_step(self._shared_rates)

    def step_with_phases(self):
        """The same step as a function for each phase; what backward needs is handed over."""
        state, marks = self._own(self._state), [_clock()]
        value, state.statistics, state.key, pullback = _wait(self._forward_alone(state, self._batch))
        marks.append(_clock())
        gradients = _wait(self._backward_alone(pullback, value))
        del pullback
        marks.append(_clock())
        if self._ranks is not None:
            gradients = _wait(self._own(self._communicate(self._shared(gradients))))
            marks.append(_clock())
        state = _wait(self._update_alone(state, gradients, self._rates))
        marks.append(_clock())
        self._state = self._shared(state)
        return tuple(after - before for before, after in itertools.pairwise(marks))

    def parameters(self):
        return self._own(self._state).parameters

    def evaluate(self, state, updates, learning_rate, momentum):
        """From `state` on: losses before each of `updates` updates and after the last, and the first gradients."""
        rates = self._shared(_rates(learning_rate, momentum))
        value, _, _, pullback = self._forward_alone(state, self._batch)
        first = self._backward_alone(pullback, value)
        first = self._own(self._communicate(self._shared(first)))
        self._state = self._shared(state)
        losses = [float(self._own(self._take_step(rates))[0]) for _ in range(updates)]
        losses.append(float(self._forward_alone(self._own(self._state), self._batch)[0][0]))
        return losses, first

    def _take_step(self, rates):
        self._state, value = _wait(self._step(self._state, self._shared_batch, rates))
        return value

    def _whole(self, state, batch, rates):
        value, state.statistics, state.key, pullback = self._forward(state, batch)
        return _update(state, self._mean(_backward(pullback, value)), rates), value

    def _forward(self, state, batch):
        key, drawn_from = jax.random.split(state.key)

        def loss(parameters):
            return self._loss(parameters, state.statistics, drawn_from, batch)

        value, pullback, statistics = jax.vjp(loss, state.parameters, has_aux=True)
        return value.reshape(1), statistics, key, pullback

    def _mean(self, gradients):
        return self._ranks.mean(gradients) if self._ranks else gradients


def _same(tree):
    return tree


def _rates(learning_rate, momentum):
    """Both as an argument of steps, which need not be compiled anew for others."""
    return jnp.array([learning_rate, momentum], jnp.float32)


def _backward(pullback, value):
    (gradients,) = pullback(jnp.ones((), value.dtype))
    return gradients


def _update(state, gradients, rates):
    def moved(momentum, gradient):
        return rates[1].astype(momentum.dtype) * momentum + gradient

    state.momentum = jax.tree.map(moved, state.momentum, gradients)
    state.parameters = jax.tree.map(lambda p, m: p - rates[0].astype(p.dtype) * m, state.parameters, state.momentum)
    return state
