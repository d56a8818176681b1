"""Operators on sequences, as those of operators.py."""

import numpy


def _to_sequence(model, node):
    flat = model.constant(node, "flat", numpy.array([0, 0, -1]))  # 0 keeps the dimension
    pixels = model.add("Reshape", node, [*node["inputs"], flat], part="pixels")
    model.add("Transpose", node, [pixels], perm=[0, 2, 1])


TABLE = {
    "to_sequence": _to_sequence,
}
