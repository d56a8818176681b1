"""A graph of Assay's as a pure function of its values, and those values as JAX's arrays."""

import assay_graph
import jax.numpy as jnp
import numpy
from jax import nn

from . import operators


class Network:
    """What a graph computes. `layout`: see layout.py. `dtype`: of parameters and real inputs; running statistics of
    batch norms stay in fp32."""

    def __init__(self, prepare, layout, dtype):
        self._graph, self._batch = prepare.graph, prepare.workload["batch"]
        self._nodes = _with_owners(assay_graph.nodes_of(prepare.graph, operators.TABLE))
        self._layout, self._dtype = layout, dtype

    def run(self, parameters, statistics, inputs, key=None):
        """The output, and the statistics as they are afterwards. Trains where there is a key."""
        traced = operators.Pass(parameters, statistics, self._layout, self._dtype, key)
        known = {wanted["name"]: value for wanted, value in zip(self._graph["inputs"], inputs)}
        for node in self._nodes:
            known[node["name"]] = operators.TABLE[node["op"]](traced, node, *[known[name] for name in node["inputs"]])
        return known[self._graph["output"]], traced.left

    def loss(self, output, target):
        """One number. `target`: the right classes; not looked at where the loss needs none."""
        if self._graph["loss"] == "mean_square":
            return jnp.square(output).mean()
        logits = nn.log_softmax(self._layout.to_graph(output))
        return -jnp.take_along_axis(logits, target[..., None], -1).mean()

    def parameters(self, values):
        """By the names of values, from them. Fails where they are not as many as the graph's."""
        found = {}
        for node in self._nodes:
            for wanted in node["parameters"]:
                name = "%s/%s" % (node["name"], wanted["name"])
                array = _checked(name, values[name], wanted["shape"])
                found[name] = self.array(self._turned(node, wanted["name"], array))
        count = sum(array.size for array in found.values())
        if count != self._graph["parameters"]:
            message = "built %d parameters for %s, the graph has %d: this would be another network"
            raise RuntimeError(message % (count, self._graph["name"], self._graph["parameters"]))
        return found

    def statistics(self, values):
        """Running means and variances of batch norms, by the names of values."""
        norms = [node for node in self._nodes if node["op"] == "batch_norm"]
        names = ["%s/%s" % (node["name"], part) for node in norms for part in ("mean", "variance")]
        return {name: jnp.array(numpy.asarray(values[name]), jnp.float32) for name in names}

    def inputs(self, values):
        """A list in the order of the graph's, images as the layout has them."""
        found = []
        for wanted in self._graph["inputs"]:
            name = "input/" + wanted["name"]
            array = self._layout.from_graph(_checked(name, values[name], [self._batch, *wanted["shape"]]))
            found.append(jnp.array(array, jnp.int32) if wanted["type"] == "integer" else self.array(array))
        return found

    def target(self, values):
        """None where the loss needs none."""
        return jnp.array(numpy.asarray(values["target"]), jnp.int32) if self._graph["loss"] == "cross_entropy" else None

    def to_graph(self, output):
        """An output as the graph has it, as fp32 of numpy's."""
        return numpy.asarray(self.to_rows(output))

    def to_rows(self, output):
        """An output as the graph has it, in fp32."""
        return self._layout.to_graph(output).astype(jnp.float32)

    def _turned(self, node, part, array):
        """From the graph's order of dimensions to that of the operators here."""
        if not part.startswith("weight"):
            return array
        if node["op"] in operators.TURNED:
            return numpy.transpose(array)
        return self._layout.kernel(array) if "convolution" in node["op"] else array

    def array(self, array):
        """Real values in the precision of the network."""
        return jnp.array(array, self._dtype)  # a copy, which steps may overwrite


def _with_owners(nodes):
    """Nodes that share a weight get the node that has it as `owner`."""
    by_name = {}
    for node in nodes:
        shared = node["attributes"].get("shared")
        if shared is not None:
            node["owner"] = by_name[shared].get("owner", by_name[shared])
        by_name[node["name"]] = node
    return nodes


def _checked(name, array, shape):
    if list(array.shape) != list(shape):
        raise ValueError("value '%s' has shape %s, the graph says %s" % (name, list(array.shape), list(shape)))
    return numpy.asarray(array)
