"""The operators of a graph: each in JAX's own functions, as its users write them.

An entry takes the pass in which it is traced, a node, and the node's inputs, and returns its output. The batch is in
front of every array. Images lie as the layout says: entries that work on the graph's last dimension, or on all at
once, go through `_as_in_graph`.
"""

import jax
import jax.numpy as jnp
import numpy
from jax import lax, nn

_KEPT = 0.9  # of a running statistic in each step


class Pass:
    """One run through a network while it is traced: the values that nodes take, and the statistics they leave.

    `key`: what dropout draws from; None when inferring."""

    def __init__(self, parameters, statistics, layout, key=None):
        self._parameters, self._statistics, self.layout = parameters, statistics, layout
        self._key, self._drawn, self.trains = key, 0, key is not None
        self.left = dict(statistics)

    def parameter(self, node, part):
        return self._parameters["%s/%s" % (node["name"], part)]

    def shared_weight(self, name):
        return self._parameters[name + "/weight"]

    def statistic(self, node, part):
        return self._statistics["%s/%s" % (node["name"], part)]

    def leave(self, node, part, of_batch):
        name = "%s/%s" % (node["name"], part)
        self.left[name] = _KEPT * self._statistics[name] + (1 - _KEPT) * lax.stop_gradient(of_batch)

    def dropped(self, x, probability):
        """`x` when inferring; when training with some of it at 0 and the rest larger."""
        if not self.trains or not probability:
            return x
        self._drawn += 1
        kept = jax.random.bernoulli(jax.random.fold_in(self._key, self._drawn), 1 - probability, x.shape)
        return jnp.where(kept, x / (1 - probability), 0)


def _as_in_graph(function):
    """For what works on the dimensions of the graph's shape."""

    def entry(run, node, x):
        return run.layout.from_graph(function(run, node, run.layout.to_graph(x)))

    return entry


def _convolution(run, node, x):
    a, layout = node["attributes"], run.layout
    y = lax.conv_general_dilated(
        x,
        run.parameter(node, "weight"),
        window_strides=a["stride"],
        padding=[(p, p) for p in a["padding"]],
        dimension_numbers=layout.dimensions,
        feature_group_count=a["groups"],
    )
    return y + layout.along_channels(run.parameter(node, "bias")) if a["bias"] else y


def _linear(run, node, x):
    """Weights lie as [in, out]; a table of an embedding that is shared the other way round."""
    a, owner = node["attributes"], node.get("owner")
    if owner is None:
        y = x @ run.parameter(node, "weight")
    else:
        weight = run.shared_weight(owner["name"])
        y = x @ (weight if owner["op"] == "linear" else weight.T)
    return y + run.parameter(node, "bias") if a["bias"] else y


def _normalised(x, mean, variance, epsilon, weight, bias):
    return (x - mean) * (lax.rsqrt(variance + epsilon) * weight) + bias


def _batch_norm(run, node, x):
    """Statistics in fp32. The variance is that of centred values: a mean of squares less the square of the mean loses
    all digits where the mean is large."""
    of_channels, real = run.layout.along_channels, x.astype(jnp.float32)
    weight, bias = (of_channels(run.parameter(node, part)) for part in ("weight", "bias"))
    if run.trains:
        axes = (0, *run.layout.spatial)
        mean = real.mean(axes)
        variance = jnp.square(real - of_channels(mean)).mean(axes)
        run.leave(node, "mean", mean)
        run.leave(node, "variance", variance)
    else:
        mean, variance = run.statistic(node, "mean"), run.statistic(node, "variance")
    y = _normalised(real, of_channels(mean), of_channels(variance), node["attributes"]["epsilon"], weight, bias)
    return y.astype(x.dtype)


def _layer_norm(run, node, x):
    real = x.astype(jnp.float32)
    mean = real.mean(-1, keepdims=True)
    variance = jnp.square(real - mean).mean(-1, keepdims=True)
    weight, bias = run.parameter(node, "weight"), run.parameter(node, "bias")
    return _normalised(real, mean, variance, node["attributes"]["epsilon"], weight, bias).astype(x.dtype)


def _local_response_norm(run, node, x):
    """Krizhevsky's, over the channels around each; alpha is for the sum of the window."""
    a, axis = node["attributes"], run.layout.channels
    window, sides = [1] * 4, [(0, 0)] * 4
    before = a["size"] // 2
    window[axis], sides[axis] = a["size"], (before, a["size"] - 1 - before)
    squares = lax.reduce_window(jnp.square(x), 0.0, lax.add, window, [1] * 4, sides)
    return x / (a["k"] + a["alpha"] / a["size"] * squares) ** a["beta"]


class _Window:
    """Of a pool: as JAX wants it, with padding before and behind so that exactly the graph's windows fit."""

    def __init__(self, node, layout):
        a, sizes, counts = node["attributes"], node["input_shapes"][0][1:], node["shape"][1:]
        self.kernel, self.stride, self.before = a["kernel"], a["stride"], a["padding"]
        axes = zip(sizes, counts, self.kernel, self.stride, self.before)
        behind = [max(0, (count - 1) * s + k - size - p) for size, count, k, s, p in axes]
        sides = layout.spread(list(zip(self.before, behind)), (0, 0))
        self.arguments = (layout.spread(self.kernel, 1), layout.spread(self.stride, 1), sides)


def _max_pool(run, node, x):
    return lax.reduce_window(x, -jnp.inf, lax.max, *_Window(node, run.layout).arguments)


def _average_pool(run, node, x):
    window = _Window(node, run.layout)
    down, right = (_counted(node, axis, window) for axis in (0, 1))
    counted = numpy.outer(down, right)[..., None] if run.layout.channels == 3 else numpy.outer(down, right)
    return lax.reduce_window(x, 0.0, lax.add, *window.arguments) / jnp.asarray(counted, x.dtype)


def _counted(node, axis, window):
    """Of each window along an axis: how many rows the graph averages over."""
    size, kernel = node["input_shapes"][0][1 + axis], window.kernel[axis]
    margin = window.before[axis] if node["attributes"]["count_padding"] else 0
    begins = numpy.arange(node["shape"][1 + axis]) * window.stride[axis] - window.before[axis]
    return numpy.minimum(begins + kernel, size + margin) - numpy.maximum(begins, -margin)


def _flatten(run, node, x):
    return run.layout.to_graph(x).reshape(x.shape[0], -1)


def _concat(run, node, *inputs):
    return jnp.concatenate(inputs, run.layout.channels if len(node["shape"]) == 3 else 1)


def _broadcast(function):
    """A second input with fewer dimensions lines up with the last ones of the graph's; the batch stays in front."""

    def entry(run, node, a, b):
        first, second = node["input_shapes"]
        if len(second) < len(first):
            missing = [1] * (len(first) - len(second))
            b = run.layout.from_graph(b.reshape(b.shape[0], *missing, *second))
        return function(a, b)

    return entry


def _embedding(run, node, x):
    return run.parameter(node, "weight")[x]


def _position_embedding(run, node, x):
    """The first rows of the table, the same for each sample, whatever the input holds."""
    length, features = node["shape"]
    return jnp.broadcast_to(run.parameter(node, "weight")[:length], (x.shape[0], length, features))


def _attention(run, node, *inputs):
    """Scaled dot products on [batch, positions, features], split into heads."""
    a, (batch, positions, features) = node["attributes"], inputs[0].shape
    queries, keys, values = (x.reshape(batch, positions, a["heads"], -1) for x in inputs)
    scores = jnp.einsum("bqhf,bkhf->bhqk", queries, keys) * (features // a["heads"]) ** -0.5
    if a.get("causal"):
        scores = jnp.where(numpy.tri(positions, dtype=bool), scores, -jnp.inf)
    shares = run.dropped(nn.softmax(scores), a.get("dropout"))
    return jnp.einsum("bhqk,bkhf->bqhf", shares, values).reshape(batch, positions, features)


def _dropout(run, node, x):
    return run.dropped(x, node["attributes"]["probability"])


def _select(run, node, x):
    return run.layout.to_graph(x)[:, node["attributes"]["index"]]


def _slice(run, node, x):
    begin = node["attributes"]["begin"]
    return x[..., begin : begin + node["attributes"]["length"]]


def _plain(function, **arguments):
    return lambda run, node, x: function(x, **arguments)


TABLE = {
    "convolution": _convolution,
    "linear": _as_in_graph(_linear),
    "batch_norm": _batch_norm,
    "layer_norm": _as_in_graph(_layer_norm),
    "local_response_norm": _local_response_norm,
    "relu": _plain(nn.relu),
    "relu6": _plain(nn.relu6),
    "gelu": _plain(nn.gelu, approximate=False),
    "gelu_tanh": _plain(nn.gelu, approximate=True),
    "tanh": _plain(jnp.tanh),
    "sigmoid": _plain(nn.sigmoid),
    "silu": _plain(nn.silu),
    "hard_swish": _plain(nn.hard_swish),
    "hard_sigmoid": _plain(nn.hard_sigmoid),
    "softmax": _as_in_graph(_plain(nn.softmax)),
    "max_pool": _max_pool,
    "average_pool": _average_pool,
    "global_average_pool": lambda run, node, x: x.mean(run.layout.spatial),
    "flatten": _flatten,
    "dropout": _dropout,
    "concat": _concat,
    "add": _broadcast(jnp.add),
    "multiply": _broadcast(jnp.multiply),
    "embedding": _embedding,
    "position_embedding": _position_embedding,
    "attention": _attention,
    "select": _select,
    "slice": _as_in_graph(_slice),
}
