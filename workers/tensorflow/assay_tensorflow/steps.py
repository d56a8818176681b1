"""Steps of a network, as functions that TensorFlow traces once: plain, and by phases.

`function` is tf.function with what the settings ask for. TensorFlow's calls on the CPU return when all is computed.
Inputs are arguments, so that nothing is computed from them while a function is optimised.
"""

import functools
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

    def __init__(self, function, run, arguments):
        self._run, self._arguments = function(run), arguments
        self.output = None

    def take(self, inputs, _):
        """Computes on these from now on."""
        self._arguments = (inputs,)

    def step(self):
        self.output = None  # what the last step left is given back in this one: no memory for two is needed
        self.output = self._run(*self._arguments)

    def step_with_phases(self):
        begin_ns = _clock()
        self.step()
        return (_clock() - begin_ns,)


class Training:
    """Forward with the loss, backward, exchange where there are several ranks, and an update by SGD.

    `exchange(gradients)` gives their mean over the ranks; None where there is one."""

    def __init__(self, function, model, arguments, loss, exchange=None):
        """`arguments`: what the model is called with, and the target of `loss(output, target)`."""
        self._function, self._model, self._variables = function, model, model.trainable_variables
        self._arguments, self._loss, self._exchange = arguments, loss, exchange
        self.phases = ("forward", "backward", *(("communicate",) if exchange else ()), "update")
        self._make_functions(MOMENTUM)
        self._optimizer.learning_rate = LEARNING_RATE

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

    def take(self, inputs, target):
        """Computes on these from now on."""
        self._arguments = (inputs, target)

    def evaluate(self, updates, learning_rate, momentum):
        """Losses before each of `updates` updates and after the last, and the variables' first gradients."""
        if momentum != self._optimizer.momentum:
            self._make_functions(momentum)
        for variable in self._optimizer.variables:
            variable.assign(tf.zeros_like(variable))
        self._optimizer.learning_rate = learning_rate
        with tf.GradientTape() as tape:
            loss = self._forward(*self._arguments)
        first = tape.gradient(loss, self._tensors())
        if self._exchange:
            first = self._communicate(first)
        losses = [float(self._step(*self._arguments)) for _ in range(updates)]
        with tf.GradientTape():  # as it is traced
            losses.append(float(self._forward(*self._arguments)))
        return losses, [tf.convert_to_tensor(gradient) for gradient in first]

    def _make_functions(self, momentum):
        """TensorFlow traces each when it is first called. The rate is a variable, momentum becomes part of them."""
        optimizer = self._optimizer = keras.optimizers.SGD(momentum=momentum)
        optimizer.build(self._variables)

        def forward(inputs, target):
            return self._loss(self._model(inputs, training=True), target)

        def own_gradients(inputs, target):
            with tf.GradientTape() as tape:
                loss = forward(inputs, target)
            return loss, tape.gradient(loss, self._tensors())

        def update(gradients):
            optimizer.apply(gradients, self._variables)

        self._forward, self._update = self._function(forward), self._function(update)
        function, gradients_of = self._function, own_gradients
        if self._exchange is not None:  # which XLA does not compile: only what is before and behind it
            function = functools.partial(tf.function, autograph=False)
            before, update = self._function(own_gradients), self._update
            self._communicate = function(self._exchange)

            def gradients_of(inputs, target):
                loss, gradients = before(inputs, target)
                return loss, self._exchange(gradients)

        def step(inputs, target):
            loss, gradients = gradients_of(inputs, target)
            update(gradients)
            return loss

        self._step = function(step)

    def _tensors(self):
        return [variable.value for variable in self._variables]
