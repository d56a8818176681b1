"""Operators on sequences, as those of operators.py."""

import assay_graph
import numpy
from keras import layers as kl
from keras import ops


class Rotary(kl.Layer):
    """Turns the two halves of each head by an angle of its position."""

    def __init__(self, heads, cosine, sine):
        super().__init__()
        self.heads, self.cosine, self.sine = heads, cosine[:, None], sine[:, None]

    def call(self, x):
        batch, positions, features = x.shape
        parted = ops.reshape(x, (batch, positions, self.heads, features // self.heads))
        first, second = ops.split(parted, 2, axis=-1)
        cosine, sine = ops.cast(self.cosine, x.dtype), ops.cast(self.sine, x.dtype)
        turned = [first * cosine - second * sine, second * cosine + first * sine]
        return ops.reshape(ops.concatenate(turned, axis=-1), x.shape)


class Sinusoids(kl.Layer):
    """A fixed table, the same for each sample, whatever the input holds."""

    def __init__(self, table):
        super().__init__()
        self.table = table

    def call(self, x):
        return ops.broadcast_to(ops.cast(self.table, self.compute_dtype), (x.shape[0], *self.table.shape))


def _to_sequence(node, layers, x):
    return ops.reshape(x, (x.shape[0], *node["shape"]))


def _pairwise_dots(node, layers, *vectors):
    """What lies below the diagonal of the products of all vectors, row by row."""
    count, together = len(vectors), ops.stack(vectors, axis=1)
    products = ops.matmul(together, ops.transpose(together, (0, 2, 1)))
    rows, columns = numpy.tril_indices(count, -1)
    return ops.take(ops.reshape(products, (vectors[0].shape[0], -1)), rows * count + columns, axis=1)


def _recurrent(kind):
    def entry(node, layers, x):
        layers[node["name"]] = layer = kind(node["shape"][1], return_sequences=True)
        return layer(x)

    return entry


def _rms_norm(node, layers, x):
    layers[node["name"]] = layer = kl.RMSNormalization(axis=-1, epsilon=node["attributes"]["epsilon"])
    return layer(x)


def _rotary(node, layers, x):
    return Rotary(node["attributes"]["heads"], *assay_graph.rotary_tables(node))(x)


def _sinusoids(node, layers, x):
    return Sinusoids(assay_graph.sinusoids(node))(x)


TABLE = {
    "sinusoids": _sinusoids,
    "rotary": _rotary,
    "rms_norm": _rms_norm,
    "lstm": _recurrent(kl.LSTM),
    "gru": _recurrent(kl.GRU),
    "pairwise_dots": _pairwise_dots,
    "to_sequence": _to_sequence,
}
