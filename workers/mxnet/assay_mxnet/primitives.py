"""Primitives as networks of their own: one call of MXNet's is the whole step.

An entry of TABLE takes the options, the batch and a function that draws tensors, and returns the call and the tensors
that it works on, by name. The call returns its result.
"""

import assay_graph
import assay_primitive
import assay_worker
import mxnet
import numpy

GATES = {"lstm": 4, "gru": 3}


class Primitive(assay_primitive.Single):
    def __init__(self, prepare):
        options = assay_primitive.options_of(prepare, TABLE)
        random = numpy.random.default_rng(assay_graph.data_seed(prepare))

        def draw(*shape):
            return mxnet.nd.array(random.standard_normal(shape, "float32"))

        make = TABLE[prepare.workload["network"]]
        self.run, self.tensors = make(options, prepare.workload["batch"], draw)

    def step(self):
        self.run()
        mxnet.nd.waitall()


def _gemm(options, _, draw):
    a, b = draw(options["m"], options["k"]), draw(options["k"], options["n"])
    out = mxnet.nd.zeros((options["m"], options["n"]))
    return lambda: mxnet.nd.dot(a, b, out=out), {"a": a, "b": b}


def _batched_gemm(options, batch, draw):
    a, b = draw(batch, options["m"], options["k"]), draw(batch, options["k"], options["n"])
    out = mxnet.nd.zeros((batch, options["m"], options["n"]))
    return lambda: mxnet.nd.batch_dot(a, b, out=out), {"a": a, "b": b}


def _convolution(options, batch, draw):
    if options["pass"] != "forward":
        raise assay_worker.Refused("option pass=%r: MXNet has only forward as a call of its own." % options["pass"])
    axes, groups = assay_primitive.axes_of(options), options["groups"]
    given = draw(batch, options["channels_in"], *axes)
    weight = draw(options["channels_out"], options["channels_in"] // groups, *[options["kernel"]] * len(axes))
    window = {name: (options[key],) * len(axes) for name, key in (("kernel", "kernel"), ("stride", "stride"))}
    window.update(pad=(options["padding"],) * len(axes), num_filter=options["channels_out"], num_group=groups)
    return lambda: mxnet.nd.Convolution(given, weight, no_bias=True, **window), {"input": given, "weight": weight}


def _rnn(options, batch, draw):
    """Weights are about as large as those of a trained layer."""
    features, hidden, cell = options["features"], options["hidden"], options["cell"]
    rows = GATES[cell] * hidden
    shapes = {"weight_ih_l0": (rows, features), "weight_hh_l0": (rows, hidden), "bias_ih_l0": (rows,)}
    shapes["bias_hh_l0"] = (rows,)
    tensors = {name: draw(*shape) / hidden**0.5 for name, shape in shapes.items()}
    packed = mxnet.nd.concat(*[tensor.reshape(-1) for tensor in tensors.values()], dim=0)
    given = draw(options["sequence"], batch, features)
    states = [mxnet.nd.zeros((1, batch, hidden)) for _ in range(2 if cell == "lstm" else 1)]
    layer = {"mode": cell, "state_size": hidden, "num_layers": 1}
    return lambda: mxnet.nd.RNN(given, packed, *states, **layer), {"input": given, **tensors}


def _embedding(options, batch, draw):
    rows, features = options["rows"], options["features"]
    table = draw(rows, features)
    ids = mxnet.nd.array(numpy.random.default_rng(1).integers(rows, size=(batch, options["lookups"])), dtype="int64")
    return lambda: mxnet.nd.take(table, ids), {"table": table, "ids": ids}


def _layer_norm(options, batch, draw):
    given = draw(batch, options["sequence"], options["features"])
    scale, shift = draw(options["features"]), draw(options["features"])
    tensors = {"input": given, "scale": scale, "shift": shift}
    return lambda: mxnet.nd.LayerNorm(given, scale, shift, axis=-1, eps=1e-5), tensors


def _copy(options, _, draw):
    b, out = draw(options["elements"]), mxnet.nd.zeros(options["elements"])
    return lambda: b.copyto(out), {"b": b}


TABLE = {
    "gemm": _gemm,
    "batched_gemm": _batched_gemm,
    "conv1d": _convolution,
    "conv2d": _convolution,
    "conv3d": _convolution,
    "rnn": _rnn,
    "embedding": _embedding,
    "layer_norm": _layer_norm,
    "copy": _copy,
}
