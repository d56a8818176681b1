"""What workers/onnxruntime computes on given values, held against numpy in double precision: every operator in small
graphs, and whole networks."""

import json
import pathlib
import subprocess

import graphs
import operator_cases_more
import pytest
from conftest import info, interpreter
from test_pytorch_networks import graph_of

ORACLE = pathlib.Path(__file__).with_name("numpy_oracle.py")
BATCH = 2
IMAGE = [4, 9, 9]


def chain(*ops):
    """Operators with one input and its shape, one after the other."""
    names = ["image", *ops]
    return graphs.graph([graphs.image(IMAGE)], [graphs.node(op, op, before, IMAGE) for before, op in zip(names, ops)])


def pools():
    """8 wide, windows of 3 every 2: a fourth begins at 6 and is not full; with padding it begins at 5 of 8."""
    nodes = []
    for op in ("max_pool", "average_pool"):
        for ceil, padding, size in ((False, 0, 3), (True, 0, 4), (False, 1, 4), (True, 1, 5)):
            more = {"count_padding": True} if op == "average_pool" else {}
            name = "%s%d%d" % (op, ceil, padding)
            nodes.append(graphs.pool(name, op, "image", [2, size, size], padding=padding, ceil=ceil, **more))
            nodes.append(graphs.node(name + "f", "flatten", name, [2 * size * size]))
    nodes.append(graphs.pool("inside", "average_pool", "image", [2, 4, 4], padding=1, ceil=False, count_padding=False))
    nodes.append(graphs.node("insidef", "flatten", "inside", [32]))
    flat = [n["name"] for n in nodes if n["op"] == "flatten"]
    size = sum(n["shape"][0] for n in nodes if n["op"] == "flatten")
    return graphs.graph([graphs.image([2, 8, 8])], [*nodes, graphs.node("all", "concat", flat, [size])])


def convolutions():
    tall = {"kernel": [1, 3], "stride": [1, 2], "padding": [0, 1], "channels": 2, "groups": 1, "bias": False}
    return graphs.graph(
        [graphs.image(IMAGE)],
        [
            graphs.convolution("plain", "image", [6, 5, 5], 4, stride=2),
            graphs.convolution("grouped", "plain", [6, 5, 5], 6, kernel=5, padding=2, groups=3, bias=False),
            graphs.convolution("depthwise", "grouped", [6, 3, 3], 6, groups=6, padding=0),
            graphs.node("tall", "convolution", "depthwise", [2, 3, 2], [[2, 6, 1, 3]], **tall),
        ],
    )  # fmt: skip


def norms():
    return graphs.graph(
        [graphs.image([6, 4, 4])],
        [
            graphs.norm("batch", "batch_norm", "image", [6, 4, 4], 6, epsilon=1e-3),
            graphs.node("local", "local_response_norm", "batch", [6, 4, 4], size=5, alpha=0.5, beta=0.75, k=2.0),
            graphs.norm("layer", "layer_norm", "local", [6, 4, 4], 4, epsilon=1e-12),
            graphs.node("drop", "dropout", "layer", [6, 4, 4], probability=0.5),
        ],
    )


def joins():
    return graphs.graph(
        [graphs.image([4, 6, 6])],
        [
            graphs.pool("pooled", "average_pool", "image", [4, 1, 1], kernel=6, stride=6, count_padding=True),
            graphs.node("gated", "multiply", ["image", "pooled"], [4, 6, 6]),
            graphs.node("both", "concat", ["gated", "image"], [8, 6, 6]),
            graphs.node("twice", "add", ["both", "both"], [8, 6, 6]),
            graphs.node("means", "global_average_pool", "twice", [8]),
            graphs.node("flat", "flatten", "twice", [288]),
            graphs.node("part", "slice", "flat", [8], begin=16, length=8),
            graphs.node("sum", "add", ["part", "means"], [8]),
        ],
    )


def rows():
    """[5, 8] plus [8]: one row for each sample, not one for each position."""
    return graphs.graph(
        [{"name": "rows", "shape": [5, 8], "type": "real"}],
        [
            graphs.node("third", "select", "rows", [8], index=2),
            graphs.node("sum", "add", ["rows", "third"], [5, 8]),
            graphs.linear("wide", "sum", [5, 3], 8),
            graphs.node("last", "select", "wide", [3], index=4),
            graphs.linear("again", "third", [3], 8, bias=False, shared="wide"),
            graphs.node("end", "multiply", ["again", "last"], [3]),
        ],
    )


def transformer(causal):
    """Embeddings, one attention, and a head that shares the token embedding's weight. Places are added to words, joined
    with them, and to each other."""
    return graphs.graph(
        [graphs.tokens(6, 11)],
        [
            graphs.node("words", "embedding", "tokens", [6, 8], [[11, 8]], rows=11, features=8),
            graphs.node("places", "position_embedding", "tokens", [6, 8], [[9, 8]], rows=9, features=8),
            graphs.node("sum", "add", ["places", "words"], [6, 8]),
            graphs.node("a", "position_embedding", "tokens", [6, 8], [[6, 8]], rows=6, features=8),
            graphs.node("b", "position_embedding", "tokens", [6, 8], [[7, 8]], rows=7, features=8),
            graphs.node("ab", "add", ["a", "b"], [6, 8]),
            graphs.node("joined", "concat", ["sum", "ab", "b"], [18, 8]),
            graphs.linear("qkv", "joined", [18, 24], 8),
            graphs.node("q", "slice", "qkv", [18, 8], begin=0, length=8),
            graphs.node("k", "slice", "qkv", [18, 8], begin=8, length=8),
            graphs.node("v", "slice", "qkv", [18, 8], begin=16, length=8),
            graphs.node("mix", "attention", ["q", "k", "v"], [18, 8], heads=2, causal=causal),
            graphs.linear("head", "mix", [18, 11], 8, bias=False, shared="words"),
        ],
    )


SMALL = {
    "activations": chain("relu6", "hard_swish", "silu", "gelu", "gelu_tanh", "tanh"),
    "gates": chain("sigmoid", "hard_sigmoid", "softmax", "relu"),
    "convolutions": convolutions(),
    "pools": pools(),
    "norms": norms(),
    "joins": joins(),
    "rows": rows(),
    "transformer": transformer(causal=False),
    "causal": transformer(causal=True),
    "residual": graphs.small_network(),
    **operator_cases_more.CASES,
}
NETWORKS = {
    "mobilenet_v2": ("image", 64),
    "googlenet": ("image", 96),
    "bert_base": ("sequence", 8),
    "gpt2": ("sequence", 8),
}
LARGER = ("googlenet", "bert_base", "gpt2")


@pytest.fixture
def distance(start, tmp_path):
    """Evaluates a graph; its relative L2 distance from the oracle's output."""

    def oracle(*arguments):
        argv = [interpreter("onnxruntime"), ORACLE, *map(str, arguments)]
        return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=120).stdout

    def asked(graph, **more):
        graph_path, values = tmp_path / "graph.json", tmp_path / "values.safetensors"
        output = tmp_path / "output.safetensors"
        graph_path.write_text(json.dumps(graph))
        oracle("draw", graph_path, BATCH, values)
        worker = start("onnxruntime")
        prepared = worker.prepare(
            network=graph["name"], graph=graph, batch=BATCH, values=str(values), seconds=60, **more
        )
        assert prepared["parameters"] == graph["parameters"], prepared
        updates = {"updates": 0, "learning_rate": 0.01, "momentum": 0.9}
        worker.send({"type": "evaluate", "output": str(output), **updates})
        assert worker.read() == {"type": "evaluated", "losses": [], "gradient_norms": {}}
        assert worker.close() == 0
        result = json.loads(oracle("compare", graph_path, values, output))
        values.unlink()  # of bert_base: half a gigabyte
        assert result["found"] == result["shape"]
        return result["distance"]

    return asked


@pytest.mark.parametrize("name", SMALL)
def test_an_operator_computes_what_it_means(distance, name):
    assert distance(SMALL[name]) < 2e-6


@pytest.mark.parametrize("name", ["mobilenet_v2", *(pytest.param(name, marks=pytest.mark.full) for name in LARGER)])
def test_a_network_computes_what_its_graph_says(distance, name):
    assert distance(graph_of(name, (NETWORKS[name],))) < 1e-5


def test_every_operator_was_tried():
    tried = {node["op"] for graph in SMALL.values() for node in graph["nodes"]}
    assert tried == set(info("onnxruntime")["operators"])


def test_primitives_compute_what_numpy_does():
    argv = [interpreter("onnxruntime"), ORACLE.with_name("onnxruntime_primitive_checks.py")]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=120)
    off = json.loads(done.stdout)
    assert {"gemm", "batched gemm", "conv3d forward", "lstm", "gru", "embedding", "layer norm"} <= off.keys()
    assert {case: value for case, value in off.items() if value > 1e-5} == {}
