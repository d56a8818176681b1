"""Writes a small image network as an ONNX file, to try Assay with: python examples/make_onnx.py model.onnx

Needs the packages onnx and numpy, which the environment of the worker onnxruntime has."""

import sys

import numpy
from onnx import TensorProto, helper, numpy_helper

WIDTH = 64
BLOCKS = 6
CLASSES = 10


def main(path):
    random = numpy.random.default_rng(1)
    arrays = {}

    def weights(name, *shape):
        arrays[name] = (random.standard_normal(shape) * 0.05).astype("float32")
        return name

    nodes = []
    last, channels = "image", 3
    for i in range(BLOCKS):
        kernel = weights(f"kernel{i}", WIDTH, channels, 3, 3)
        stride = 2 if i == 0 else 1
        nodes.append(helper.make_node("Conv", [last, kernel], [f"c{i}"], pads=[1] * 4, strides=[stride] * 2))
        nodes.append(helper.make_node("Relu", [f"c{i}"], [f"r{i}"]))
        last, channels = f"r{i}", WIDTH
    nodes.append(helper.make_node("GlobalAveragePool", [last], ["pooled"]))
    nodes.append(helper.make_node("Flatten", ["pooled"], ["flat"]))
    nodes.append(helper.make_node("Gemm", ["flat", weights("head", WIDTH, CLASSES)], ["scores"]))
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, 64, 64])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", CLASSES])],
        [numpy_helper.from_array(value, name) for name, value in arrays.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    with open(path, "wb") as file:
        file.write(model.SerializeToString())


if __name__ == "__main__":
    main(sys.argv[1])
