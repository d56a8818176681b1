"""Primitives as networks of their own: one function of JAX's, compiled, is the whole step.

An entry of TABLE takes the options, the batch and a Source of arrays, and returns the function to compile and its
arguments, by name. Images have their channels last, and weights their numbers of channels.
"""

import assay_graph
import assay_primitive
import jax
import jax.numpy as jnp
import numpy
from jax import lax, nn

from . import steps

_EPSILON = 1e-5  # of layer_norm, as other workers have it
_AXES = "DHW"


class Source:
    """Draws arrays from the seed, in the precision asked for."""

    def __init__(self, seed, dtype):
        self._random, self._dtype = numpy.random.default_rng(seed), dtype

    def normal(self, *shape):
        return jnp.array(self._random.standard_normal(shape, dtype="float32"), self._dtype)

    def below(self, most, *shape):
        return jnp.array(self._random.integers(most, size=shape), jnp.int32)


def build(prepare, dtype):
    options = assay_primitive.options_of(prepare, TABLE)
    source = Source(assay_graph.data_seed(prepare), dtype)
    run, arrays = TABLE[prepare.workload["network"]](options, prepare.workload["batch"], source)
    made = steps.Inference(run, tuple(arrays.values()))
    made.arrays = arrays
    made.step()  # compiles
    return made


def _gemm(options, _, source):
    a, b = source.normal(options["m"], options["k"]), source.normal(options["k"], options["n"])
    return jnp.matmul, {"a": a, "b": b}


def _batched_gemm(options, batch, source):
    a = source.normal(batch, options["m"], options["k"])
    return jnp.matmul, {"a": a, "b": source.normal(batch, options["k"], options["n"])}


def _convolution(options, batch, source):
    """Gradients are the transposes that JAX's own derivatives are made of."""
    axes, kernel, groups = assay_primitive.axes_of(options), options["kernel"], options["groups"]
    given = source.normal(batch, *axes, options["channels_in"])
    weight = source.normal(*[kernel] * len(axes), options["channels_in"] // groups, options["channels_out"])
    names = _AXES[-len(axes) :]

    def convolve(x, w):
        return lax.conv_general_dilated(
            x,
            w,
            window_strides=[options["stride"]] * len(axes),
            padding=[(options["padding"], options["padding"])] * len(axes),
            dimension_numbers=("N%sC" % names, names + "IO", "N%sC" % names),
            feature_group_count=groups,
        )

    if options["pass"] == "forward":
        return convolve, {"input": given, "weight": weight}
    windows = [assay_primitive.windows_along(options, size) for size in axes]
    gradient = source.normal(batch, *windows, options["channels_out"])
    if options["pass"] == "backward_data":

        def run(g, w, x):
            return jax.linear_transpose(lambda given: convolve(given, w), x)(g)[0]

        return run, {"gradient": gradient, "weight": weight, "input": given}

    def run(x, g, w):
        return jax.linear_transpose(lambda weight: convolve(x, weight), w)(g)[0]

    return run, {"input": given, "gradient": gradient, "weight": weight}


def _attention(options, batch, source):
    """JAX's own function, which has heads behind positions."""
    shape = (batch, options["sequence"], options["heads"], options["head_features"])
    return nn.dot_product_attention, {name: source.normal(*shape) for name in ("query", "key", "value")}


def _embedding(options, batch, source):
    table = source.normal(options["rows"], options["features"])
    ids = source.below(options["rows"], batch, options["lookups"])
    return lambda rows, wanted: rows[wanted], {"table": table, "ids": ids}


def _layer_norm(options, batch, source):
    def run(x, scale, shift):
        return nn.standardize(x, axis=-1, epsilon=_EPSILON, algorithm="stable") * scale + shift

    given, features = source.normal(batch, options["sequence"], options["features"]), options["features"]
    return run, {"input": given, "scale": source.normal(features), "shift": source.normal(features)}


def _triad(options, _, source):
    """The result is a new array in each step: JAX writes to none that it is given."""
    b, c = source.normal(options["elements"]), source.normal(options["elements"])
    return lambda b, c: b + 3 * c, {"b": b, "c": c}


TABLE = {
    "gemm": _gemm,
    "batched_gemm": _batched_gemm,
    "conv1d": _convolution,
    "conv2d": _convolution,
    "conv3d": _convolution,
    "attention": _attention,
    "embedding": _embedding,
    "layer_norm": _layer_norm,
    "triad": _triad,
}
