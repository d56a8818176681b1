"""A user's own network: an ONNX file as it is."""

import math
import os

import assay_file
import assay_graph
import assay_worker
import numpy
import onnx
from onnx import TensorProto

from .model_file import file_hash

_OTHER_FLOATS = {TensorProto.FLOAT16: "fp16", TensorProto.BFLOAT16: "bf16", TensorProto.DOUBLE: "fp64"}
_INTEGERS = {
    TensorProto.INT64: "int64", TensorProto.INT32: "int32", TensorProto.INT16: "int16", TensorProto.INT8: "int8",
    TensorProto.UINT8: "uint8", TensorProto.BOOL: "bool",
}  # fmt: skip


class UserFile:
    """What the file holds: its inputs as arrays, symbolic dimensions with their size, and its parameters."""

    def __init__(self, inputs, fixed, parameters):
        self.inputs, self.fixed, self.parameters = inputs, fixed, parameters


def load(prepare):
    """Reads the file, without weights that lie beside it. What Assay cannot feed is refused."""
    prepare.options({})
    path, batch = prepare.file["path"], prepare.workload["batch"]
    _check_hash(prepare)
    try:
        model = onnx.load(path, load_external_data=False)
    except Exception as error:  # protobuf's own, which differ between its releases
        raise assay_worker.Refused("%s is not an ONNX file: %s." % (path, error)) from None
    graph, initialized = model.graph, {i.name for i in model.graph.initializer}
    random = numpy.random.default_rng(assay_graph.data_seed(prepare))
    inputs, fixed = {}, {}
    for wanted in graph.input:
        if wanted.name not in initialized:  # files of old releases list those too
            shape = _shape(wanted, batch, fixed)
            inputs[wanted.name] = _draw(wanted, shape, random)
    return UserFile(inputs, fixed, _count_parameters(graph))


def _check_hash(prepare):
    path = prepare.file["path"]
    try:
        assay_file.refuse_changed(prepare, file_hash(path))
    except OSError as error:
        raise assay_worker.Refused("%s cannot be read: %s." % (path, os.strerror(error.errno))) from None


def _shape(wanted, batch, fixed):
    """The input's shape with the batch in front. Symbols for the batch are added to `fixed`."""
    kind = wanted.type.tensor_type
    if not kind.HasField("shape"):
        raise assay_worker.Refused("input '%s' has no shape. Export the network with shapes." % wanted.name)
    shape = []
    for axis, dimension in enumerate(kind.shape.dim):
        if dimension.HasField("dim_value"):
            size = dimension.dim_value
            if axis == 0 and size != batch:
                message = "input '%s' has a batch of %d in the file, not %d. Add --batch %d, or export it open."
                raise assay_worker.Refused(message % (wanted.name, size, batch, size))
        elif axis == 0:
            size = batch
            if dimension.dim_param:
                fixed[dimension.dim_param] = batch
        else:
            message = "input '%s': dimension %d (%s) is open. Export it with a size; only the batch may be open."
            raise assay_worker.Refused(message % (wanted.name, axis, dimension.dim_param or "unnamed"))
        shape.append(size)
    return shape


def _draw(wanted, shape, random):
    """Real values are standard normal. What integers mean is not known: they are 0 or 1, which any table has."""
    kind = wanted.type.tensor_type.elem_type
    if kind == TensorProto.FLOAT:
        return random.standard_normal(shape, dtype="float32")
    if kind in _INTEGERS:
        return random.integers(2, size=shape).astype(_INTEGERS[kind])
    name = TensorProto.DataType.Name(kind).lower()
    raise assay_worker.Refused("input '%s' is of type %s. There is float, bool and integers." % (wanted.name, name))


def _count_parameters(graph):
    """Real numbers stored in the file, but for the running statistics of batch norms and numbers without a dimension:
    the same as `assay show --network FILE.onnx` counts."""
    statistics = {name for node in graph.node if node.op_type == "BatchNormalization" for name in node.input[3:5]}
    count = 0
    for tensor in graph.initializer:
        if tensor.data_type in _OTHER_FLOATS:
            precision = _OTHER_FLOATS[tensor.data_type]
            raise assay_worker.Refused("'%s' is %s in the file. This worker has only fp32." % (tensor.name, precision))
        if tensor.data_type == TensorProto.FLOAT and tensor.dims and tensor.name not in statistics:
            count += math.prod(tensor.dims)
    return count
