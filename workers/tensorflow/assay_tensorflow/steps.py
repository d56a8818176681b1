"""Steps of a network, as functions that TensorFlow traces once: plain, and by phases.

TensorFlow's calls on the CPU return when all is computed. Inputs are arguments, so that nothing is computed from them
while a function is optimised.
"""

import itertools
import time

import keras
import tensorflow as tf

# On a fixed batch, 0.01 makes resnet50 learn one image in four steps. The loss is then exactly 0, gradients decay into
# denormal numbers, and a step takes many times as long. At this rate thousands of steps are alike.
LEARNING_RATE = 1e-5
MOMENTUM = 0.9
_clock = time.monotonic_ns


class Inference:
    """`run(*arguments)`, on a fixed batch."""

    phases = ("forward",)

    def __init__(self, run, arguments, compiled):
        self._run, self._arguments = tf.function(run, jit_compile=compiled), arguments

    def step(self):
        self._run(*self._arguments)

    def step_with_phases(self):
        begin_ns = _clock()
        self.step()
        return (_clock() - begin_ns,)

    def output(self):
        return self._run(*self._arguments)


class Training:
    """Forward with the loss, backward, exchange where there are several ranks, and an update by SGD."""

    def __init__(self, model, inputs, loss, target, compiled, exchange=None):
        self._model, self._variables = model, model.trainable_variables
        self._loss, self._compiled, self._exchange = loss, compiled, exchange
        self._arguments = inputs, target
        self.phases = ("forward", "backward", *(("communicate",) if exchange else ()), "update")
        self._make_functions(LEARNING_RATE, MOMENTUM)

    def step(self):
        self._step(*self._arguments)

    def step_with_phases(self):
        """The same step as a function for each phase. TensorFlow runs what a traced function left for its gradients as
        a function too, so that nothing of it is done one operator at a time."""
        marks = [_clock()]
        with tf.GradientTape() as tape:
            loss = self._forward(*self._arguments)
        marks.append(_clock())
        gradients = tape.gradient(loss, self._tensors())
        marks.append(_clock())
        if self._exchange:
            gradients = self._communicate(gradients)
            marks.append(_clock())
        self._update(gradients)
        marks.append(_clock())
        return tuple(after - before for before, after in itertools.pairwise(marks))

    def evaluate(self, updates, learning_rate, momentum):
        """Losses before each of `updates` updates and after the last, and the variables' first gradients."""
        self._make_functions(learning_rate, momentum)
        first = self._gradients(*self._arguments)
        losses = [float(self._step(*self._arguments)) for _ in range(updates)]
        losses.append(float(self._forward(*self._arguments)))
        return losses, [tf.convert_to_tensor(gradient) for gradient in first]

    def _make_functions(self, learning_rate, momentum):
        optimizer = keras.optimizers.SGD(learning_rate, momentum=momentum)
        optimizer.build(self._variables)
        exchange = self._exchange or (lambda gradients: gradients)

        def forward(inputs, target):
            return self._loss(self._model(inputs, training=True), target)

        def update(gradients):
            optimizer.apply(gradients, self._variables)

        def gradients_of(inputs, target):
            with tf.GradientTape() as tape:
                loss = forward(inputs, target)
            return loss, exchange(tape.gradient(loss, self._tensors()))

        def step(inputs, target):
            loss, gradients = gradients_of(inputs, target)
            update(gradients)
            return loss

        self._step = tf.function(step, jit_compile=self._compiled)
        self._forward = tf.function(forward, jit_compile=self._compiled)
        self._update = tf.function(update, jit_compile=self._compiled)
        self._gradients = tf.function(lambda *given: gradients_of(*given)[1], jit_compile=self._compiled)
        self._communicate = tf.function(exchange)

    def _tensors(self):
        return [variable.value for variable in self._variables]
