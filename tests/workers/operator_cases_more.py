"""More of operator_cases.py: operators that one network or a few need."""

from graphs import graph, image, linear, node, tokens


def patches():
    """An image in patches of 2 x 3, a token in front of them, and positions."""
    window = {"kernel": [2, 3], "stride": [2, 3], "padding": [0, 0], "channels": 5, "groups": 1, "bias": True}
    return graph(
        [image([3, 4, 9])],
        [
            node("conv", "convolution", "image", [5, 2, 3], [[5, 3, 2, 3], [5]], **window),
            node("pixels", "to_sequence", "conv", [6, 5]),
            node("token", "position_embedding", "pixels", [1, 5], [[1, 5]], rows=1, features=5, length=1),
            node("all", "concat", ["token", "pixels"], [7, 5]),
            node("places", "position_embedding", "all", [7, 5], [[7, 5]], rows=7, features=5),
            node("sum", "add", ["all", "places"], [7, 5]),
        ],
    )


def maps():
    """What networks need whose output is as large as their image."""
    apart = {"kernel": [3, 2], "stride": [1, 1], "padding": [3, 1], "dilation": [3, 2], "channels": 4, "groups": 1}
    whole = {"kernel": [12, 13], "stride": [1, 1], "padding": [0, 0], "ceil": False, "count_padding": True}
    overlapping = {"channels": 3, "kernel": [3, 4], "stride": [2, 3], "bias": True}
    return graph(
        [image([3, 6, 5])],
        [
            node("apart", "dilated_convolution", "image", [4, 6, 5], [[4, 3, 3, 2], [4]], bias=True, **apart),
            node("larger", "resize", "apart", [4, 12, 13], sizes=[12, 13]),
            node("row", "average_pool", "larger", [4, 1, 1], **whole),
            node("spread", "resize", "row", [4, 12, 13], sizes=[12, 13]),
            node("both", "concat", ["larger", "spread"], [8, 12, 13]),
            node("up", "transposed_convolution", "both", [3, 25, 40], [[8, 3, 3, 4], [3]], **overlapping),
            node("normal", "l2_norm", "up", [3, 25, 40], [[3]]),
            node("leaky", "leaky_relu", "normal", [3, 25, 40], alpha=0.3),
        ],
    )


def recurrent():
    """Both kinds of cells, from one size to another."""
    named = {"weight": [20, 4], "weight_state": [20, 5], "bias": [20]}
    lstm = {**node("lstm", "lstm", "rows", [6, 5], features=5), "parameters": named_parameters(named)}
    named = {"weight": [21, 5], "weight_state": [21, 7], "bias": [2, 21]}
    gru = {**node("gru", "gru", "lstm", [6, 7], features=7), "parameters": named_parameters(named)}
    return graph([{"name": "rows", "shape": [6, 4], "type": "real"}], [lstm, gru])


def named_parameters(shapes):
    return [{"name": name, "shape": shape} for name, shape in shapes.items()]


def dots():
    """Of four vectors, each with those before it."""
    vectors = [node("v%d" % i, "select", "rows", [5], index=i) for i in range(4)]
    products = node("dots", "pairwise_dots", ["v0", "v1", "v2", "v3"], [6])
    return graph([{"name": "rows", "shape": [4, 5], "type": "real"}], [*vectors, products])


def decoder():
    """Parts of transformers that only decode."""
    return graph(
        [{"name": "rows", "shape": [6, 8], "type": "real"}],
        [
            node("normal", "rms_norm", "rows", [6, 8], [[8]], epsilon=1e-1),
            node("turned", "rotary", "normal", [6, 8], heads=2, base=100.0),
            linear("k", "normal", [6, 4], 8, bias=False),
            linear("v", "normal", [6, 4], 8, bias=False),
            node("few", "cross_attention", ["turned", "k", "v"], [6, 8], heads=4, key_heads=2, causal=True),
            node("two", "concat", ["few", "turned"], [12, 8]),
            node("over", "cross_attention", ["two", "few", "normal"], [12, 8], heads=2, causal=False, dropout=0.1),
        ],
    )


def shared_table():
    """One table for two inputs."""
    table = {"rows": 11, "features": 4}
    return graph(
        [tokens(3, 11), {"name": "others", "shape": [2], "type": "integer", "below": 11}],
        [
            node("words", "embedding", "tokens", [3, 4], [[11, 4]], **table),
            node("again", "embedding", "others", [2, 4], shared="words", **table),
            node("all", "concat", ["words", "again"], [5, 4]),
            node("places", "sinusoids", "all", [5, 4], features=4),
            node("sum", "add", ["all", "places"], [5, 4]),
            node("alone", "sinusoids", "tokens", [3, 4], features=4),
            node("both", "concat", ["sum", "alone"], [8, 4]),
        ],
    )


def volumes():
    """Windows with padding behind alone, and with as much on both sides, every two places of an axis."""
    even = {"kernel": [2, 2, 2], "stride": [1, 1, 1], "padding": [0, 0, 0], "padding_behind": [1, 1, 1]}
    other = {"kernel": [3, 1, 3], "stride": [1, 1, 2], "padding": [1, 0, 1]}
    blocks = {"kernel": [2, 2, 2], "stride": [2, 2, 2], "padding": [0, 0, 0], "ceil": False}
    return graph(
        [{"name": "volume", "shape": [3, 5, 4, 6], "type": "real"}],
        [
            node("even", "convolution3d", "volume", [4, 5, 4, 6], [[4, 3, 2, 2, 2], [4]], channels=4, groups=1,
                 bias=True, **even),
            node("other", "convolution3d", "even", [2, 5, 4, 3], [[2, 4, 3, 1, 3]], channels=2, groups=1, bias=False,
                 **other),
            node("both", "concat", ["even", "even"], [8, 5, 4, 6]),
            node("blocks", "max_pool3d", "both", [8, 2, 2, 3], **blocks),
            node("a", "flatten", "other", [120]),
            node("b", "flatten", "blocks", [96]),
            node("all", "concat", ["a", "b"], [216]),
        ],
    )  # fmt: skip


CASES = {
    "volumes": volumes(),
    "shared_table": shared_table(),
    "decoder": decoder(),
    "dots": dots(),
    "recurrent": recurrent(),
    "maps": maps(),
    "patches": patches(),
}
