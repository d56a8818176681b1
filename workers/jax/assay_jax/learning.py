"""Steps that learn digits: each on a batch of its own, by SGD or Adam as users of JAX write them."""

import math

import assay_digits
import jax
import jax.numpy as jnp
import numpy

_WARM_UP_STEPS = 3
_wait = jax.block_until_ready


class Learning:
    """Loss, gradients and an update as one compiled function, on the next batch."""

    phases = ()

    def __init__(self, prepare, built, layout):
        self._lessons, self._built, self._layout = assay_digits.Lessons(prepare), built, layout
        self._values = assay_digits.first_weights(prepare)
        update = {"sgd": _sgd, "adam": _adam}[self._lessons.optimizer]

        def step(state, images, labels, rate):
            def loss(parameters):
                return built.loss(built.run(parameters, {}, [images])[0], labels)

            value, gradients = jax.value_and_grad(loss)(state["parameters"])
            return update(state, gradients, rate), value

        self._step = jax.jit(step, donate_argnums=0)
        self._infer = jax.jit(lambda parameters, images: built.to_rows(built.run(parameters, {}, [images])[0]))
        for _ in range(_WARM_UP_STEPS):  # the first compiles
            self._begin()
            self.step()
        self.parameters = sum(array.size for array in self._state["parameters"].values())
        self._begin()

    def _begin(self):
        """From the first weights and the first batch on."""
        parameters = self._built.parameters(self._values)
        self._state = {"parameters": parameters, "steps": jnp.zeros((), jnp.int32)}
        for moment in ("first", "second") if self._lessons.optimizer == "adam" else ("first",):
            self._state[moment] = jax.tree.map(jnp.zeros_like, parameters)
        self._rate = jnp.array(self._lessons.learning_rate, jnp.float32)
        self._lessons.begin()
        self._losses = []

    def step(self):
        images, labels = self._lessons.next()
        images = self._built.array(self._layout.from_graph(images))
        self._state, loss = _wait(self._step(self._state, images, labels.astype("int32"), self._rate))
        self._losses.append(loss)

    def score(self):
        """How many held-out samples are right, how many there are, and the losses of the steps before."""
        held_out = self._lessons.held_out
        images = self._built.array(self._layout.from_graph(held_out.images))
        found = numpy.asarray(self._infer(self._state["parameters"], images)).argmax(-1)
        losses, self._losses = assay_digits.finite(float(loss) for loss in self._losses), []
        self._lessons.turn()
        return int((found == held_out.labels).sum()), len(held_out.labels), losses


def _sgd(state, gradients, rate):
    momentum = jax.tree.map(lambda m, g: assay_digits.MOMENTUM * m + g, state["first"], gradients)
    moved = jax.tree.map(lambda p, m: p - (rate * m).astype(p.dtype), state["parameters"], momentum)
    return {"parameters": moved, "first": momentum, "steps": state["steps"] + 1}


def _adam(state, gradients, rate):
    beta1, beta2, epsilon = (assay_digits.ADAM[name] for name in ("beta1", "beta2", "epsilon"))
    steps = state["steps"] + 1
    first = jax.tree.map(lambda m, g: beta1 * m + (1 - beta1) * g, state["first"], gradients)
    second = jax.tree.map(lambda m, g: beta2 * m + (1 - beta2) * jnp.square(g), state["second"], gradients)
    # 1 - beta ** steps, where fp32 would leave few digits of the difference.
    of_first, of_second = (-jnp.expm1(steps * math.log(beta)) for beta in (beta1, beta2))

    def move(parameter, m, v):
        return parameter - (rate * (m / of_first) / (jnp.sqrt(v / of_second) + epsilon)).astype(parameter.dtype)

    moved = jax.tree.map(move, state["parameters"], first, second)
    return {"parameters": moved, "first": first, "second": second, "steps": steps}
