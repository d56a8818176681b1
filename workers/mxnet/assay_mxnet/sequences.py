"""Operators on sequences, as those of operators.py."""

from mxnet import symbol as F


def _to_sequence(node, x, _):
    return F.transpose(F.reshape(x, shape=(0, 0, -1)), axes=(0, 2, 1), name=node["name"])


FIXED = {}

TABLE = {
    "to_sequence": _to_sequence,
}
