"""Small graphs that together hold every operator with its corner cases, to compare workers with numpy_oracle.py."""

import operator_cases_more
from graphs import convolution, graph, image, linear, node, norm, pool, tokens

ACTIVATIONS = (
    "relu", "relu6", "gelu", "gelu_tanh", "tanh", "sigmoid", "silu", "hard_swish", "hard_sigmoid", "softmax", "dropout",
)  # fmt: skip


def activations():
    """On values four times as large as those drawn, so that both ends of the clamped ones are reached."""
    shape = [2, 5, 6]
    nodes = [node("twice", "add", ["image", "image"], shape), node("much", "add", ["twice", "twice"], shape)]
    for op in ACTIVATIONS:
        nodes.append(node(op, op, "much", shape, **({"probability": 0.5} if op == "dropout" else {})))
    nodes.append(node("all", "concat", ACTIVATIONS, [2 * len(ACTIVATIONS), 5, 6]))
    return graph([image(shape)], nodes)


def convolutions():
    tall = {"kernel": [1, 3], "stride": [2, 1], "padding": [0, 2], "channels": 2, "groups": 1, "bias": False}
    return graph(
        [image([4, 9, 9])],
        [
            convolution("plain", "image", [6, 5, 5], 4, kernel=3, stride=2, padding=1),
            convolution("grouped", "plain", [6, 5, 5], 6, kernel=5, padding=2, groups=3, bias=False),
            convolution("depthwise", "grouped", [6, 3, 3], 6, groups=6, padding=0),
            node("tall", "convolution", "depthwise", [2, 2, 5], [[2, 6, 1, 3]], **tall),
        ],
    )


def norms():
    return graph(
        [image([6, 4, 4])],
        [
            norm("batch", "batch_norm", "image", [6, 4, 4], 6, epsilon=1e-1),
            node("local", "local_response_norm", "batch", [6, 4, 4], size=5, alpha=0.5, beta=0.75, k=2.0),
            norm("layer", "layer_norm", "local", [6, 4, 4], 4, epsilon=1e-1),
        ],
    )


def max_pools():
    """8 wide, windows of 3 every 2: three fit, a fourth begins at 6. With windows of 2 every 3 and padding 1, a last
    one would begin in the padding behind the input, and is none."""
    return graph(
        [image([2, 8, 8])],
        [
            pool("floor", "max_pool", "image", [2, 3, 3]),
            pool("ceil", "max_pool", "image", [2, 4, 4], ceil=True),
            pool("padded", "max_pool", "image", [2, 3, 3], kernel=2, stride=3, padding=1, ceil=True),
            node("a", "flatten", "floor", [18]),
            node("b", "flatten", "ceil", [32]),
            node("c", "flatten", "padded", [18]),
            node("all", "concat", ["a", "b", "c"], [68]),
        ],
    )


def average_pools():
    nodes, flat = [], []
    for name, ceil, counted in (("a", False, False), ("b", False, True), ("c", True, False), ("d", True, True)):
        size = 5 if ceil else 4
        nodes.append(
            pool(name, "average_pool", "image", [2, size, size], kernel=3, stride=2, padding=1, ceil=ceil,
                 count_padding=counted)
        )  # fmt: skip
        nodes.append(node(name + ".flat", "flatten", name, [2 * size * size]))
        flat.append(name + ".flat")
    total = sum(n["shape"][0] for n in nodes if n["op"] == "flatten")
    return graph([image([2, 8, 8])], [*nodes, node("all", "concat", flat, [total])])


def joins():
    """Fewer dimensions, ones, and a gate."""
    return graph(
        [image([4, 6, 6])],
        [
            pool("pooled", "average_pool", "image", [4, 1, 1], kernel=6, stride=6, count_padding=True),
            node("gated", "multiply", ["image", "pooled"], [4, 6, 6]),
            node("both", "concat", ["gated", "image"], [8, 6, 6]),
            node("twice", "add", ["both", "both"], [8, 6, 6]),
            node("means", "global_average_pool", "twice", [8]),
            node("flat", "flatten", "twice", [288]),
            node("part", "slice", "flat", [8], begin=16, length=8),
            node("sum", "add", ["part", "means"], [8]),
        ],
    )


def rows():
    """[5, 8] plus [8]: one row for each sample, not one for each position."""
    return graph(
        [{"name": "rows", "shape": [5, 8], "type": "real"}],
        [
            node("third", "select", "rows", [8], index=2),
            node("sum", "add", ["rows", "third"], [5, 8]),
            node("product", "multiply", ["sum", "third"], [5, 8]),
        ],
    )


def transformer(causal):
    """Embeddings, one attention, and a head that shares the token embedding's weight."""
    return graph(
        [tokens(6, 11)],
        [
            node("words", "embedding", "tokens", [6, 8], [[11, 8]], rows=11, features=8),
            node("places", "position_embedding", "tokens", [6, 8], [[9, 8]], rows=9, features=8),
            node("sum", "add", ["words", "places"], [6, 8]),
            linear("qkv", "sum", [6, 24], 8),
            node("q", "slice", "qkv", [6, 8], begin=0, length=8),
            node("k", "slice", "qkv", [6, 8], begin=8, length=8),
            node("v", "slice", "qkv", [6, 8], begin=16, length=8),
            node("mix", "attention", ["q", "k", "v"], [6, 8], heads=2, causal=causal, dropout=0.1),
            linear("head", "mix", [6, 11], 8, bias=False, shared="words"),
        ],
        loss="cross_entropy",
    )


def places():
    """A position embedding that meets no other value of the same shape."""
    return graph(
        [tokens(4, 5)],
        [
            node("places", "position_embedding", "tokens", [4, 3], [[7, 3]], rows=7, features=3),
            node("words", "embedding", "tokens", [4, 3], [[5, 3]], rows=5, features=3),
            node("both", "concat", ["places", "words"], [8, 3]),
        ],
    )


CASES = {
    "activations": activations(),
    "convolutions": convolutions(),
    "norms": norms(),
    "max_pools": max_pools(),
    "average_pools": average_pools(),
    "joins": joins(),
    "rows": rows(),
    "transformer": transformer(False),
    "causal": transformer(True),
    "places": places(),
    **operator_cases_more.CASES,
}
