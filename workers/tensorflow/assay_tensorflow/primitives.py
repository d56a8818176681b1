"""Primitives as networks of their own: one operator of TensorFlow's, in a tf.function, is the whole step.

An entry of TABLE takes the options, the batch and a function that draws tensors, and returns the function to trace and
its arguments, by name. Images are nhwc.
"""

import assay_graph
import assay_primitive
import assay_worker
import keras
import tensorflow as tf

from . import steps


def build(prepare):
    options = assay_primitive.options_of(prepare, TABLE)
    random = tf.random.Generator.from_seed(assay_graph.data_seed(prepare))

    def draw(*shape):
        return tf.cast(random.normal(shape), keras.config.floatx())

    run, tensors = TABLE[prepare.workload["network"]](options, prepare.workload["batch"], draw)
    made = steps.Inference(tf.function, run, tuple(tensors.values()))
    made.tensors = tensors
    made.step()  # traces
    return made


def _gemm(options, _, draw):
    a, b = draw(options["m"], options["k"]), draw(options["k"], options["n"])
    return tf.matmul, {"a": a, "b": b}


def _batched_gemm(options, batch, draw):
    a, b = draw(batch, options["m"], options["k"]), draw(batch, options["k"], options["n"])
    return tf.matmul, {"a": a, "b": b}


def _conv2d(options, batch, draw):
    if options["groups"] > 1:
        raise assay_worker.Refused("option groups=%d: TensorFlow's CPU has only 1 here." % options["groups"])
    height, width, kernel, padding = (options[name] for name in ("height", "width", "kernel", "padding"))
    given = draw(batch, height, width, options["channels_in"])
    weight = draw(kernel, kernel, options["channels_in"], options["channels_out"])
    window = {"strides": [1, options["stride"], options["stride"], 1], "padding": "EXPLICIT"}
    window["explicit_paddings"] = [0, 0, padding, padding, padding, padding, 0, 0]
    if options["pass"] == "forward":
        run = lambda x, w: tf.raw_ops.Conv2D(input=x, filter=w, **window)  # noqa: E731
        return run, {"input": given, "weight": weight}
    windows = [assay_primitive.windows_along(options, size) for size in (height, width)]
    gradient = draw(batch, *windows, options["channels_out"])
    if options["pass"] == "backward_data":

        def run(g, w, x):
            return tf.raw_ops.Conv2DBackpropInput(input_sizes=tf.shape(x), filter=w, out_backprop=g, **window)

        return run, {"gradient": gradient, "weight": weight, "input": given}

    def run(x, g, w):
        return tf.raw_ops.Conv2DBackpropFilter(input=x, filter_sizes=tf.shape(w), out_backprop=g, **window)

    return run, {"input": given, "gradient": gradient, "weight": weight}


def _embedding(options, batch, draw):
    table = draw(options["rows"], options["features"])
    ids = tf.random.Generator.from_seed(1).uniform((batch, options["lookups"]), 0, options["rows"], tf.int64)
    return tf.gather, {"table": table, "ids": ids}


TABLE = {"gemm": _gemm, "batched_gemm": _batched_gemm, "conv2d": _conv2d, "embedding": _embedding}
