"""The operators of a graph, each in MXNet's own.

An entry takes a node, the symbols of its inputs and those of its parts (parameters, and what FIXED adds), and returns a
symbol. Values have the batch in front: dimension 0 of a graph's shape is dimension 1 here.
"""

import math

import assay_worker
import numpy
from mxnet import symbol as F

from . import sequences


def _convolution(node, x, part):
    a = node["attributes"]
    return F.Convolution(
        x, part["weight"], part.get("bias"), kernel=a["kernel"], stride=a["stride"], pad=a["padding"],
        num_group=a["groups"], num_filter=a["channels"], no_bias=not a["bias"], name=node["name"],
        dilate=a.get("dilation") or [1] * len(a["kernel"]),
    )  # fmt: skip


def _convolution3d(node, x, part):
    """MXNet pads both sides alike; other padding is an operator of its own."""
    a = node["attributes"]
    if "padding_behind" not in a:
        return _convolution(node, x, part)
    sides = [side for pair in zip(a["padding"], a["padding_behind"]) for side in pair]
    padded = F.pad(x, mode="constant", pad_width=(0, 0, 0, 0, *sides), constant_value=0)
    return _convolution({**node, "attributes": {**a, "padding": [0, 0, 0]}}, padded, part)


def _transposed_convolution(node, x, part):
    a = node["attributes"]
    return F.Deconvolution(
        x, part["weight"], part.get("bias"), kernel=a["kernel"], stride=a["stride"],
        num_filter=a["channels"], no_bias=not a["bias"], name=node["name"],
    )  # fmt: skip


def _linear(node, x, part):
    a = node["attributes"]
    named = {"num_hidden": a["features"], "no_bias": not a["bias"], "name": node["name"]}
    return F.FullyConnected(x, part["weight"], part.get("bias"), flatten=False, **named)


def _batch_norm(node, x, part):
    return F.BatchNorm(
        x, part["weight"], part["bias"], part["mean"], part["variance"],
        eps=node["attributes"]["epsilon"], momentum=0.9, fix_gamma=False, name=node["name"],
    )  # fmt: skip


def _layer_norm(node, x, part):
    return F.LayerNorm(x, part["weight"], part["bias"], axis=-1, eps=node["attributes"]["epsilon"], name=node["name"])


def _local_response_norm(node, x, _):
    a = node["attributes"]
    if a["size"] % 2 == 0:
        message = "local_response_norm (node %s) over %d channels: MXNet takes an odd number."
        raise assay_worker.Refused(message % (node["name"], a["size"]))
    return F.LRN(x, nsize=a["size"], alpha=a["alpha"], beta=a["beta"], knorm=a["k"], name=node["name"])


def _l2_norm(node, x, part):
    normal = F.L2Normalization(x, mode="channel", eps=1e-24)
    return F.broadcast_mul(normal, F.reshape(part["weight"], shape=(1, -1, 1, 1)), name=node["name"])


def _gelu_tanh(node, x, _):
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + F.tanh(inner))


def _hard_sigmoid(node, x, _):
    return F.hard_sigmoid(x, alpha=1 / 6, beta=0.5)


def _pool(kind):
    """MXNet rounds up with 'full', but has a window even where it begins behind the image: that one is cut off."""

    def entry(node, x, _):
        a, (_, *sizes) = node["attributes"], node["input_shapes"][0]
        sides = list(zip(sizes, a["kernel"], a["stride"], a["padding"]))
        down = [(size + 2 * padding - kernel) // stride + 1 for size, kernel, stride, padding in sides]
        up = [-(-(size + 2 * padding - kernel) // stride) + 1 for size, kernel, stride, padding in sides]
        window = {"kernel": a["kernel"], "stride": a["stride"], "pad": a["padding"], "name": node["name"]}
        if kind == "avg":
            window["count_include_pad"] = bool(a["count_padding"])
        if node["shape"][1:] == down:
            return F.Pooling(x, pool_type=kind, pooling_convention="valid", **window)
        pooled = F.Pooling(x, pool_type=kind, pooling_convention="full", **window)
        if node["shape"][1:] == up:
            return pooled
        return F.slice(pooled, begin=(None, None, *[0] * len(sides)), end=(None, None, *node["shape"][1:]))

    return entry


def _global_average_pool(node, x, _):
    return F.flatten(F.Pooling(x, kernel=(1, 1), global_pool=True, pool_type="avg", name=node["name"]))


def _resize(node, x, _):
    height, width = node["attributes"]["sizes"]
    sized = {"height": height, "width": width, "mode": "size", "align_corners": False}
    return F.contrib.BilinearResize2D(x, **sized, name=node["name"])


def _dropout(node, x, _):
    return F.Dropout(x, p=node["attributes"]["probability"], name=node["name"])


def _concat(node, *inputs_and_parts):
    return F.concat(*inputs_and_parts[:-1], dim=1, name=node["name"])


def _pairwise(same, broadcast):
    """A second input with fewer dimensions lines up with the last ones; the batch stays in front."""

    def entry(node, a, b, _):
        first, second = node["input_shapes"]
        if first == second:
            return same(a, b, name=node["name"])
        if len(second) < len(first):
            b = F.reshape(b, shape=(0, *[1] * (len(first) - len(second)), *second))
        return broadcast(a, b, name=node["name"])

    return entry


def _embedding(node, x, part):
    a = node["attributes"]
    return F.Embedding(x, part["weight"], input_dim=a["rows"], output_dim=a["features"], name=node["name"])


def _position_embedding(node, _, part):
    """The first rows of a table, the same for each sample, whatever the input holds."""
    rows = F.slice_axis(part["weight"], axis=0, begin=0, end=node["shape"][0])
    return F.broadcast_axis(F.expand_dims(rows, axis=0), axis=0, size=node["batch"], name=node["name"])


def _attention(node, queries, keys, values, part):
    """Scaled dot products, head by head: [batch, positions, features] becomes [batch * heads, positions, of a head]."""
    a, (positions, features) = node["attributes"], node["shape"]
    heads, size = a["heads"], features // a["heads"]
    key_heads, key_positions = a.get("key_heads", heads), node["input_shapes"][1][0]

    def split(x, of, length):
        parted = F.transpose(F.reshape(x, shape=(0, 0, of, size)), axes=(0, 2, 1, 3))
        parted = parted if of == heads else F.repeat(parted, repeats=heads // of, axis=1)
        return F.reshape(parted, shape=(-1, length, size))

    scaled, keys = split(queries, heads, positions) * (1 / math.sqrt(size)), split(keys, key_heads, key_positions)
    scores = F.batch_dot(scaled, keys, transpose_b=True)
    if "mask" in part:
        scores = F.broadcast_add(scores, part["mask"])
    shares = F.softmax(scores, axis=-1)
    if a.get("dropout"):
        shares = F.Dropout(shares, p=a["dropout"])
    joined = F.reshape(F.batch_dot(shares, split(values, key_heads, key_positions)), shape=(-1, heads, positions, size))
    return F.reshape(F.transpose(joined, axes=(0, 2, 1, 3)), shape=(0, 0, -1), name=node["name"])


def _select(node, x, _):
    index = node["attributes"]["index"]
    return F.squeeze(F.slice_axis(x, axis=1, begin=index, end=index + 1), axis=1, name=node["name"])


def _slice(node, x, _):
    begin = node["attributes"]["begin"]
    return F.slice_axis(x, axis=-1, begin=begin, end=begin + node["attributes"]["length"], name=node["name"])


def _plain(function, **arguments):
    return lambda node, x, _: function(x, name=node["name"], **arguments)


def _causal_mask(node, values):
    if not node["attributes"].get("causal"):
        return {}
    length = node["shape"][0]
    return {"mask": numpy.triu(numpy.full((1, length, length), -numpy.inf, "float32"), 1)}


# What an operator needs besides its parameters and does not learn, by name.
FIXED = {
    "batch_norm": lambda node, values: {part: values[node["name"] + "/" + part] for part in ("mean", "variance")},
    "attention": _causal_mask,
    "cross_attention": _causal_mask,
    **sequences.FIXED,
}

TABLE = {
    "convolution": _convolution,
    "dilated_convolution": _convolution,
    "convolution3d": _convolution3d,
    "transposed_convolution": _transposed_convolution,
    "linear": _linear,
    "batch_norm": _batch_norm,
    "layer_norm": _layer_norm,
    "local_response_norm": _local_response_norm,
    "l2_norm": _l2_norm,
    "relu": _plain(F.relu),
    "leaky_relu": lambda node, x, _: F.LeakyReLU(x, act_type="leaky", slope=node["attributes"]["alpha"]),
    "relu6": _plain(F.clip, a_min=0, a_max=6),
    "gelu": _plain(F.LeakyReLU, act_type="gelu"),
    "gelu_tanh": _gelu_tanh,
    "tanh": _plain(F.tanh),
    "sigmoid": _plain(F.sigmoid),
    "silu": lambda node, x, _: x * F.sigmoid(x),
    "hard_swish": lambda node, x, _: x * _hard_sigmoid(node, x, _),
    "hard_sigmoid": _hard_sigmoid,
    "softmax": _plain(F.softmax, axis=-1),
    "max_pool": _pool("max"),
    "max_pool3d": _pool("max"),
    "average_pool": _pool("avg"),
    "global_average_pool": _global_average_pool,
    "resize": _resize,
    "flatten": _plain(F.flatten),
    "dropout": _dropout,
    "concat": _concat,
    "add": _pairwise(F.elemwise_add, F.broadcast_add),
    "multiply": _pairwise(F.elemwise_mul, F.broadcast_mul),
    "embedding": _embedding,
    "position_embedding": _position_embedding,
    "attention": _attention,
    "cross_attention": _attention,
    "select": _select,
    "slice": _slice,
    **sequences.TABLE,
}
