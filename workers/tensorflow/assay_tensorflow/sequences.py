"""Operators on sequences, as those of operators.py."""

import numpy
from keras import layers as kl
from keras import ops


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


TABLE = {
    "rms_norm": _rms_norm,
    "lstm": _recurrent(kl.LSTM),
    "gru": _recurrent(kl.GRU),
    "pairwise_dots": _pairwise_dots,
    "to_sequence": _to_sequence,
}
