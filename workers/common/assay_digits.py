"""Scikit-learn's digits, for networks that are trained to an accuracy: the part that is the same for every framework.

    lessons = assay_digits.Lessons(prepare)     # refuses a network that does not fit
    images, labels = lessons.next()             # the batch of the next step: fp32 [batch, 1, 8, 8], int64 [batch]
    lessons.held_out.images, .labels            # what accuracy is counted on
    lessons.turn()                              # between epochs, outside of what is timed: draws the next order

Which samples are held out never changes. The order of an epoch follows from the seed alone, by a hash and not by a
library's generator, so that all frameworks see the same batches. Needs numpy.
"""

import collections
import hashlib
import os

import assay_graph
import assay_worker

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "digits.txt")
COUNT, HELD_OUT = 1797, 360
SHAPE, CLASSES = [1, 8, 8], 10
SPLIT_SEED = 0
# Pixels are 0 to 16, with a mean of 4.9 and a deviation of 6.0.
MIDDLE, SCALE = 5, 6
MOMENTUM = 0.9
ADAM = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}
_COLUMNS = "0123456789abcdefg"

Part = collections.namedtuple("Part", "images labels")


def learns(prepare):
    """Whether a network is trained on digits."""
    return prepare.workload.get("data") == "digits"


def refuse_early(prepare):
    """What needs no framework to be refused."""
    options = prepare.workload.get("options") or {}
    for name in ("until", "optimizer", "learning_rate"):
        if name not in options:
            message = "data 'digits' without the option %s: it is for a training that ends at an accuracy."
            raise assay_worker.Refused(message % name)
    if not prepare.trains or prepare.graph is None:
        message = "data 'digits' for '%s' in mode %s: networks of Assay's are trained on it."
        raise assay_worker.Refused(message % (prepare.workload["network"], prepare.workload.get("mode")))
    if max(prepare.ranks, prepare.instances) > 1:
        raise assay_worker.Refused("data 'digits': one process learns, and there are several.")
    if options["optimizer"] not in ("sgd", "adam"):
        raise assay_worker.Refused("optimizer '%s' is unknown here. There is sgd and adam." % options["optimizer"])
    _refuse_network(prepare.graph)


def _refuse_network(graph):
    inputs, output = graph["inputs"], assay_graph.output_shape(graph)
    fits = len(inputs) == 1 and inputs[0]["type"] == "real" and inputs[0]["shape"] == SHAPE and output == [CLASSES]
    if fits and graph["loss"] == "cross_entropy":
        return
    shapes = ", ".join(str(i["shape"]) for i in inputs)
    message = "data 'digits' for %s: it has inputs of %s and an output of %s, and digits are %s in %d classes. "
    message += "Networks for them are lenet and mlp."
    raise assay_worker.Refused(message % (graph["name"], shapes, output, SHAPE, CLASSES))


def read(path=PATH):
    """All samples in the order of the file."""
    import numpy

    with open(path, encoding="ascii") as file:
        rows = [line.split() for line in file if not line.startswith("#")]
    if len(rows) != COUNT or any(len(row) != 2 or len(row[0]) != 64 for row in rows):
        raise ValueError("%s does not hold %d images of 64 pixels with their labels" % (path, COUNT))
    pixels = numpy.array([[_COLUMNS.index(digit) for digit in row[0]] for row in rows], "float32")
    labels = numpy.array([int(row[1]) for row in rows], "int64")
    return Part(((pixels - MIDDLE) / SCALE).reshape(-1, *SHAPE), labels)


def shuffled(count, *name):
    """The numbers below `count` in an order that follows from `name`."""
    begin = " ".join(["assay digits", *map(str, name)])
    return sorted(range(count), key=lambda i: hashlib.sha256(("%s %d" % (begin, i)).encode()).hexdigest())


def split(samples):
    """What is trained on, and what is held out."""
    order = shuffled(COUNT, "split", SPLIT_SEED)
    held_out, trained = sorted(order[:HELD_OUT]), sorted(order[HELD_OUT:])
    return tuple(Part(samples.images[chosen], samples.labels[chosen]) for chosen in (trained, held_out))


class Lessons:
    """The batches of a training, and what it is judged by."""

    def __init__(self, prepare, channels_last=False):
        _refuse_network(prepare.graph)
        self.batch, self._seed = prepare.workload["batch"], prepare.seed
        self.optimizer = prepare.workload["options"]["optimizer"]
        self.learning_rate = prepare.workload["options"]["learning_rate"]
        self.trained, self.held_out = split(read())
        if channels_last:
            self.trained, self.held_out = (
                Part(part.images.transpose(0, 2, 3, 1).copy(), part.labels) for part in (self.trained, self.held_out)
            )
        self.steps = len(self.trained.labels) // self.batch  # of an epoch
        self.begin()

    def begin(self):
        """From the first batch on, again."""
        self._epoch, self._at = 0, 0
        self._draw()

    def next(self):
        """Images and labels of the next step."""
        if self._at == self.steps:  # nobody asked for a turn
            self.turn()
        chosen = self._order[self._at]
        self._at += 1
        return self.trained.images[chosen], self.trained.labels[chosen]

    def turn(self):
        """Goes on to the next epoch where this one is over."""
        if self._at == self.steps:
            self._epoch, self._at = self._epoch + 1, 0
            self._draw()

    def correct(self, classes_of):
        """How many held-out samples are right, where `classes_of(images)` takes as many as a step does."""
        import numpy

        count, right = len(self.held_out.labels), 0
        for begin in range(0, count, self.batch):
            chosen = numpy.arange(begin, begin + self.batch) % count  # the last batch is filled up from the front
            own = min(self.batch, count - begin)
            found = classes_of(self.held_out.images[chosen])
            right += int((found == self.held_out.labels[chosen])[:own].sum())
        return right

    def _draw(self):
        import numpy

        order = numpy.array(shuffled(len(self.trained.labels), self._seed, self._epoch))
        self._order = order[: self.steps * self.batch].reshape(self.steps, self.batch)


def first_weights(prepare):
    """By name: those that all frameworks begin with, given or drawn from the seed."""
    import numpy

    values = assay_graph.values_of(prepare)
    names = [(node["name"], part["name"]) for node in prepare.graph["nodes"] for part in node["parameters"]]
    return {"%s/%s" % name: numpy.asarray(values["%s/%s" % name]) for name in names}


def refuse_evaluation(_):
    raise assay_worker.Refused("evaluate: a network that learns digits says what it computes by its losses.")


def finite(losses):
    """Up to the first that is not: JSON has no other."""
    import math

    found = []
    for loss in losses:
        if not math.isfinite(loss):
            break
        found.append(float(loss))
    return found
