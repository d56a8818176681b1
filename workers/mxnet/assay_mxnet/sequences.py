"""Operators on sequences, as those of operators.py."""

import assay_graph
import numpy
from mxnet import symbol as F


def _to_sequence(node, x, _):
    return F.transpose(F.reshape(x, shape=(0, 0, -1)), axes=(0, 2, 1), name=node["name"])


def _pairwise_dots(node, *vectors_and_parts):
    """What lies below the diagonal of the products of all vectors, row by row."""
    *vectors, part = vectors_and_parts
    together = F.stack(*vectors, axis=1)
    products = F.batch_dot(together, together, transpose_b=True)
    return F.take(F.reshape(products, shape=(0, -1)), part["places"], axis=1, name=node["name"])


def _places(node, values):
    rows, columns = numpy.tril_indices(len(node["inputs"]), -1)
    return {"places": (rows * len(node["inputs"]) + columns).astype("float32")}


def _recurrent(mode):
    """MXNet has positions in front and all parameters in one row. A bias of the state that an LSTM has not is zero."""

    def entry(node, x, part):
        features = node["shape"][1]
        weights = [F.reshape(part[name], shape=(-1,)) for name in ("weight", "weight_state", "bias")]
        if mode == "lstm":
            weights.append(F.zeros((4 * features,)))
        states = [F.zeros((1, node["batch"], features)) for _ in range(2 if mode == "lstm" else 1)]
        layer = {"mode": mode, "state_size": features, "num_layers": 1}
        out = F.RNN(F.swapaxes(x, dim1=0, dim2=1), F.concat(*weights, dim=0), *states, **layer)
        return F.swapaxes(out, dim1=0, dim2=1, name=node["name"])

    return entry


def _rms_norm(node, x, part):
    scale = F.rsqrt(F.mean(F.square(x), axis=-1, keepdims=True) + node["attributes"]["epsilon"])
    return F.broadcast_mul(F.broadcast_mul(x, scale), part["weight"], name=node["name"])


def _rotary(node, x, part):
    """Turns the two halves of each head by an angle of its position."""
    heads = node["attributes"]["heads"]
    half = node["shape"][1] // heads // 2
    parted = F.reshape(x, shape=(0, 0, heads, -1))
    first = F.slice_axis(parted, axis=-1, begin=0, end=half)
    second = F.slice_axis(parted, axis=-1, begin=half, end=2 * half)
    cosine, sine = part["cosine"], part["sine"]
    turned = (
        F.broadcast_mul(first, cosine) - F.broadcast_mul(second, sine),
        F.broadcast_mul(second, cosine) + F.broadcast_mul(first, sine),
    )
    return F.reshape(F.concat(*turned, dim=3), shape=(0, 0, -1), name=node["name"])


def _angles(node, values):
    cosine, sine = assay_graph.rotary_tables(node)
    return {"cosine": cosine[None, :, None], "sine": sine[None, :, None]}


def _sinusoids(node, _, part):
    """A fixed table, the same for each sample, whatever the input holds."""
    return F.broadcast_axis(part["table"], axis=0, size=node["batch"], name=node["name"])


FIXED = {
    "sinusoids": lambda node, values: {"table": assay_graph.sinusoids(node)[None]},
    "rotary": _angles,
    "pairwise_dots": _places,
}

TABLE = {
    "sinusoids": _sinusoids,
    "rotary": _rotary,
    "rms_norm": _rms_norm,
    "lstm": _recurrent("lstm"),
    "gru": _recurrent("gru"),
    "pairwise_dots": _pairwise_dots,
    "to_sequence": _to_sequence,
}
