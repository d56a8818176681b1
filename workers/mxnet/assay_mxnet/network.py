"""A graph of Assay's as one hybridized Gluon block, with its loss when training."""

import assay_graph
import mxnet
import numpy
from mxnet import gluon, symbol

from . import operators


class Network:
    """`block(*inputs)` gives the output, or the loss of each sample. `names` of the inputs, the target's among them.
    `parameters`: those that are trained, by name."""

    def __init__(self, block, names, inputs, parameters):
        self.block, self.names, self.inputs, self.parameters = block, names, inputs, parameters


def build(prepare, values=None):
    """The network with its values: `values`, or those of `prepare`. Fails where it is not the graph's size."""
    graph, values = prepare.graph, values or assay_graph.values_of(prepare)
    given = {i["name"]: array(values["input/" + i["name"]]) for i in graph["inputs"]}
    symbols, trained, fixed = {name: _input(name, value) for name, value in given.items()}, {}, {}
    for node in assay_graph.nodes_of(graph, operators.TABLE):
        parts = {p["name"]: node["name"] + "/" + p["name"] for p in node["parameters"]}
        trained.update((name, values[name]) for name in parts.values())
        for part, value in operators.FIXED.get(node["op"], _nothing)(node, values).items():
            parts[part] = node["name"] + "/" + part
            fixed[parts[part]] = value
        if node["attributes"].get("shared"):
            parts["weight"] = node["attributes"]["shared"] + "/weight"
        variables = {part: symbols.setdefault(name, _parameter(name)) for part, name in parts.items()}
        node["batch"] = prepare.workload["batch"]
        arguments = [symbols[name] for name in node["inputs"]]
        symbols[node["name"]] = operators.TABLE[node["op"]](node, *arguments, variables)
    result = symbols[graph["output"]]
    if prepare.trains:
        if graph["loss"] == "cross_entropy":
            given["target"] = array(values["target"])
            symbols["target"] = _input("target", given["target"])
        result = _loss(graph, result, symbols)
    used = set(result.list_arguments())  # a position embedding does not look at its input
    names = [name for name in given if "input/" + name in used]
    block = gluon.SymbolBlock(result, [symbols[name] for name in names])
    parameters = _fill(block, trained, fixed)
    _check_parameters(parameters, graph)
    block.hybridize(static_alloc=True, static_shape=True)
    return Network(block, names, [given[name] for name in names], parameters)


def _loss(graph, output, symbols):
    """Of each sample: the mean over what it holds."""
    if graph["loss"] == "mean_square":
        return symbol.mean(symbol.square(output), axis=0, exclude=True)
    return gluon.loss.SoftmaxCrossEntropyLoss(axis=-1)(output, symbols["target"])


def _fill(block, trained, fixed):
    """Gives every parameter its value; returns those that are trained."""
    for name, parameter in block.collect_params().items():
        value = trained[name] if name in trained else fixed[name]
        parameter.shape = value.shape
        if name in fixed:
            parameter.grad_req = "null"
        parameter.initialize(mxnet.init.Zero())
        parameter.set_data(mxnet.nd.array(value))
    return {name: block.collect_params()[name] for name in trained}


def _parameter(name):
    """Of a known type: MXNet cannot infer that of places to take from, and says so on stdout."""
    return symbol.var(name, dtype="float32")


def _input(name, value):
    return symbol.var("input/" + name, shape=value.shape, dtype=value.dtype)


def array(value):
    """Integers are token numbers or classes and fit 32 bits."""
    kind = "int32" if numpy.issubdtype(value.dtype, numpy.integer) else "float32"
    return mxnet.nd.array(value, dtype=kind)


def _check_parameters(parameters, graph):
    count = sum(p.data().size for p in parameters.values())
    if count != graph["parameters"]:
        message = "built %d parameters for %s, the graph has %d: this would be another network"
        raise RuntimeError(message % (count, graph["name"], graph["parameters"]))


def _nothing(node, values):
    return {}
