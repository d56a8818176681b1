"""Steps that learn digits: each on a batch of its own, by an optimizer of Keras'."""

import assay_digits
import keras
import tensorflow as tf

from . import network, operators, weights

_WARM_UP_STEPS = 3


class Learning:
    """Forward with the loss, backward and an update as one function of TensorFlow's, on the next batch."""

    phases = ()

    def __init__(self, prepare, function):
        self._lessons = assay_digits.Lessons(prepare, channels_last=True)
        self._first = assay_digits.first_weights(prepare)
        images, labels = self._lessons.next()
        [name] = [wanted["name"] for wanted in prepare.graph["inputs"]]
        values = {**self._first, "input/" + name: images.transpose(0, 3, 1, 2), "target": labels}
        self._built, (loss, _) = network.build(prepare, values), network.make_loss(prepare, values)
        model, optimizer = self._built.model, _optimizer(self._lessons)
        variables = model.trainable_variables
        optimizer.build(variables)

        def step(images, labels):
            with tf.GradientTape() as tape:
                value = loss(model(images, training=True), labels)
            optimizer.apply(tape.gradient(value, [variable.value for variable in variables]), variables)
            return value

        def classes(images):
            return tf.argmax(operators.to_graph_order(model(images, training=False)), -1)

        self._optimizer, self._step, self._classes = optimizer, function(step), function(classes)
        self.parameters = weights.count(model)
        for _ in range(_WARM_UP_STEPS):  # the first traces, optimises and compiles
            self._begin()
            self.step()
        self._begin()

    def _begin(self):
        """From the first weights and the first batch on."""
        weights.load(self._built.variables, self._first)
        for variable in self._optimizer.variables:
            variable.assign(tf.zeros_like(variable))
        self._optimizer.learning_rate = self._lessons.learning_rate
        self._lessons.begin()
        self._losses = []

    def step(self):
        images, labels = self._lessons.next()
        self._losses.append(self._step([_real(images)], tf.constant(labels)))

    def score(self):
        """How many held-out samples are right, how many there are, and the losses of the steps before."""
        correct = self._lessons.correct(lambda images: self._classes([_real(images)]).numpy())
        losses, self._losses = assay_digits.finite(float(loss) for loss in self._losses), []
        self._lessons.turn()
        return correct, len(self._lessons.held_out.labels), losses


def _real(images):
    return tf.constant(images, keras.config.floatx())


def _optimizer(lessons):
    rate = lessons.learning_rate
    if lessons.optimizer == "sgd":
        return keras.optimizers.SGD(rate, momentum=assay_digits.MOMENTUM)
    adam = assay_digits.ADAM
    return keras.optimizers.Adam(rate, adam["beta1"], adam["beta2"], adam["epsilon"])
