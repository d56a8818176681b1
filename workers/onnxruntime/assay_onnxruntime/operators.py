"""The operators of a graph as nodes of ONNX, opset 20.

An entry takes the model under construction and a node, and adds what computes it; its output carries the node's name.
Tensors have the batch in front: dimension 0 of a graph's shape is axis 1 here.
"""

import math

import numpy

from . import sequences


def _convolution(model, node):
    a = node["attributes"]
    parameters = [model.parameter(node, p["name"]) for p in node["parameters"]]
    window = {**_window(a), "dilations": a["dilation"]} if "dilation" in a else _window(a)
    model.add("Conv", node, [node["inputs"][0], *parameters], group=a["groups"], **window)


def _transposed_convolution(model, node):
    a = node["attributes"]
    parameters = [model.parameter(node, p["name"]) for p in node["parameters"]]
    window = {"kernel_shape": a["kernel"], "strides": a["stride"]}
    model.add("ConvTranspose", node, [node["inputs"][0], *parameters], **window)


def _linear(model, node):
    """Gemm on [batch, features]; on sequences a MatMul, for which the weight is stored as [in, out]."""
    a, source = node["attributes"], node["inputs"][0]
    sequence = len(node["shape"]) > 1
    owner, transposed = a.get("shared"), sequence
    if owner:
        weight, transposed = model.shared(owner)
    else:
        weight = model.parameter(node, "weight", transposed)
    bias = [model.parameter(node, "bias")] if a["bias"] else []
    if not sequence:
        model.add("Gemm", node, [source, weight, *bias], transB=int(not transposed))
        return
    if not transposed:
        weight = model.add("Transpose", node, [weight], part="transposed", perm=[1, 0])
    product = model.add("MatMul", node, [source, weight], part="product" if bias else None)
    if bias:
        model.add("Add", node, [product, *bias])


def _batch_norm(model, node):
    names = [model.parameter(node, part) for part in ("weight", "bias")]
    names += [model.statistic(node, part) for part in ("mean", "variance")]
    model.add("BatchNormalization", node, [node["inputs"][0], *names], epsilon=node["attributes"]["epsilon"])


def _layer_norm(model, node):
    names = [model.parameter(node, part) for part in ("weight", "bias")]
    model.add("LayerNormalization", node, [node["inputs"][0], *names], epsilon=node["attributes"]["epsilon"], axis=-1)


def _local_response_norm(model, node):
    a = node["attributes"]
    model.add("LRN", node, node["inputs"], size=a["size"], alpha=a["alpha"], beta=a["beta"], bias=a["k"])


def _l2_norm(model, node):
    normal = model.add("LpNormalization", node, node["inputs"], part="normal", axis=1, p=2)
    axes = model.constant(node, "axes", numpy.array([1, 2]))
    weight = model.add("Unsqueeze", node, [model.parameter(node, "weight"), axes], part="aligned")
    model.add("Mul", node, [normal, weight])


def _relu6(model, node):
    limits = [model.constant(node, part, numpy.float32(value)) for part, value in (("least", 0), ("most", 6))]
    model.add("Clip", node, [*node["inputs"], *limits])


def _silu(model, node):
    gate = model.add("Sigmoid", node, node["inputs"], part="gate")
    model.add("Mul", node, [node["inputs"][0], gate])


def _max_pool(model, node):
    a = node["attributes"]
    model.add("MaxPool", node, node["inputs"], ceil_mode=int(bool(a.get("ceil"))), **_window(a))


def _average_pool(model, node):
    a = node["attributes"]
    more = {"ceil_mode": int(bool(a.get("ceil"))), "count_include_pad": int(bool(a.get("count_padding")))}
    model.add("AveragePool", node, node["inputs"], **more, **_window(a))


def _global_average_pool(model, node):
    pooled = model.add("GlobalAveragePool", node, node["inputs"], part="pooled")
    model.add("Flatten", node, [pooled], axis=1)


def _resize(model, node):
    sizes = model.constant(node, "sizes", numpy.array(node["attributes"]["sizes"]))
    how = {"mode": "linear", "coordinate_transformation_mode": "half_pixel", "axes": [2, 3]}
    model.add("Resize", node, [*node["inputs"], "", "", sizes], **how)


def _dropout(model, node):
    ratio = model.constant(node, "ratio", numpy.float32(node["attributes"]["probability"]))
    model.add("Dropout", node, [*node["inputs"], ratio])


def _embedding(model, node):
    owner, transposed = node["attributes"].get("shared"), False
    if owner:
        weight, transposed = model.shared(owner)
    else:
        weight = model.parameter(node, "weight")
    if transposed:
        weight = model.add("Transpose", node, [weight], part="transposed", perm=[1, 0])
    model.add("Gather", node, [weight, *node["inputs"]], axis=0)


def _position_embedding(model, node):
    """The first rows of a table, with a batch of 1. Who cannot broadcast that gets a copy for each sample."""
    length = node["shape"][0]
    rows = [model.constant(node, part, numpy.array([n])) for part, n in (("begin", 0), ("end", length), ("axis", 0))]
    first = model.add("Slice", node, [model.parameter(node, "weight"), *rows], part="rows")
    sequences.same_for_each_sample(model, node, first)


def _attention(model, node):
    """Scaled dot-product attention on [batch, positions, features], split into heads. Each head of the keys serves some
    of the queries."""
    a, (length, features) = node["attributes"], node["shape"]
    size, key_heads = features // a["heads"], a.get("key_heads", a["heads"])
    apart = model.constant(node, "apart", numpy.array([0, 0, a["heads"], size]))  # 0 keeps the dimension
    orders = {"queries": [0, 2, 1, 3], "keys": [0, 2, 3, 1], "values": [0, 2, 1, 3]}
    heads = {}
    for (part, order), source in zip(orders.items(), node["inputs"]):
        given = source
        if part != "queries" and key_heads != a["heads"]:
            given = _repeated_heads(model, node, part, source, key_heads, size)
        split = model.add("Reshape", node, [given, apart], part=part + ".split")
        heads[part] = model.add("Transpose", node, [split], part=part, perm=order)
    scale = model.constant(node, "scale", numpy.float32(1 / math.sqrt(size)))
    queries = model.add("Mul", node, [heads["queries"], scale], part="scaled")
    scores = model.add("MatMul", node, [queries, heads["keys"]], part="scores")
    if a.get("causal"):
        later = numpy.triu(numpy.full((length, length), -numpy.inf, numpy.float32), 1)
        scores = model.add("Add", node, [scores, model.constant(node, "later", later)], part="masked")
    shares = model.add("Softmax", node, [scores], part="shares", axis=-1)
    mixed = model.add("MatMul", node, [shares, heads["values"]], part="mixed")
    mixed = model.add("Transpose", node, [mixed], part="positions", perm=[0, 2, 1, 3])
    model.add("Reshape", node, [mixed, model.constant(node, "together", numpy.array([0, 0, features]))])


def _repeated_heads(model, node, part, source, key_heads, size):
    """[batch, positions, key heads, times, size]: each head as often as queries need it."""
    one = model.constant(node, part + ".one", numpy.array([0, 0, key_heads, 1, size]))
    times = model.constant(node, part + ".times", numpy.array([1, 1, 1, node["attributes"]["heads"] // key_heads, 1]))
    alone = model.add("Reshape", node, [source, one], part=part + ".alone")
    return model.add("Expand", node, [alone, times], part=part + ".repeated")


def _select(model, node):
    index = model.constant(node, "index", numpy.array(node["attributes"]["index"]))
    model.add("Gather", node, [*node["inputs"], index], axis=1)


def _slice(model, node):
    begin = node["attributes"]["begin"]
    ends = (("begin", begin), ("end", begin + node["attributes"]["length"]), ("axis", -1))
    model.add("Slice", node, [*node["inputs"], *(model.constant(node, p, numpy.array([n])) for p, n in ends)])


def _broadcast(op):
    """A second input with fewer dimensions lines up with the last ones; the batch stays in front."""

    def entry(model, node):
        first, second = node["inputs"]
        missing = len(node["input_shapes"][0]) - len(node["input_shapes"][1])
        if missing:
            axes = model.constant(node, "axes", numpy.arange(1, 1 + missing))
            second = model.add("Unsqueeze", node, [second, axes], part="aligned")
        model.add(op, node, [first, second])

    return entry


def _plain(op, **attributes):
    return lambda model, node: model.add(op, node, node["inputs"], **attributes)


def _window(attributes):
    return {
        "kernel_shape": attributes["kernel"],
        "strides": attributes["stride"],
        "pads": [*attributes["padding"], *attributes.get("padding_behind", attributes["padding"])],
    }


TABLE = {
    "convolution": _convolution,
    "dilated_convolution": _convolution,
    "convolution3d": _convolution,
    "transposed_convolution": _transposed_convolution,
    "linear": _linear,
    "batch_norm": _batch_norm,
    "layer_norm": _layer_norm,
    "local_response_norm": _local_response_norm,
    "l2_norm": _l2_norm,
    "relu": _plain("Relu"),
    "leaky_relu": lambda model, node: model.add("LeakyRelu", node, node["inputs"], alpha=node["attributes"]["alpha"]),
    "relu6": _relu6,
    "gelu": _plain("Gelu"),
    "gelu_tanh": _plain("Gelu", approximate="tanh"),
    "tanh": _plain("Tanh"),
    "sigmoid": _plain("Sigmoid"),
    "silu": _silu,
    "hard_swish": _plain("HardSwish"),
    "hard_sigmoid": _plain("HardSigmoid", alpha=1 / 6, beta=0.5),
    "softmax": _plain("Softmax", axis=-1),
    "max_pool": _max_pool,
    "max_pool3d": _max_pool,
    "average_pool": _average_pool,
    "global_average_pool": _global_average_pool,
    "resize": _resize,
    "flatten": _plain("Flatten", axis=1),
    "dropout": _dropout,
    "concat": _plain("Concat", axis=1),
    "add": _broadcast("Add"),
    "multiply": _broadcast("Mul"),
    "embedding": _embedding,
    "position_embedding": _position_embedding,
    "attention": _attention,
    "cross_attention": _attention,
    "select": _select,
    "slice": _slice,
    **sequences.TABLE,
}
