"""A graph of Assay's as a module: torch.fx writes its forward(), so that a step runs no interpreter of ours."""

import collections
import functools

import assay_worker
import torch
from torch import fx, nn

from . import operators, weights

VERSION = 1
LOSSES = ("cross_entropy", "mean_square")


class Node:
    """One node as it is called: `call(*values)`, with the names of its inputs and of what nobody needs afterwards."""

    def __init__(self, name, inputs, call):
        self.name, self.inputs, self.call = name, inputs, call
        self.last_uses = ()


class Network:
    """The module, and its nodes for those who time them one by one. Both are the same layers."""

    def __init__(self, module, nodes, inputs, output):
        self.module, self.nodes, self.inputs, self.output = module, nodes, inputs, output


def build(graph, seed):
    """The network with weights drawn from `seed`, in fp32 on the CPU. Fails where it is not the graph's size."""
    _refuse_unknown(graph)
    described = _described(graph)
    root, built = nn.Module(), fx.Graph()
    values = {i["name"]: built.placeholder(i["name"].replace(".", "_")) for i in graph["inputs"]}
    layers, nodes = {}, []
    for index, node in enumerate(described):
        made = operators.TABLE[node["op"]](node, layers)
        arguments = tuple(values[name] for name in node["inputs"])
        if isinstance(made, nn.Module):
            layers[node["name"]] = made
            target = "n%d_%s" % (index, node["name"].replace(".", "_"))
            root.add_module(target, made)
            values[node["name"]] = built.call_module(target, arguments)
            call = made
        else:
            function, named = made
            values[node["name"]] = built.call_function(function, arguments, named)
            call = functools.partial(function, **named) if named else function
        nodes.append(Node(node["name"], node["inputs"], call))
    built.output(values[graph["output"]])
    weights.draw(described, layers, seed)
    module = fx.GraphModule(root, built, class_name="AssayNetwork")
    _check_parameters(module, graph)
    _note_last_uses(nodes, graph["output"])
    return Network(module, nodes, [i["name"] for i in graph["inputs"]], graph["output"])


def count_parameters(module):
    """Shared tensors count once."""
    return sum(p.numel() for p in module.parameters())


def make_inputs(graph, batch, generator):
    """A fixed batch: standard normal values, or integers below a bound."""
    made = []
    for wanted in graph["inputs"]:
        shape = (batch, *wanted["shape"])
        if wanted["type"] == "integer":
            made.append(torch.randint(wanted["below"], shape, generator=generator))
        else:
            made.append(torch.randn(shape, generator=generator))
    return made


def make_loss(graph, batch, generator, device):
    """The loss as a function of the output, with a fixed target."""
    if graph["loss"] == "mean_square":
        return lambda output: output.square().mean()
    shape = next(node["shape"] for node in graph["nodes"] if node["name"] == graph["output"])
    target = torch.randint(shape[-1], (batch, *shape[:-1]), generator=generator).to(device).flatten()
    cross_entropy = nn.functional.cross_entropy
    if len(shape) == 1:
        return lambda output: cross_entropy(output, target)
    return lambda output: cross_entropy(output.flatten(0, -2), target)


def _refuse_unknown(graph):
    if graph["version"] != VERSION:
        raise assay_worker.Refused("graph version %r: this worker reads version %d." % (graph["version"], VERSION))
    for node in graph["nodes"]:
        if node["op"] not in operators.TABLE:
            raise assay_worker.Refused("operator '%s' (node %s) is unknown here." % (node["op"], node["name"]))
    if graph["loss"] not in LOSSES:
        raise assay_worker.Refused("loss '%s' is unknown here. There is %s." % (graph["loss"], ", ".join(LOSSES)))


def _described(graph):
    """The nodes with what a builder must know: shapes of the inputs, and whether they may be overwritten."""
    shapes = {i["name"]: i["shape"] for i in graph["inputs"]}
    operator_of, described = {}, []
    consumers = collections.Counter(name for node in graph["nodes"] for name in node["inputs"])
    consumers[graph["output"]] += 1
    for node in graph["nodes"]:
        source = node["inputs"][0]
        overwrites = (
            node["op"] in operators.CAN_OVERWRITE
            and operator_of.get(source) in operators.KEEP_NO_OUTPUT
            and consumers[source] == 1
        )
        described.append({**node, "input_shapes": [shapes[i] for i in node["inputs"]], "overwrites": overwrites})
        shapes[node["name"]] = node["shape"]
        operator_of[node["name"]] = node["op"]
    return described


def _check_parameters(module, graph):
    parameters = count_parameters(module)
    if parameters != graph["parameters"]:
        message = "built %d parameters for %s, the graph has %d: this would be another network"
        raise RuntimeError(message % (parameters, graph["name"], graph["parameters"]))


def _note_last_uses(nodes, output):
    """Values are let go where the generated forward() lets them go: after the last node that uses them."""
    seen = {output}
    for node in reversed(nodes):
        node.last_uses = tuple(dict.fromkeys(name for name in (*node.inputs, node.name) if name not in seen))
        seen.update(node.last_uses)
