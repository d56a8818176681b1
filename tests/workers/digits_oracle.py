"""How lenet and mlp learn digits, in plain numpy and in any precision, written from workers/PROTOCOL.md: no framework
and no code of workers has a part. The pixels are scikit-learn's own."""

import hashlib
import math

import numpy
from numpy.lib.stride_tricks import sliding_window_view

HELD_OUT, TRAINED = 360, 1437


def ordered(count, words):
    """The numbers below `count` by the SHA-256 of `assay digits WORDS NUMBER`."""
    return sorted(range(count), key=lambda i: hashlib.sha256(f"assay digits {words} {i}".encode()).digest())


def parts():
    """Images and labels of what is trained on and of what is held out."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images, labels = ((digits.images - 5) / 6)[:, None], digits.target
    held_out = set(ordered(len(labels), "split 0")[:HELD_OUT])
    trained = [i for i in range(len(labels)) if i not in held_out]
    return (images[trained], labels[trained]), (images[sorted(held_out)], labels[sorted(held_out)])


def batches(seed, batch, steps):
    """Numbers of the trained samples of each step."""
    found, epoch = [], 0
    while len(found) < steps:
        order = ordered(TRAINED, f"{seed} {epoch}")
        found += [order[i * batch : (i + 1) * batch] for i in range(TRAINED // batch)]
        epoch += 1
    return found[:steps]


def first_weights(graph, seed):
    """Uniform with the deviation that keeps the size of values, exact in fp32."""
    draw, found = numpy.random.default_rng(seed), {}
    for node in graph["nodes"]:
        for part in node["parameters"]:
            fan_in = math.prod(part["shape"][1:])
            half = 0.05 if part["name"] == "bias" else math.sqrt((6 if node["op"] == "convolution" else 3) / fan_in)
            found[f"{node['name']}/{part['name']}"] = draw.uniform(-half, half, part["shape"]).astype("float32")
    return found


class Convolution:
    """3 x 3, padded by one."""

    def forward(self, x, weight, bias):
        self.seen = sliding_window_view(numpy.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
        return numpy.einsum("bcyxij,ocij->boyx", self.seen, weight) + bias[:, None, None]

    def backward(self, gradient, weight, bias):
        of_weight = numpy.einsum("boyx,bcyxij->ocij", gradient, self.seen)
        back = sliding_window_view(numpy.pad(gradient, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
        of_input = numpy.einsum("boyxij,ocij->bcyx", back, weight[:, :, ::-1, ::-1])
        return of_input, {"weight": of_weight, "bias": gradient.sum((0, 2, 3))}


class Linear:
    def forward(self, x, weight, bias):
        self.x = x
        return x @ weight.T + bias

    def backward(self, gradient, weight, bias):
        return gradient @ weight, {"weight": gradient.T @ self.x, "bias": gradient.sum(0)}


class Relu:
    def forward(self, x):
        self.kept = x > 0
        return x * self.kept

    def backward(self, gradient):
        return gradient * self.kept, {}


class Pool:
    """The largest of 2 x 2; of equal ones the first has the gradient."""

    def forward(self, x):
        b, c, h, w = self.shape = x.shape
        cells = x.reshape(b, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(b, c, h // 2, w // 2, 4)
        self.chosen = cells.argmax(-1)
        return cells.max(-1)

    def backward(self, gradient):
        b, c, h, w = self.shape
        cells = (self.chosen[..., None] == numpy.arange(4)) * gradient[..., None]
        return cells.reshape(b, c, h // 2, w // 2, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(self.shape), {}


class Flatten:
    def forward(self, x):
        self.shape = x.shape
        return x.reshape(len(x), -1)

    def backward(self, gradient):
        return gradient.reshape(self.shape), {}


LAYERS = {"convolution": Convolution, "linear": Linear, "relu": Relu, "max_pool": Pool, "flatten": Flatten}


class Network:
    """A chain: each node reads the one before it."""

    def __init__(self, graph, weights, dtype):
        self.layers = [(node["name"], LAYERS[node["op"]]()) for node in graph["nodes"]]
        self.weights = {name: value.astype(dtype) for name, value in weights.items()}

    def own(self, name):
        return {key.split("/")[1]: value for key, value in self.weights.items() if key.startswith(name + "/")}

    def output(self, x):
        for name, layer in self.layers:
            x = layer.forward(x, **self.own(name))
        return x

    def loss_and_gradients(self, x, labels):
        output = self.output(x)
        shifted = output - output.max(1, keepdims=True)
        logarithms = shifted - numpy.log(numpy.exp(shifted).sum(1, keepdims=True))
        rows = numpy.arange(len(labels))
        gradient = numpy.exp(logarithms)
        gradient[rows, labels] -= 1
        gradient, found = gradient / len(labels), {}
        for name, layer in reversed(self.layers):
            gradient, own = layer.backward(gradient, **self.own(name))
            found.update({f"{name}/{part}": value for part, value in own.items()})
        return -logarithms[rows, labels].mean(), found


class Sgd:
    def __init__(self, rate):
        self.rate, self.momentum = rate, {}

    def update(self, weights, gradients):
        for name, gradient in gradients.items():
            self.momentum[name] = 0.9 * self.momentum.get(name, 0) + gradient
            weights[name] = weights[name] - weights[name].dtype.type(self.rate) * self.momentum[name]


class Adam:
    """As in the algorithm of Kingma and Ba, or in the order of computation that they give after it (`early_epsilon`),
    in which epsilon is added before the second moment is corrected."""

    def __init__(self, rate, early_epsilon=False):
        self.rate, self.early_epsilon = rate, early_epsilon
        self.first, self.second, self.steps = {}, {}, 0

    def update(self, weights, gradients):
        self.steps += 1
        for name, gradient in gradients.items():
            self.first[name] = 0.9 * self.first.get(name, 0) + 0.1 * gradient
            self.second[name] = 0.999 * self.second.get(name, 0) + 0.001 * gradient**2
            first, second = self.first[name] / (1 - 0.9**self.steps), self.second[name] / (1 - 0.999**self.steps)
            epsilon = 1e-8 / math.sqrt(1 - 0.999**self.steps) if self.early_epsilon else 1e-8
            weights[name] = weights[name] - weights[name].dtype.type(self.rate) * first / (numpy.sqrt(second) + epsilon)


# Rates at which fp32 and fp64 stay close for 20 updates.
RATES = {"sgd": 0.01, "adam": 0.001}
# Keras and MXNet add epsilon before they correct the second moment; the others after it, as in the algorithm.
EARLY_EPSILON = ("mxnet", "tensorflow")
# What fp32 changes in each: other orders of the same sums. Keras also raises 0.999 to the power of the step in fp32, in
# which 1 - 0.999 is 1.3e-5 off.
TOLERANCE, POWERS_TOLERANCE = 1e-5, 2e-4


def as_trained_by(framework, optimizer):
    """Which of the optimizers here it is, and how close its losses are."""
    early = optimizer == "adam" and framework in EARLY_EPSILON
    powers = optimizer == "adam" and framework == "tensorflow"
    return "early_adam" if early else optimizer, POWERS_TOLERANCE if powers else TOLERANCE


def apart(found, wanted):
    """The largest difference of two lists of losses, as a share of the loss."""
    return max(abs(a - b) / b for a, b in zip(found, wanted, strict=True))


METHODS = {"sgd": Sgd, "adam": Adam, "early_adam": lambda rate: Adam(rate, early_epsilon=True)}


def losses(graph, weights, batch, steps, optimizer, rate, seed=1, dtype="float64", label_shift=0):
    """Of each step before its update, and the network as it is after the last. `label_shift`: a mistake, by which
    samples have the labels of others."""
    (images, labels), _ = parts()
    images, labels = images.astype(dtype), numpy.roll(labels, label_shift)
    network, found = Network(graph, weights, dtype), []
    method = METHODS[optimizer](rate)
    for chosen in batches(seed, batch, steps):
        loss, gradients = network.loss_and_gradients(images[chosen], labels[chosen])
        method.update(network.weights, gradients)
        found.append(float(loss))
    return found, network


def correct(network):
    """How many held-out samples are right."""
    _, (images, labels) = parts()
    return int((network.output(images).argmax(1) == labels).sum())
