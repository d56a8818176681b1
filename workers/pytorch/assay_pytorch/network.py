"""A graph of Assay's as a module: torch.fx writes its forward(), so that a step runs no interpreter of ours."""

import collections
import functools

import assay_graph
import torch
from torch import fx, nn

from . import operators, weights


class Node:
    """One node as it is called: `call(*values)`, with the names of its inputs and of what nobody needs afterwards."""

    def __init__(self, name, inputs, call):
        self.name, self.inputs, self.call = name, inputs, call
        self.last_uses = ()


class Network:
    """The module, its nodes for those who time them one by one, its parameters by the graph's names, and `fill()` for
    their first values."""

    def __init__(self, module, nodes, inputs, output, parameters, fill):
        self.module, self.nodes, self.inputs, self.output = module, nodes, inputs, output
        self.parameters, self.fill = parameters, fill


def build(graph, seed, values=None):
    """The network in fp32 on the CPU, with weights drawn from `seed`, or those of `values`. Fails where it is not the
    graph's size."""
    described = _described(graph)
    root, built = nn.Module(), fx.Graph()
    traced = {i["name"]: built.placeholder(i["name"].replace(".", "_")) for i in graph["inputs"]}
    layers, nodes = {}, []
    for index, node in enumerate(described):
        made = operators.TABLE[node["op"]](node, layers)
        arguments = tuple(traced[name] for name in node["inputs"])
        if isinstance(made, nn.Module):
            layers[node["name"]] = made
            target = "n%d_%s" % (index, node["name"].replace(".", "_"))
            root.add_module(target, made)
            traced[node["name"]] = built.call_module(target, arguments)
            call = made
        else:
            function, named = made
            traced[node["name"]] = built.call_function(function, arguments, named)
            call = functools.partial(function, **named) if named else function
        nodes.append(Node(node["name"], node["inputs"], call))
    built.output(traced[graph["output"]])
    fill = functools.partial((values or weights.Drawn(seed)).fill, described, layers)
    fill()
    module = fx.GraphModule(root, built, class_name="AssayNetwork")
    _check_parameters(module, graph)
    _note_last_uses(nodes, graph["output"])
    names = [(node["name"], parameter["name"]) for node in described for parameter in node["parameters"]]
    parameters = {"%s/%s" % (node, part): getattr(layers[node], part) for node, part in names}
    return Network(module, nodes, [i["name"] for i in graph["inputs"]], graph["output"], parameters, fill)


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


def make_target(graph, batch, generator):
    """The right classes of a fixed batch; None where the loss needs none."""
    if graph["loss"] == "mean_square":
        return None
    shape = assay_graph.output_shape(graph)
    return torch.randint(shape[-1], (batch, *shape[:-1]), generator=generator)


def make_loss(graph, target, device):
    """The loss as a function of the output."""
    if graph["loss"] == "mean_square":
        return lambda output: output.square().mean()
    return CrossEntropy(target, device)


class CrossEntropy:
    """Of an output, or of each of its parts; take() replaces the right classes."""

    def __init__(self, target, device):
        self._device = device
        self.take(target)

    def take(self, target):
        self._target = target.to(self._device).flatten()

    def __call__(self, output):
        return nn.functional.cross_entropy(output.flatten(0, -2), self._target)


def _described(graph):
    """The nodes with what a builder must know: shapes of the inputs, and whether they may be overwritten."""
    operator_of, described = {}, []
    consumers = collections.Counter(name for node in graph["nodes"] for name in node["inputs"])
    consumers[graph["output"]] += 1
    for node in assay_graph.nodes_of(graph, operators.TABLE):
        source = node["inputs"][0]
        overwrites = (
            node["op"] in operators.CAN_OVERWRITE
            and operator_of.get(source) in operators.KEEP_NO_OUTPUT
            and consumers[source] == 1
        )
        described.append({**node, "overwrites": overwrites})
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
