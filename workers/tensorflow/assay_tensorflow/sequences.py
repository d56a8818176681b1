"""Operators on sequences, as those of operators.py."""

from keras import ops


def _to_sequence(node, layers, x):
    return ops.reshape(x, (x.shape[0], *node["shape"]))


TABLE = {
    "to_sequence": _to_sequence,
}
