"""The operators of a graph: each as Keras' own layer or function.

An entry takes a node, the layers built so far and the node's inputs, and returns its output. The batch is in front of
every tensor. What the graph calls an image, [channels, height, width], has its channels last here: entries that work
on the graph's last dimension, or on all at once, go through `_as_in_graph`.
"""

import functools
import math

import assay_worker
import numpy
import tensorflow as tf
from keras import layers as kl
from keras import ops

from . import sequences


class LocalResponseNorm(kl.Layer):
    """Over channels, which are last. The graph's alpha is for the sum of the window, TensorFlow's for each channel."""

    def __init__(self, size, alpha, beta, k):
        super().__init__()
        self.arguments = {"depth_radius": size // 2, "bias": k, "alpha": alpha / size, "beta": beta}

    def call(self, x):
        y = tf.nn.local_response_normalization(ops.cast(x, "float32"), **self.arguments)  # there is none in bf16
        return ops.cast(y, x.dtype)


class L2Norm(kl.Layer):
    """Channels of a pixel divided by their norm, times a weight each."""

    def __init__(self, channels):
        super().__init__()
        self.gamma = self.add_weight(shape=(channels,), initializer="ones", name="gamma")

    def call(self, x):
        return tf.math.l2_normalize(x, axis=-1, epsilon=1e-24) * self.gamma


class Scale(kl.Layer):
    """Multiplied by a constant array."""

    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def call(self, x):
        return x * ops.cast(self.scale, x.dtype)


def to_graph_order(x):
    """Channels in front, where `x` is a batch of images or volumes."""
    rank = len(x.shape)
    return ops.transpose(x, (0, rank - 1, *range(1, rank - 1))) if rank >= 4 else x


def from_graph_order(x):
    """Channels last, where `x` is a batch of images or volumes."""
    rank = len(x.shape)
    return ops.transpose(x, (0, *range(2, rank), 1)) if rank >= 4 else x


def _as_in_graph(function):
    """For what works on the last dimension of the graph's shape."""

    def entry(node, layers, x):
        return from_graph_order(function(node, layers, to_graph_order(x)))

    return entry


class _Window:
    """Padding of a convolution or pool: before and behind each of height and width, so that windows fit exactly."""

    def __init__(self, node):
        a, sizes, counts = node["attributes"], node["input_shapes"][0][1:], node["shape"][1:]
        self.stride, self.before = a["stride"], a["padding"]
        apart = a.get("dilation") or [1] * len(self.stride)
        self.kernel = [(k - 1) * d + 1 for k, d in zip(a["kernel"], apart)]  # as far as a window reaches
        axes = list(zip(sizes, counts, self.kernel, self.stride, self.before))
        self.behind = [max(0, (count - 1) * s + k - size - p) for size, count, k, s, p in axes]
        if not any((*self.before, *self.behind)):
            self.keras = "valid"
        elif all(self._is_same(*axis, behind) for axis, behind in zip(axes, self.behind)):
            self.keras = "same"
        else:
            self.keras = None

    def _is_same(self, size, count, kernel, stride, before, behind):
        """Whether Keras' own rule for "same", which puts the odd one behind, gives this padding."""
        total = max((count - 1) * stride + kernel - size, 0)
        return count == -(-size // stride) and before == total // 2 and before + behind == total

    def arguments(self):
        return {"strides": tuple(self.stride), "padding": self.keras or "valid", "data_format": "channels_last"}

    def pad(self, x, value):
        """The input with its padding, unless Keras adds it by itself."""
        if self.keras is not None:
            return x
        sides = [(0, 0), *zip(self.before, self.behind), (0, 0)]
        return ops.pad(x, sides, constant_values=value)


def _convolution(node, layers, x):
    a, window = node["attributes"], _Window(node)
    x, arguments = window.pad(x, 0.0), {**window.arguments(), "use_bias": a["bias"]}
    channels_in, (down, right) = x.shape[-1], a["stride"]
    if a["groups"] == channels_in > 1 and down == right:  # TensorFlow's kernel has one stride
        layer = kl.DepthwiseConv2D(tuple(a["kernel"]), depth_multiplier=a["channels"] // channels_in, **arguments)
    else:
        layer = kl.Conv2D(a["channels"], tuple(a["kernel"]), groups=a["groups"], **arguments)
    return _called(node, layers, layer, x)


@functools.cache
def _has_dilated_kernels():
    """Whether TensorFlow's own convolution has holes, and gradients with them: by oneDNN it has, without it has not."""

    @tf.function
    def gradients(image, kernel):
        with tf.GradientTape() as tape:
            tape.watch((image, kernel))
            out = tf.nn.conv2d(image, kernel, 1, "VALID", dilations=2)
        return tape.gradient(out, (image, kernel))

    try:
        gradients(tf.ones((1, 3, 3, 1)), tf.ones((2, 2, 1, 1)))
    except tf.errors.OpError:
        return False
    return True


class DilatedConvolution(kl.Conv2D):
    """By TensorFlow's own convolution. That of Keras moves the holes into the batch, many times as slowly."""

    def convolution_op(self, inputs, kernel):
        return tf.nn.conv2d(inputs, kernel, self.strides, self.padding.upper(), dilations=self.dilation_rate)


def _dilated_convolution(node, layers, x):
    a, window = node["attributes"], _Window(node)
    if math.prod(a["stride"]) > 1:
        message = "dilated_convolution with strides %s (node %s): Keras has both at once for no layer."
        raise assay_worker.Refused(message % (a["stride"], node["name"]))
    arguments = {**window.arguments(), "dilation_rate": tuple(a["dilation"]), "groups": a["groups"]}
    kind = DilatedConvolution if a["groups"] == 1 and _has_dilated_kernels() else kl.Conv2D
    layer = kind(a["channels"], tuple(a["kernel"]), use_bias=a["bias"], **arguments)
    return _called(node, layers, layer, window.pad(x, 0.0))


def _convolution3d(node, layers, x):
    a, window = node["attributes"], _Window(node)
    layer = kl.Conv3D(a["channels"], tuple(a["kernel"]), groups=a["groups"], use_bias=a["bias"], **window.arguments())
    return _called(node, layers, layer, window.pad(x, 0.0))


def _transposed_convolution(node, layers, x):
    a = node["attributes"]
    arguments = {"strides": tuple(a["stride"]), "padding": "valid", "data_format": "channels_last"}
    layer = kl.Conv2DTranspose(a["channels"], tuple(a["kernel"]), use_bias=a["bias"], **arguments)
    return _called(node, layers, layer, x)


def _linear(node, layers, x):
    a = node["attributes"]
    if a.get("shared") is None:
        return _called(node, layers, kl.Dense(a["features"], use_bias=a["bias"]), x)
    owner = layers[a["shared"]]
    layer = SharedLinear(owner, a["features"], a["bias"])
    return _called(node, layers, layer, x)


class SharedLinear(kl.Layer):
    """A linear layer with the weight of a Dense, or the table of an embedding, which lies the other way round."""

    def __init__(self, owner, features, bias):
        super().__init__()
        self.owner = owner
        self.bias = self.add_weight(shape=(features,), initializer="zeros", name="bias") if bias else None

    def call(self, x):
        weight = weight_of(self.owner)
        y = ops.matmul(x, weight if isinstance(self.owner, kl.Dense) else ops.transpose(weight))
        return y if self.bias is None else y + self.bias


class SharedEmbedding(kl.Layer):
    """Rows of another layer's table; that of a Dense lies the other way round."""

    def __init__(self, owner):
        super().__init__()
        self.owner = owner

    def call(self, x):
        weight = weight_of(self.owner)
        return ops.take(ops.transpose(weight) if isinstance(self.owner, kl.Dense) else weight, x, axis=0)


def weight_of(layer):
    """The variable of a layer that others may share."""
    if isinstance(layer, (SharedLinear, SharedEmbedding)):
        return weight_of(layer.owner)
    return layer.kernel if isinstance(layer, kl.Dense) else layer.embeddings


def _batch_norm(node, layers, x):
    layer = kl.BatchNormalization(axis=-1, epsilon=node["attributes"]["epsilon"], momentum=0.9)
    return _called(node, layers, layer, x)


def _layer_norm(node, layers, x):
    return _called(node, layers, kl.LayerNormalization(axis=-1, epsilon=node["attributes"]["epsilon"]), x)


def _local_response_norm(node, layers, x):
    a = node["attributes"]
    if a["size"] % 2 == 0:
        message = "local_response_norm of %d channels (node %s): TensorFlow's windows have a middle, so odd sizes only."
        raise assay_worker.Refused(message % (a["size"], node["name"]))
    return LocalResponseNorm(a["size"], a["alpha"], a["beta"], a["k"])(x)


def _max_pool(node, layers, x):
    window = _Window(node)
    return ops.max_pool(window.pad(x, -math.inf), tuple(window.kernel), **window.arguments())


def _average_pool(node, layers, x):
    """Windows are averaged with all they cover; where not all of it counts, they are scaled."""
    window = _Window(node)
    if window.keras == "same":
        window.keras = None  # it counts no padding
    counted = numpy.outer(*[_counted(node, axis, window) for axis in (0, 1)])
    scale = (math.prod(window.kernel) / counted).astype("float32")[None, :, :, None]
    pooled = ops.average_pool(window.pad(x, 0.0), tuple(window.kernel), **window.arguments())
    return pooled if (scale == 1).all() else Scale(scale)(pooled)


def _counted(node, axis, window):
    """Of each window along an axis: how many rows the graph averages over."""
    size, kernel = node["input_shapes"][0][1 + axis], window.kernel[axis]
    margin = window.before[axis] if node["attributes"]["count_padding"] else 0
    begins = numpy.arange(node["shape"][1 + axis]) * window.stride[axis] - window.before[axis]
    return numpy.minimum(begins + kernel, size + margin) - numpy.maximum(begins, -margin)


def _resize(node, layers, x):
    return ops.image.resize(x, tuple(node["attributes"]["sizes"]), "bilinear", data_format="channels_last")


def _flatten(node, layers, x):
    return ops.reshape(to_graph_order(x), (x.shape[0], -1))


def _concat(node, layers, *inputs):
    return ops.concatenate(inputs, axis=-1 if len(node["shape"]) >= 3 else 1)


def _broadcast(function):
    """A second input with fewer dimensions lines up with the last ones of the graph's; the batch stays in front."""

    def entry(node, layers, a, b):
        first, second = node["input_shapes"]
        if len(second) < len(first):
            b = from_graph_order(ops.reshape(b, (b.shape[0], *[1] * (len(first) - len(second)), *second)))
        return function(a, b)

    return entry


def _embedding(node, layers, x):
    a = node["attributes"]
    if a.get("shared") is not None:
        return _called(node, layers, SharedEmbedding(layers[a["shared"]]), x)
    return _called(node, layers, kl.Embedding(a["rows"], a["features"]), x)


def _dropout(node, layers, x):
    return kl.Dropout(node["attributes"]["probability"])(x)


def _select(node, layers, x):
    return x[:, node["attributes"]["index"]]


def _slice(node, layers, x):
    begin = node["attributes"]["begin"]
    return x[..., begin : begin + node["attributes"]["length"]]


def _called(node, layers, layer, x):
    layers[node["name"]] = layer
    return layer(x)


def _plain(function, **arguments):
    return lambda node, layers, x: function(x, **arguments)


TABLE = {
    "convolution": _convolution,
    "dilated_convolution": _dilated_convolution,
    "transposed_convolution": _transposed_convolution,
    "convolution3d": _convolution3d,
    "linear": _as_in_graph(_linear),
    "batch_norm": _batch_norm,
    "layer_norm": _as_in_graph(_layer_norm),
    "local_response_norm": _local_response_norm,
    "l2_norm": lambda node, layers, x: _called(node, layers, L2Norm(node["shape"][0]), x),
    "relu": _plain(ops.relu),
    "leaky_relu": lambda node, layers, x: ops.leaky_relu(x, node["attributes"]["alpha"]),
    "relu6": _plain(ops.relu6),
    "gelu": _plain(ops.gelu, approximate=False),
    "gelu_tanh": _plain(ops.gelu, approximate=True),
    "tanh": _plain(ops.tanh),
    "sigmoid": _plain(ops.sigmoid),
    "silu": _plain(ops.silu),
    "hard_swish": _plain(ops.hard_silu),
    "hard_sigmoid": _plain(ops.hard_sigmoid),
    "softmax": _as_in_graph(_plain(ops.softmax, axis=-1)),
    "max_pool": _max_pool,
    "max_pool3d": _max_pool,
    "average_pool": _average_pool,
    "global_average_pool": _plain(ops.mean, axis=(1, 2)),
    "resize": _resize,
    "flatten": _flatten,
    "dropout": _dropout,
    "concat": _concat,
    "add": _broadcast(ops.add),
    "multiply": _broadcast(ops.multiply),
    "embedding": _embedding,
    "select": _select,
    "slice": _as_in_graph(_slice),
    **sequences.TABLE,
}
