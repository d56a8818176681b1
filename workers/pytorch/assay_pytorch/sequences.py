"""Operators on sequences, as those of operators.py."""

import assay_graph
import torch
from torch import nn


class Lstm(nn.Module):
    """One layer on [batch, positions, features]. torch wants a bias of the state too: it is zero and no parameter."""

    def __init__(self, features_in, features):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(4 * features, features_in))
        self.weight_state = nn.Parameter(torch.empty(4 * features, features))
        self.bias = nn.Parameter(torch.empty(4 * features))
        self.register_buffer("no_bias", torch.zeros(4 * features), persistent=False)

    def forward(self, x):
        weights = [self.weight, self.weight_state, self.bias, self.no_bias]
        begin = x.new_zeros(1, x.shape[0], self.weight_state.shape[1])
        return torch.lstm(x, (begin, begin), weights, True, 1, 0.0, self.training, False, True)[0]


class Gru(nn.Module):
    def __init__(self, features_in, features):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(3 * features, features_in))
        self.weight_state = nn.Parameter(torch.empty(3 * features, features))
        self.bias = nn.Parameter(torch.empty(2, 3 * features))

    def forward(self, x):
        weights = [self.weight, self.weight_state, *self.bias.unbind()]
        begin = x.new_zeros(1, x.shape[0], self.weight_state.shape[1])
        return torch.gru(x, begin, weights, True, 1, 0.0, self.training, False, True)[0]


class PairwiseDots(nn.Module):
    """Dot products of each two of some vectors: what lies below the diagonal of their products, row by row."""

    def __init__(self, count):
        super().__init__()
        rows, columns = torch.tril_indices(count, count, -1)
        self.register_buffer("places", rows * count + columns, persistent=False)

    def forward(self, *vectors):
        together = torch.stack(vectors, 1)
        return torch.bmm(together, together.transpose(1, 2)).flatten(1).index_select(1, self.places)


class Rotary(nn.Module):
    """Turns the two halves of each head by an angle of its position."""

    def __init__(self, heads, cosine, sine):
        super().__init__()
        self.heads = heads
        self.register_buffer("cosine", torch.from_numpy(cosine)[:, None], persistent=False)
        self.register_buffer("sine", torch.from_numpy(sine)[:, None], persistent=False)

    def forward(self, x):
        first, second = x.unflatten(-1, (self.heads, -1)).chunk(2, -1)
        turned = (first * self.cosine - second * self.sine, second * self.cosine + first * self.sine)
        return torch.cat(turned, -1).flatten(-2)


class Sinusoids(nn.Module):
    """A fixed table, the same for each sample, whatever the input holds."""

    def __init__(self, table):
        super().__init__()
        self.register_buffer("table", torch.from_numpy(table)[None], persistent=False)

    def forward(self, x):
        return self.table.expand(x.shape[0], -1, -1)


def to_sequence(x):
    return x.flatten(2).transpose(1, 2)


def _recurrent(kind):
    return lambda node, layers: kind(node["input_shapes"][0][1], node["shape"][1])


def _rms_norm(node, _):
    return nn.RMSNorm(node["shape"][-1], eps=node["attributes"]["epsilon"])


def _rotary(node, _):
    return Rotary(node["attributes"]["heads"], *assay_graph.rotary_tables(node))


TABLE = {
    "sinusoids": lambda node, layers: Sinusoids(assay_graph.sinusoids(node)),
    "rotary": _rotary,
    "rms_norm": _rms_norm,
    "lstm": _recurrent(Lstm),
    "gru": _recurrent(Gru),
    "pairwise_dots": lambda node, layers: PairwiseDots(len(node["inputs"])),
    "to_sequence": lambda node, layers: (to_sequence, {}),
}
