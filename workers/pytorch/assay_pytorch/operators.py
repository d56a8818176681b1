"""The operators of a graph: each as torch's own layer or function.

An entry takes a node and the layers built so far, and returns a module, or a function with its keyword arguments. Both
are called with the node's inputs. Tensors have the batch in front: dimension 0 of a graph's shape is dimension 1 here.
"""

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import skip_init  # weights are drawn later, from the seed

from . import sequences

# These do not keep their output for the backward pass, so that an activation behind them may overwrite it.
KEEP_NO_OUTPUT = {"convolution", "linear", "batch_norm", "add"}
CAN_OVERWRITE = {"relu", "relu6"}


class PositionEmbedding(nn.Module):
    """The first rows of a table, the same for each sample, whatever the input holds."""

    def __init__(self, rows, features, length):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(rows, features))
        self.length = length

    def forward(self, x):
        return self.weight[: self.length].unsqueeze(0).expand(x.shape[0], -1, -1)


class Attention(nn.Module):
    """Scaled dot-product attention on [batch, positions, features], split into heads. Each of `key_heads` serves some
    heads of the queries."""

    def __init__(self, heads, key_heads, causal, dropout):
        super().__init__()
        self.heads = (heads, key_heads, key_heads)
        self.how = {"is_causal": causal} if heads == key_heads else {"is_causal": causal, "enable_gqa": True}
        self.dropout = dropout

    def forward(self, *queries_keys_values):
        given = zip(queries_keys_values, self.heads)
        parts = [x.unflatten(-1, (heads, -1)).transpose(1, 2) for x, heads in given]
        dropout = self.dropout if self.training else 0.0
        out = functional.scaled_dot_product_attention(*parts, dropout_p=dropout, **self.how)
        return out.transpose(1, 2).flatten(-2)


class PaddedConv3d(nn.Conv3d):
    """With other padding behind than in front."""

    def __init__(self, *arguments, sides, device=None, **named):
        super().__init__(*arguments, device=device, **named)
        self.sides = sides

    def forward(self, x):
        return super().forward(functional.pad(x, self.sides))


class L2Norm(nn.Module):
    """Channels of a pixel divided by their norm, times a weight each."""

    def __init__(self, channels):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(channels))

    def forward(self, x):
        return functional.normalize(x, dim=1) * self.weight[:, None, None]


def concatenate(*tensors):
    return torch.cat(tensors, 1)


def global_average_pool(x):
    return functional.adaptive_avg_pool2d(x, 1).flatten(1)


def _convolution(node, _):
    a = node["attributes"]
    weight = node["parameters"][0]["shape"]  # [channels out, channels in of a group, height, width]
    channels_in = weight[1] * a["groups"]
    window = {"stride": a["stride"], "padding": a["padding"], "groups": a["groups"], "bias": a["bias"]}
    return skip_init(nn.Conv2d, channels_in, a["channels"], a["kernel"], dilation=a.get("dilation") or 1, **window)


def _convolution3d(node, _):
    a = node["attributes"]
    channels_in = node["parameters"][0]["shape"][1] * a["groups"]
    window = {"stride": a["stride"], "groups": a["groups"], "bias": a["bias"]}
    if "padding_behind" not in a:
        return skip_init(nn.Conv3d, channels_in, a["channels"], a["kernel"], padding=a["padding"], **window)
    pairs = reversed(list(zip(a["padding"], a["padding_behind"])))  # torch begins with the last dimension
    return skip_init(PaddedConv3d, channels_in, a["channels"], a["kernel"], sides=[*sum(pairs, ())], **window)


def _max_pool3d(node, _):
    a = node["attributes"]
    return nn.MaxPool3d(a["kernel"], a["stride"], a["padding"], ceil_mode=bool(a.get("ceil")))


def _transposed_convolution(node, _):
    a = node["attributes"]
    channels_in = node["parameters"][0]["shape"][0]
    window = {"stride": a["stride"], "bias": a["bias"]}
    return skip_init(nn.ConvTranspose2d, channels_in, a["channels"], a["kernel"], **window)


def _linear(node, layers):
    a = node["attributes"]
    owner = a.get("shared")
    if owner is not None:
        weight = layers[owner].weight
        layer = nn.Linear(weight.shape[1], a["features"], bias=a["bias"], device="meta")
        layer.weight = weight
        if a["bias"]:
            layer.bias = nn.Parameter(torch.empty(a["features"]))
        return layer
    return skip_init(nn.Linear, node["parameters"][0]["shape"][1], a["features"], bias=a["bias"])


def _batch_norm(node, _):
    return nn.BatchNorm2d(node["shape"][0], eps=node["attributes"]["epsilon"], momentum=0.1)


def _layer_norm(node, _):
    return nn.LayerNorm(node["shape"][-1], eps=node["attributes"]["epsilon"])


def _local_response_norm(node, _):
    a = node["attributes"]
    return nn.LocalResponseNorm(a["size"], alpha=a["alpha"], beta=a["beta"], k=a["k"])


def _max_pool(node, _):
    a = node["attributes"]
    return nn.MaxPool2d(a["kernel"], a["stride"], a["padding"], ceil_mode=bool(a.get("ceil")))


def _average_pool(node, _):
    a = node["attributes"]
    counted = bool(a.get("count_padding"))
    return nn.AvgPool2d(a["kernel"], a["stride"], a["padding"], bool(a.get("ceil")), count_include_pad=counted)


def _resize(node, _):
    arguments = {"size": node["attributes"]["sizes"], "mode": "bilinear", "align_corners": False}
    return functional.interpolate, arguments


def _embedding(node, layers):
    a = node["attributes"]
    if a.get("shared") is None:
        return skip_init(nn.Embedding, a["rows"], a["features"])
    layer = nn.Embedding(a["rows"], a["features"], device="meta")
    layer.weight = layers[a["shared"]].weight
    return layer


def _position_embedding(node, _):
    return PositionEmbedding(node["attributes"]["rows"], node["attributes"]["features"], node["shape"][0])


def _attention(node, _):
    a = node["attributes"]
    return Attention(a["heads"], a.get("key_heads", a["heads"]), bool(a.get("causal")), a.get("dropout") or 0.0)


def _dropout(node, _):
    return nn.Dropout(node["attributes"]["probability"])


def _select(node, _):
    return torch.select, {"dim": 1, "index": node["attributes"]["index"]}


def _slice(node, _):
    return torch.narrow, {"dim": -1, "start": node["attributes"]["begin"], "length": node["attributes"]["length"]}


def _broadcast(function):
    """A second input with fewer dimensions lines up with the last ones; the batch stays in front."""

    def aligned(a, b):
        return function(a, b.reshape(b.shape[0], *[1] * (a.dim() - b.dim()), *b.shape[1:]))

    def entry(node, _):
        first, second = node["input_shapes"]
        return (function if len(first) == len(second) else aligned), {}

    return entry


def _plain(function, **arguments):
    return lambda node, layers: (function, arguments)


def _overwriting(function):
    """An activation that writes over its input where network.py found that nothing else needs it."""
    return lambda node, layers: (function, {"inplace": node["overwrites"]})


TABLE = {
    "convolution": _convolution,
    "dilated_convolution": _convolution,
    "convolution3d": _convolution3d,
    "transposed_convolution": _transposed_convolution,
    "linear": _linear,
    "batch_norm": _batch_norm,
    "layer_norm": _layer_norm,
    "local_response_norm": _local_response_norm,
    "l2_norm": lambda node, layers: L2Norm(node["shape"][0]),
    "relu": _overwriting(functional.relu),
    "leaky_relu": lambda node, layers: (functional.leaky_relu, {"negative_slope": node["attributes"]["alpha"]}),
    "relu6": _overwriting(functional.relu6),
    "gelu": _plain(functional.gelu),
    "gelu_tanh": _plain(functional.gelu, approximate="tanh"),
    "tanh": _plain(torch.tanh),
    "sigmoid": _plain(torch.sigmoid),
    "silu": _plain(functional.silu),
    "hard_swish": _plain(functional.hardswish),
    "hard_sigmoid": _plain(functional.hardsigmoid),
    "softmax": _plain(functional.softmax, dim=-1),
    "max_pool": _max_pool,
    "max_pool3d": _max_pool3d,
    "average_pool": _average_pool,
    "global_average_pool": _plain(global_average_pool),
    "resize": _resize,
    "flatten": _plain(torch.flatten, start_dim=1),
    "dropout": _dropout,
    "concat": _plain(concatenate),
    "add": _broadcast(torch.add),
    "multiply": _broadcast(torch.mul),
    "embedding": _embedding,
    "position_embedding": _position_embedding,
    "attention": _attention,
    "cross_attention": _attention,
    "select": _select,
    "slice": _slice,
    **sequences.TABLE,
}
