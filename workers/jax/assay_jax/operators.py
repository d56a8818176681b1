"""The operators of a graph: each in JAX's own functions, as its users write them. Those on sequences: sequences.py.

An entry takes the pass in which it is traced, a node, and the node's inputs, and returns its output. The batch is in
front of every array. Images and volumes lie as the layout says: entries that work on the graph's last dimension, or on
all at once, go through `_as_in_graph`.
"""

import jax
import jax.numpy as jnp
import numpy
from jax import image, lax, nn

from . import sequences

_KEPT = 0.9  # of a running statistic in each step
TURNED = ("linear", "lstm", "gru")  # whose weights lie as [in, out], where the graph has [out, in]
_LEAST_SQUARES = 1e-24  # of a norm of 1e-12, below which it is that


class Pass:
    """One run through a network while it is traced: the values that nodes take, and the statistics they leave.

    `dtype`: of real values. `key`: what dropout draws from; None when inferring."""

    def __init__(self, parameters, statistics, layout, dtype, key=None):
        self._parameters, self._statistics, self.layout, self.dtype = parameters, statistics, layout, dtype
        self._key, self._drawn, self.trains = key, 0, key is not None
        self.left = dict(statistics)

    def parameter(self, node, part):
        return self._parameters["%s/%s" % (node["name"], part)]

    def table(self, owner):
        """The weight of a node, also for those that share it, as the graph has it."""
        weight = self.parameter(owner, "weight")
        return weight.T if owner["op"] in TURNED else weight

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
    """On images and on volumes."""
    a = node["attributes"]
    y = lax.conv_general_dilated(
        x,
        run.parameter(node, "weight"),
        window_strides=a["stride"],
        padding=[*zip(a["padding"], a.get("padding_behind", a["padding"]))],
        rhs_dilation=a.get("dilation"),
        dimension_numbers=run.layout.dimensions(x),
        feature_group_count=a["groups"],
    )
    return _with_bias(run, node, y)


def _transposed_convolution(run, node, x):
    """What a convolution does to gradients: each pixel adds its window. Padding is that of the convolution on the
    spread pixels, so that every window is there as a whole."""
    a = node["attributes"]
    y = lax.conv_transpose(
        x,
        run.parameter(node, "weight"),
        strides=a["stride"],
        padding=[(k - 1, k - 1) for k in a["kernel"]],
        dimension_numbers=run.layout.dimensions(x),
        transpose_kernel=True,
    )
    return _with_bias(run, node, y)


def _with_bias(run, node, y):
    return y + run.layout.along_channels(run.parameter(node, "bias"), y) if node["attributes"]["bias"] else y


def _linear(run, node, x):
    owner = node.get("owner")
    y = x @ (run.parameter(node, "weight") if owner is None else run.table(owner).T)
    return y + run.parameter(node, "bias") if node["attributes"]["bias"] else y


def _batch_norm(run, node, x):
    """Statistics in fp32. The variance is that of centred values: a mean of squares less the square of the mean loses
    all digits where the mean is large."""
    real = x.astype(jnp.float32)

    def of_channels(vector):
        return run.layout.along_channels(vector, x)

    weight, bias = (of_channels(run.parameter(node, part)) for part in ("weight", "bias"))
    if run.trains:
        axes = (0, *run.layout.spatial)
        mean = real.mean(axes)
        variance = jnp.square(real - of_channels(mean)).mean(axes)
        run.leave(node, "mean", mean)
        run.leave(node, "variance", variance)
    else:
        mean, variance = run.statistic(node, "mean"), run.statistic(node, "variance")
    scale = lax.rsqrt(of_channels(variance) + node["attributes"]["epsilon"]) * weight
    y = (real - of_channels(mean)) * scale + bias
    return y.astype(x.dtype)


def _local_response_norm(run, node, x):
    """Krizhevsky's, over the channels around each; alpha is for the sum of the window."""
    a, axis = node["attributes"], run.layout.channels
    window, sides = [1] * 4, [(0, 0)] * 4
    before = a["size"] // 2
    window[axis], sides[axis] = a["size"], (before, a["size"] - 1 - before)
    squares = lax.reduce_window(jnp.square(x), 0.0, lax.add, window, [1] * 4, sides)
    return x / (a["k"] + a["alpha"] / a["size"] * squares) ** a["beta"]


def _l2_norm(run, node, x):
    """Channels of a pixel divided by their norm, in fp32. Where all of them are 0 they stay so."""
    real, weight = x.astype(jnp.float32), run.layout.along_channels(run.parameter(node, "weight"), x)
    squares = jnp.square(real).sum(run.layout.channels, keepdims=True)
    return (real * lax.rsqrt(jnp.maximum(squares, _LEAST_SQUARES)) * weight).astype(x.dtype)


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
    counted = numpy.outer(down, right)[..., None] if run.layout.last else numpy.outer(down, right)
    return lax.reduce_window(x, 0.0, lax.add, *window.arguments) / jnp.asarray(counted, x.dtype)


def _counted(node, axis, window):
    """Of each window along an axis: how many rows the graph averages over."""
    size, kernel = node["input_shapes"][0][1 + axis], window.kernel[axis]
    margin = window.before[axis] if node["attributes"]["count_padding"] else 0
    begins = numpy.arange(node["shape"][1 + axis]) * window.stride[axis] - window.before[axis]
    return numpy.minimum(begins + kernel, size + margin) - numpy.maximum(begins, -margin)


def _resize(run, node, x):
    """Linear between the middles of pixels."""
    sizes = run.layout.spread(node["attributes"]["sizes"], None)
    shape = [new or old for new, old in zip(sizes, x.shape)]
    return image.resize(x, shape, "linear", antialias=False)


def _flatten(run, node, x):
    return run.layout.to_graph(x).reshape(x.shape[0], -1)


def _concat(run, node, *inputs):
    return jnp.concatenate(inputs, run.layout.channels if len(node["shape"]) >= 3 else 1)


def _broadcast(function):
    """A second input with fewer dimensions lines up with the last ones of the graph's; the batch stays in front."""

    def entry(run, node, a, b):
        first, second = node["input_shapes"]
        if len(second) < len(first):
            missing = [1] * (len(first) - len(second))
            b = run.layout.from_graph(run.layout.to_graph(b).reshape(b.shape[0], *missing, *second))
        return function(a, b)

    return entry


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
    "dilated_convolution": _convolution,
    "convolution3d": _convolution,
    "transposed_convolution": _transposed_convolution,
    "linear": _as_in_graph(_linear),
    "batch_norm": _batch_norm,
    "layer_norm": _as_in_graph(sequences.layer_norm),
    "local_response_norm": _local_response_norm,
    "l2_norm": _l2_norm,
    "relu": _plain(nn.relu),
    "leaky_relu": lambda run, node, x: nn.leaky_relu(x, node["attributes"]["alpha"]),
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
    "max_pool3d": _max_pool,
    "average_pool": _average_pool,
    "global_average_pool": lambda run, node, x: x.mean(run.layout.spatial),
    "resize": _resize,
    "flatten": _flatten,
    "to_sequence": lambda run, node, x: run.layout.to_sequence(x),
    "dropout": _dropout,
    "concat": _concat,
    "add": _broadcast(jnp.add),
    "multiply": _broadcast(jnp.multiply),
    "select": _select,
    "slice": _as_in_graph(_slice),
    **sequences.TABLE,
}
