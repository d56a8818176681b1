"""Primitives as networks of their own: a model of one node.

An entry of TABLE takes the options, the batch and a function that draws arrays, and returns the node's operator, its
attributes, and its inputs by name. What is no activation is stored in the model, as in a network: ONNX Runtime may then
bring it into the layout it likes best.
"""

import assay_graph
import assay_primitive
import assay_worker
import numpy
from onnx import TensorProto, helper, numpy_helper

from . import session, writer

_ACTIVATIONS = ("a", "input", "ids")
# From torch's order of gates, by which weights have their names, to ONNX's.
_GATES = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2)}


class Primitive(session.Session):
    def __init__(self, prepare):
        options = assay_primitive.options_of(prepare, TABLE)
        random = numpy.random.default_rng(assay_graph.data_seed(prepare))

        def draw(*shape):
            return random.standard_normal(shape, "float32")

        make = TABLE[prepare.workload["network"]]
        op, attributes, self.tensors, stored = make(options, prepare.workload["batch"], draw)
        super().__init__(_model(op, attributes, stored), prepare.settings, {})
        self.bind({name: value for name, value in stored.items() if name in _ACTIVATIONS})


def _model(op, attributes, values):
    """`values` are the node's inputs in order; "" is one that is left out."""
    given, constants = [], []
    for name, value in values.items():
        if name in _ACTIVATIONS:
            kind = TensorProto.INT64 if value.dtype == numpy.int64 else TensorProto.FLOAT
            given.append(helper.make_tensor_value_info(name, kind, value.shape))
        else:
            constants.append(numpy_helper.from_array(value, name))
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, None)
    node = helper.make_node(op, list(values), ["output"], name=op, **attributes)
    graph = helper.make_graph([node], op, given, [output], constants)
    opsets = [helper.make_opsetid("", writer.OPSET)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=writer.IR_VERSION).SerializeToString()


def _plain(op, tensors, **attributes):
    return op, attributes, tensors, tensors


def _gemm(options, _, draw):
    return _plain("MatMul", {"a": draw(options["m"], options["k"]), "b": draw(options["k"], options["n"])})


def _batched_gemm(options, batch, draw):
    shapes = {"a": (batch, options["m"], options["k"]), "b": (batch, options["k"], options["n"])}
    return _plain("MatMul", {name: draw(*shape) for name, shape in shapes.items()})


def _convolution(options, batch, draw):
    if options["pass"] != "forward":
        raise assay_worker.Refused("option pass=%r: ONNX Runtime has only forward." % options["pass"])
    axes, groups = assay_primitive.axes_of(options), options["groups"]
    kernel = [options["kernel"]] * len(axes)
    given = draw(batch, options["channels_in"], *axes)
    weight = draw(options["channels_out"], options["channels_in"] // groups, *kernel)
    window = {"strides": [options["stride"]] * len(axes), "pads": [options["padding"]] * 2 * len(axes)}
    return _plain("Conv", {"input": given, "weight": weight}, kernel_shape=kernel, group=groups, **window)


def _rnn(options, batch, draw):
    """Weights are about as large as those of a trained layer."""
    features, hidden, cell = options["features"], options["hidden"], options["cell"]
    rows = len(_GATES[cell]) * hidden
    shapes = {"weight_ih_l0": (rows, features), "weight_hh_l0": (rows, hidden), "bias_ih_l0": (rows,)}
    shapes["bias_hh_l0"] = (rows,)
    tensors = {name: draw(*shape) / numpy.float32(hidden**0.5) for name, shape in shapes.items()}
    tensors["input"] = draw(options["sequence"], batch, features)

    def ordered(name):
        return numpy.concatenate([numpy.split(tensors[name], len(_GATES[cell]))[gate] for gate in _GATES[cell]])

    stored = {"input": tensors["input"], "w": ordered("weight_ih_l0")[None], "r": ordered("weight_hh_l0")[None]}
    stored["b"] = numpy.concatenate([ordered("bias_ih_l0"), ordered("bias_hh_l0")])[None]
    more = {"linear_before_reset": 1} if cell == "gru" else {}
    return cell.upper(), {"hidden_size": hidden, **more}, tensors, stored


def _embedding(options, batch, draw):
    table = draw(options["rows"], options["features"])
    ids = numpy.random.default_rng(1).integers(options["rows"], size=(batch, options["lookups"]))
    return _plain("Gather", {"table": table, "ids": ids})


def _layer_norm(options, batch, draw):
    features = options["features"]
    tensors = {"input": draw(batch, options["sequence"], features), "scale": draw(features), "shift": draw(features)}
    return _plain("LayerNormalization", tensors, axis=-1, epsilon=1e-5)


TABLE = {
    "gemm": _gemm,
    "batched_gemm": _batched_gemm,
    "conv1d": _convolution,
    "conv2d": _convolution,
    "conv3d": _convolution,
    "rnn": _rnn,
    "embedding": _embedding,
    "layer_norm": _layer_norm,
}
