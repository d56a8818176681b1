"""Operators on sequences, [batch, positions, features], as those of operators.py. No layout touches them."""

import assay_graph
import jax.numpy as jnp
import numpy
from jax import lax, nn


def layer_norm(run, node, x):
    """Of whatever has features last; in fp32, as all norms."""
    real = x.astype(jnp.float32)
    mean = real.mean(-1, keepdims=True)
    variance = jnp.square(real - mean).mean(-1, keepdims=True)
    scale = lax.rsqrt(variance + node["attributes"]["epsilon"]) * run.parameter(node, "weight")
    return ((real - mean) * scale + run.parameter(node, "bias")).astype(x.dtype)


def _rms_norm(run, node, x):
    real = x.astype(jnp.float32)
    squares = jnp.square(real).mean(-1, keepdims=True)
    scale = lax.rsqrt(squares + node["attributes"]["epsilon"]) * run.parameter(node, "weight")
    return (real * scale).astype(x.dtype)


def _embedding(run, node, x):
    return run.table(node.get("owner", node))[x]


def _position_embedding(run, node, x):
    """The first rows of the table, the same for each sample, whatever the input holds."""
    length, features = node["shape"]
    return jnp.broadcast_to(run.parameter(node, "weight")[:length], (x.shape[0], length, features))


def _sinusoids(run, node, x):
    """A fixed table, the same for each sample, whatever the input holds."""
    table = jnp.asarray(assay_graph.sinusoids(node), run.dtype)
    return jnp.broadcast_to(table, (x.shape[0], *node["shape"]))


def _rotary(run, node, x):
    """Turns the two halves of each head by an angle of its position."""
    cosine, sine = (jnp.asarray(table[:, None], x.dtype) for table in assay_graph.rotary_tables(node))
    heads = x.reshape(*x.shape[:2], node["attributes"]["heads"], -1)
    first, second = jnp.split(heads, 2, -1)
    turned = (first * cosine - second * sine, second * cosine + first * sine)
    return jnp.concatenate(turned, -1).reshape(x.shape)


def _attention(run, node, queries, keys, values):
    """Scaled dot products, split into heads. Each of `key_heads` (k) serves a group (g) of the queries' heads."""
    a, (batch, positions, features) = node["attributes"], queries.shape
    key_heads = a.get("key_heads", a["heads"])
    queries = queries.reshape(batch, positions, key_heads, a["heads"] // key_heads, -1)
    keys, values = (x.reshape(*x.shape[:2], key_heads, -1) for x in (keys, values))
    scores = jnp.einsum("bqkgf,bpkf->bkgqp", queries, keys) * (features // a["heads"]) ** -0.5
    if a.get("causal"):
        scores = jnp.where(numpy.tri(*scores.shape[-2:], dtype=bool), scores, -jnp.inf)
    shares = run.dropped(nn.softmax(scores), a.get("dropout"))
    return jnp.einsum("bkgqp,bpkf->bqkgf", shares, values).reshape(batch, positions, features)


def _pairwise_dots(run, node, *vectors):
    """Dot products of each two: what lies below the diagonal of all products, row by row."""
    together = jnp.stack(vectors, 1)
    products = jnp.einsum("bif,bjf->bij", together, together)
    rows, columns = numpy.tril_indices(len(vectors), -1)
    return products[:, rows, columns]


def _lstm(run, node, x):
    """Gates: what is let in, what is kept, what is new, what is let out."""

    def step(carried, of_input):
        state, memory = carried
        let_in, keep, new, out = jnp.split(of_input + state @ weight_state, 4, -1)
        memory = nn.sigmoid(keep) * memory + nn.sigmoid(let_in) * jnp.tanh(new)
        state = nn.sigmoid(out) * jnp.tanh(memory)
        return (state, memory), state

    weight_state = run.parameter(node, "weight_state")
    begin = jnp.zeros((x.shape[0], node["shape"][1]), x.dtype)
    return _over_positions(step, (begin, begin), x @ run.parameter(node, "weight") + run.parameter(node, "bias"))


def _gru(run, node, x):
    """Gates: what is reset, what is kept of the state, what is new. The state has a bias of its own."""

    def step(state, of_input):
        reset, keep, new = jnp.split(of_input, 3, -1)
        reset_state, keep_state, new_state = jnp.split(state @ weight_state + bias_state, 3, -1)
        kept = nn.sigmoid(keep + keep_state)
        state = (1 - kept) * jnp.tanh(new + nn.sigmoid(reset + reset_state) * new_state) + kept * state
        return state, state

    weight_state, (bias, bias_state) = run.parameter(node, "weight_state"), run.parameter(node, "bias")
    begin = jnp.zeros((x.shape[0], node["shape"][1]), x.dtype)
    return _over_positions(step, begin, x @ run.parameter(node, "weight") + bias)


def _over_positions(step, begin, of_input):
    """States of a cell, position by position. `of_input`: its share in the gates, computed for all at once."""
    return lax.scan(step, begin, of_input.swapaxes(0, 1))[1].swapaxes(0, 1)


TABLE = {
    "rms_norm": _rms_norm,
    "embedding": _embedding,
    "position_embedding": _position_embedding,
    "sinusoids": _sinusoids,
    "rotary": _rotary,
    "attention": _attention,
    "cross_attention": _attention,
    "pairwise_dots": _pairwise_dots,
    "lstm": _lstm,
    "gru": _gru,
}
