"""Weights, running statistics, inputs and target from a file of values, instead of those that follow from the seed."""

import assay_graph
import numpy
import torch


class Values:
    """A file of values as tensors. What is missing or has another shape or type than the graph's has failed."""

    def __init__(self, path):
        self._path, self._arrays = path, assay_graph.read_values(path)

    def tensor(self, name, shape, dtype=torch.float32):
        """A copy of the value called `name`."""
        if name not in self._arrays:
            raise ValueError("%s has no value '%s'" % (self._path, name))
        found = torch.from_numpy(numpy.array(self._arrays[name]))
        if list(found.shape) != list(shape) or found.dtype != dtype:
            message = "%s: '%s' is %s of shape %s, the graph wants %s of shape %s"
            wanted = (self._path, name, found.dtype, list(found.shape), dtype, list(shape))
            raise ValueError(message % wanted)
        return found

    def fill(self, nodes, layers):
        """Every parameter and running statistic of `layers`."""
        with torch.no_grad():
            for node in nodes:
                for wanted in node["parameters"]:
                    name, shape = "%s/%s" % (node["name"], wanted["name"]), wanted["shape"]
                    getattr(layers[node["name"]], wanted["name"]).copy_(self.tensor(name, shape))
                if node["op"] == "batch_norm":
                    layer, channels = layers[node["name"]], node["shape"][:1]
                    layer.running_mean.copy_(self.tensor(node["name"] + "/mean", channels))
                    layer.running_var.copy_(self.tensor(node["name"] + "/variance", channels))

    def inputs(self, graph, batch):
        kinds = {"integer": torch.int64, "real": torch.float32}
        return [self.tensor("input/" + i["name"], (batch, *i["shape"]), kinds[i["type"]]) for i in graph["inputs"]]

    def target(self, graph, batch):
        """The right classes, for a network that is trained with cross entropy."""
        return self.tensor("target", (batch, *assay_graph.output_shape(graph)[:-1]), torch.int64)
