"""Operators on sequences, as those of operators.py."""


def to_sequence(x):
    return x.flatten(2).transpose(1, 2)


TABLE = {
    "to_sequence": lambda node, layers: (to_sequence, {}),
}
