"""Operators on sequences, as those of operators.py."""

from keras import layers as kl
from keras import ops


def _to_sequence(node, layers, x):
    return ops.reshape(x, (x.shape[0], *node["shape"]))


def _recurrent(kind):
    def entry(node, layers, x):
        layers[node["name"]] = layer = kind(node["shape"][1], return_sequences=True)
        return layer(x)

    return entry


TABLE = {
    "lstm": _recurrent(kl.LSTM),
    "gru": _recurrent(kl.GRU),
    "to_sequence": _to_sequence,
}
