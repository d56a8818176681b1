"""Small ONNX files for tests. Run by the interpreter of the worker's environment: python onnx_files.py FOLDER"""

import pathlib
import sys

import numpy
from onnx import TensorProto, helper, numpy_helper


def write(folder, name, inputs, nodes, arrays=(), output=("batch", 3), opset=20):
    initializers = [numpy_helper.from_array(value, key) for key, value in dict(arrays).items()]
    given = [helper.make_tensor_value_info(key, kind, shape) for key, kind, shape in inputs]
    ends = [helper.make_tensor_value_info("y", TensorProto.FLOAT, output)]
    graph = helper.make_graph(nodes, name, given, ends, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    (folder / (name + ".onnx")).write_bytes(model.SerializeToString())


def weights(dtype="float32", **shapes):
    random = numpy.random.default_rng(1)
    return {key: random.random(shape).astype(dtype) for key, shape in shapes.items()}


def dense(folder, name, shape, dtype="float32", kind=TensorProto.FLOAT):
    """y = x w + b: 4 * 3 + 3 parameters."""
    node = helper.make_node("Gemm", ["x", "w", "b"], ["y"])
    write(folder, name, [("x", kind, shape)], [node], weights(dtype, w=(4, 3), b=(3,)), (shape[0], 3))


def main(folder):
    dense(folder, "open", ["batch", 4])
    dense(folder, "unnamed", [None, 4])
    dense(folder, "fixed", [2, 4])
    dense(folder, "half", ["batch", 4], "float16", TensorProto.FLOAT16)
    wider = [
        helper.make_node("Cast", ["w"], ["v"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["x", "v"], ["y"]),
    ]
    write(folder, "half_stored", [("x", TensorProto.FLOAT, ["batch", 4])], wider, weights("float16", w=(4, 3)))
    relu = helper.make_node("Relu", ["x"], ["y"])
    write(folder, "any_size", [("x", TensorProto.FLOAT, ["batch", 3, "height", 5])], [relu], output=None)
    write(folder, "no_shape", [("x", TensorProto.FLOAT, None)], [relu], output=None)
    node = helper.make_node("StringNormalizer", ["x"], ["z"])
    write(folder, "text", [("x", TensorProto.STRING, ["batch"])], [node, helper.make_node("Relu", ["x"], ["y"])])
    # Of a batch norm, running statistics are no parameters: 2 * 3 * 1 * 1 and 2 + 2 are.
    norm = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("BatchNormalization", ["c", "scale", "bias", "mean", "variance"], ["y"]),
    ]
    arrays = weights(w=(2, 3, 1, 1), scale=(2,), bias=(2,), mean=(2,), variance=(2,))
    write(folder, "norm", [("x", TensorProto.FLOAT, ["batch", 3, 4, 4])], norm, arrays, ["batch", 2, 4, 4])
    # Two integer inputs with the same batch; a table of two rows has all that may come.
    tokens = [
        helper.make_node("Gather", ["table", "ids"], ["words"]),
        helper.make_node("Cast", ["mask"], ["real"], to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["real", "w"], ["gate"]),
        helper.make_node("ReduceSum", ["words", "axis"], ["sum"], keepdims=0),
        helper.make_node("Add", ["sum", "gate"], ["y"]),
    ]
    inputs = [("ids", TensorProto.INT64, ["batch", 5]), ("mask", TensorProto.BOOL, ["batch", 6])]
    arrays = {**weights(table=(2, 3), w=(6, 3)), "axis": numpy.array([1])}
    write(folder, "tokens", inputs, tokens, arrays)
    (folder / "no.onnx").write_bytes(b"this is not an ONNX file at all")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
