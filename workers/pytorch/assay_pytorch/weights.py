"""Weights from a seed, scaled so that values stay finite and of ordinary size through deep networks."""

import math

import assay_graph
import torch
from torch import nn


class Drawn:
    """What values.Values is for a file."""

    def __init__(self, seed):
        self._seed = seed

    def fill(self, nodes, layers):
        """Every parameter and buffer of `layers`, node by node."""
        generator = torch.Generator().manual_seed(self._seed)
        damped = assay_graph.ends_of_branches(nodes)
        with torch.no_grad():
            for node in nodes:
                layer = layers.get(node["name"])
                if layer is not None:
                    _draw_layer(node, layer, generator)
                if node["name"] in damped:
                    layer.weight.mul_(assay_graph.RESIDUAL_SCALE)


def _draw_layer(node, layer, generator):
    def uniform(tensor, middle, half):
        tensor.uniform_(middle - half, middle + half, generator=generator)

    op = node["op"]
    if "convolution" in op:
        uniform(layer.weight, 0, math.sqrt(6 / layer.weight[0].numel()))
    elif node["attributes"].get("shared"):
        pass  # drawn with its owner
    elif op == "linear":
        uniform(layer.weight, 0, math.sqrt(3 / layer.weight.shape[1]))
    elif op in ("embedding", "position_embedding"):
        uniform(layer.weight, 0, 0.05)
    elif isinstance(layer, (nn.BatchNorm2d, nn.LayerNorm, nn.RMSNorm)):
        uniform(layer.weight, 1, 0.1)
    elif op in ("lstm", "gru"):
        for weight in (layer.weight, layer.weight_state):
            uniform(weight, 0, math.sqrt(1 / weight.shape[1]))
    elif op == "l2_norm":
        uniform(layer.weight, 20, 2)
    if getattr(layer, "bias", None) is not None:
        uniform(layer.bias, 0, 0.05)
    if isinstance(layer, nn.BatchNorm2d):
        uniform(layer.running_mean, 0, 0.1)
        uniform(layer.running_var, 1, 0.2)
