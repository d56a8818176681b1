"""A network of your own: assay run examples/own_network.py:build --worker pytorch --batch 1,8"""

import torch
from torch import nn


def build(width=64):
    """Options of the workload arrive as arguments: --option width=128."""
    module = nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(width, 10),
    )

    def make_input(batch):
        return torch.randn(batch, 3, 64, 64)

    return module, make_input
