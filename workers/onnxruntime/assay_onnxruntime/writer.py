"""Writes a graph of Assay's as an ONNX file. Parameters are initializers, everything else constant a Constant node.

Values of the initializers stand in a file beside it (ONNX's external data), so that they are written as they are drawn
and mapped when they are read, never packed into one message.
"""

import collections

import assay_graph
import numpy
from onnx import TensorProto, helper, numpy_helper

from . import operators

VERSION = 2  # part of a cached file's name: raise it with every change of what is written
OPSET, IR_VERSION = 20, 9  # old enough for earlier releases of ONNX Runtime
ALIGNMENT = 64  # of each tensor in the data file: it is mapped and read where it lies
BATCH = "batch"


def write(graph, values, path, data_path, data_name):
    """Writes `path` and its data to `data_path`; once both are renamed, it finds the data under `data_name`."""
    with open(data_path, "wb") as data:
        model = _Model(graph, values, data, data_name)
        for node in assay_graph.nodes_of(graph, operators.TABLE):
            operators.TABLE[node["op"]](model, node)
        written = model.finished()
    _check_parameters(model.parameters, graph)
    with open(path, "wb") as file:
        file.write(written.SerializeToString())


def _check_parameters(parameters, graph):
    if parameters != graph["parameters"]:
        message = "wrote %d parameters for %s, the graph has %d: this would be another network"
        raise RuntimeError(message % (parameters, graph["name"], graph["parameters"]))


class _Model:
    """A model under construction, with what operators.py needs to add nodes to it."""

    def __init__(self, graph, values, data, data_name):
        self.parameters = 0
        self._graph, self._values, self._data, self._data_name = graph, values, data, data_name
        self._nodes, self._initializers, self._transposed = [], [], {}
        self._users = collections.defaultdict(list)
        for node in graph["nodes"]:
            for name in node["inputs"]:
                self._users[name].append(node)
        self._flat = {node["name"] for node in graph["nodes"] if node["op"] in ("position_embedding", "sinusoids")}

    def add(self, op, node, inputs, part=None, **attributes):
        """A node of ONNX; its output is that of `node`, or a `part` on the way there. Returns the output's name."""
        name = _part(node, part) if part else node["name"]
        self._nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, node, part, value):
        return self.add("Constant", node, [], part, value=numpy_helper.from_array(numpy.asarray(value)))

    def parameter(self, node, part, transposed=False, arranged=None):
        """`arranged`: a function that gives the value as ONNX wants it."""
        name = _part(node, part)
        value = self._values[name]
        self.parameters += value.size
        self._transposed[name] = transposed
        if arranged is not None:
            return self._initialize(name, arranged(value))
        return self._initialize(name, value.T if transposed else value)

    def shared(self, owner):
        """The weight of another node: its name, and whether it is stored transposed."""
        name = owner + "/weight"
        return name, self._transposed[name]

    def statistic(self, node, part):
        name = _part(node, part)
        return self._initialize(name, self._values[name])

    def only_meets_batches(self, node):
        """Whether all that uses this node's output adds it to, or multiplies it with, something that has a batch."""
        name = node["name"]
        met = [other for user in self._users[name] for other in user["inputs"] if other != name]
        fine = all(user["op"] in ("add", "multiply") for user in self._users[name])
        return fine and len(met) == len(self._users[name]) and name != self._graph["output"] and not self._flat & {*met}

    def finished(self):
        inputs = []
        for wanted in self._graph["inputs"]:
            kind = TensorProto.INT64 if wanted["type"] == "integer" else TensorProto.FLOAT
            inputs.append(helper.make_tensor_value_info(wanted["name"], kind, [BATCH, *wanted["shape"]]))
        shape = [BATCH, *assay_graph.output_shape(self._graph)]
        output = helper.make_tensor_value_info(self._graph["output"], TensorProto.FLOAT, shape)
        made = helper.make_graph(self._nodes, self._graph["name"], inputs, [output], self._initializers)
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(made, producer_name="assay", opset_imports=opsets, ir_version=IR_VERSION)

    def _initialize(self, name, value):
        value = numpy.ascontiguousarray(value, dtype="<f4")
        self._data.write(b"\0" * (-self._data.tell() % ALIGNMENT))
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=value.shape)
        tensor.data_location = TensorProto.EXTERNAL
        place = {"location": self._data_name, "offset": self._data.tell(), "length": value.nbytes}
        for key, entry in place.items():
            tensor.external_data.add(key=key, value=str(entry))
        self._data.write(value.data)
        self._initializers.append(tensor)
        return name


def _part(node, part):
    return node["name"] + "/" + part
