"""Operators on sequences, as those of operators.py."""

import math

import assay_graph
import numpy
from keras import layers as kl
from keras import ops


class PositionEmbedding(kl.Layer):
    """The first rows of a table, the same for each sample, whatever the input holds."""

    def __init__(self, rows, features, length):
        super().__init__()
        self.embeddings = self.add_weight(shape=(rows, features), initializer="zeros", name="embeddings")
        self.length = length

    def call(self, x):
        return ops.broadcast_to(self.embeddings[: self.length], (x.shape[0], self.length, self.embeddings.shape[1]))


class Attention(kl.Layer):
    """Scaled dot-product attention on [batch, positions, features], split into heads, as in Keras' own layers. Each of
    `key_heads` serves some heads of the queries."""

    def __init__(self, heads, key_heads, causal, dropout):
        super().__init__()
        self.heads, self.key_heads, self.causal, self.dropout = heads, key_heads, causal, kl.Dropout(dropout)

    def split(self, x, heads):
        parts = ops.reshape(x, (*x.shape[:2], heads, x.shape[2] // heads))
        return parts if heads == self.heads else ops.repeat(parts, self.heads // heads, axis=2)

    def call(self, inputs, training=False):
        batch, positions, features = inputs[0].shape
        heads = (self.heads, self.key_heads, self.key_heads)
        queries, keys, values = (self.split(x, count) for x, count in zip(inputs, heads))
        scores = ops.einsum("bqhf,bkhf->bhqk", queries * (features // self.heads) ** -0.5, keys)
        if self.causal:
            hidden = numpy.triu(numpy.full((positions, positions), -math.inf, "float32"), 1)
            scores = scores + ops.cast(hidden, scores.dtype)
        shares = self.dropout(ops.softmax(scores), training=training)
        return ops.reshape(ops.einsum("bhqk,bkhf->bqhf", shares, values), (batch, positions, features))


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


def _position_embedding(node, layers, x):
    a = node["attributes"]
    layers[node["name"]] = layer = PositionEmbedding(a["rows"], a["features"], node["shape"][0])
    return layer(x)


def _attention(node, layers, *inputs):
    a = node["attributes"]
    heads, key_heads = a["heads"], a.get("key_heads", a["heads"])
    return Attention(heads, key_heads, bool(a.get("causal")), a.get("dropout") or 0.0)(list(inputs))


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
    "position_embedding": _position_embedding,
    "attention": _attention,
    "cross_attention": _attention,
    "sinusoids": _sinusoids,
    "rotary": _rotary,
    "rms_norm": _rms_norm,
    "lstm": _recurrent(kl.LSTM),
    "gru": _recurrent(kl.GRU),
    "pairwise_dots": _pairwise_dots,
    "to_sequence": _to_sequence,
}
