"""What the checks beside torch share. The oracle is plain torch.nn and torch.nn.functional code, written from the graph
contract and fed with the worker's weights."""

import assay_worker
import graphs
import torch
from assay_pytorch import network

BATCH = 3


def relative_l2(value, truth):
    return float((value.double() - truth.double()).norm() / truth.double().norm())


def assert_same(value, truth):
    assert value.shape == truth.shape, f"{tuple(value.shape)} instead of {tuple(truth.shape)}"
    assert relative_l2(value, truth) <= 1e-5, relative_l2(value, truth)


def draw(graph):
    return network.make_inputs(graph, BATCH, torch.Generator().manual_seed(5))


def weights_of(built, name):
    """Weight, then bias, of the node called `name`."""
    layer = next(n.call for n in built.nodes if n.name == name)
    return layer.weight, getattr(layer, "bias", None)


def run_infer(graph, seed=1):
    built, inputs = network.build(graph, seed), draw(graph)
    with torch.inference_mode():
        return built, inputs, built.module.eval()(*inputs)


def prepare(graph, mode="infer", batch=BATCH, **more):
    workload = {"network": graph["name"], "mode": mode, "batch": batch, "precision": "fp32", **more.pop("workload", {})}
    return assay_worker.Prepare({"workload": workload, "graph": graph, "seed": 7, **more})


def transformer(causal=True, dropout=0.0):
    """Embeddings, one attention, and a head that shares the token embedding's weight."""
    return graphs.graph(
        [graphs.tokens(6, 11)],
        [
            graphs.node("words", "embedding", "tokens", [6, 8], [[11, 8]], rows=11, features=8),
            graphs.node("places", "position_embedding", "tokens", [6, 8], [[9, 8]], rows=9, features=8),
            graphs.node("sum", "add", ["words", "places"], [6, 8]),
            graphs.linear("qkv", "sum", [6, 24], 8),
            graphs.node("q", "slice", "qkv", [6, 8], begin=0, length=8),
            graphs.node("k", "slice", "qkv", [6, 8], begin=8, length=8),
            graphs.node("v", "slice", "qkv", [6, 8], begin=16, length=8),
            graphs.node("mix", "attention", ["q", "k", "v"], [6, 8], heads=2, causal=causal, dropout=dropout),
            graphs.linear("head", "mix", [6, 11], 8, bias=False, shared="words"),
        ],
        loss="cross_entropy",
    )
