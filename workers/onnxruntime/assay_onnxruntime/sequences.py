"""Operators on sequences, as those of operators.py."""

import assay_graph
import numpy


def same_for_each_sample(model, node, rows):
    """`rows`, [positions, features], with a batch of 1. Who cannot broadcast that gets a copy for each sample."""
    if model.only_meets_batches(node):
        model.add("Unsqueeze", node, [rows, model.constant(node, "front", numpy.array([0]))])
        return
    batch = model.add("Shape", node, node["inputs"], part="batch", start=0, end=1)
    shape = model.constant(node, "shape", numpy.array(node["shape"]))
    whole = model.add("Concat", node, [batch, shape], part="whole", axis=0)
    model.add("Expand", node, [rows, whole])


def _sinusoids(model, node):
    same_for_each_sample(model, node, model.constant(node, "table", assay_graph.sinusoids(node)))


def _to_sequence(model, node):
    flat = model.constant(node, "flat", numpy.array([0, 0, -1]))  # 0 keeps the dimension
    pixels = model.add("Reshape", node, [*node["inputs"], flat], part="pixels")
    model.add("Transpose", node, [pixels], perm=[0, 2, 1])


def _pairwise_dots(model, node):
    """What lies below the diagonal of the products of all vectors, row by row."""
    axis, count = model.constant(node, "axis", numpy.array([1])), len(node["inputs"])
    rows = [model.add("Unsqueeze", node, [x, axis], part="row%d" % i) for i, x in enumerate(node["inputs"])]
    together = model.add("Concat", node, rows, part="together", axis=1)
    turned = model.add("Transpose", node, [together], part="turned", perm=[0, 2, 1])
    products = model.add("MatMul", node, [together, turned], part="products")
    flat = model.add("Flatten", node, [products], part="flat", axis=1)
    below, left = numpy.tril_indices(count, -1)
    model.add("Gather", node, [flat, model.constant(node, "places", below * count + left)], axis=1)


# From the graph's order of gates to ONNX's.
_GATES = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2)}


def _recurrent(model, node):
    """ONNX Runtime wants positions in front, and gives directions an axis of their own."""
    order, (_, features) = _GATES[node["op"]], node["shape"]

    def gates(value):
        return numpy.concatenate([numpy.split(value, len(order))[gate] for gate in order])

    def biases(value):
        of_input, of_state = (value, numpy.zeros_like(value)) if node["op"] == "lstm" else value
        return numpy.concatenate([gates(of_input), gates(of_state)])[None]

    given = model.add("Transpose", node, node["inputs"], part="positions", perm=[1, 0, 2])
    weights = [model.parameter(node, part, arranged=lambda v: gates(v)[None]) for part in ("weight", "weight_state")]
    more = {"linear_before_reset": 1} if node["op"] == "gru" else {}
    bias = model.parameter(node, "bias", arranged=biases)
    out = model.add(node["op"].upper(), node, [given, *weights, bias], part="states", hidden_size=features, **more)
    one_direction = model.add("Squeeze", node, [out, model.constant(node, "axis", numpy.array([1]))], part="states.one")
    model.add("Transpose", node, [one_direction], perm=[1, 0, 2])


def _rms_norm(model, node):
    """In the parts that ONNX Runtime knows as one operator of its own; opset 20 has none."""
    two, axis = model.constant(node, "two", numpy.float32(2)), model.constant(node, "axis", numpy.array([-1]))
    squares = model.add("Pow", node, [*node["inputs"], two], part="squares")
    mean = model.add("ReduceMean", node, [squares, axis], part="mean", keepdims=1)
    epsilon = model.constant(node, "epsilon", numpy.float32(node["attributes"]["epsilon"]))
    root = model.add("Sqrt", node, [model.add("Add", node, [mean, epsilon], part="above")], part="root")
    normal = model.add("Div", node, [*node["inputs"], root], part="normal")
    model.add("Mul", node, [normal, model.parameter(node, "weight")])


def _rotary(model, node):
    """Turns the two halves of each head by an angle of its position."""
    heads, features = node["attributes"]["heads"], node["shape"][1]
    size = features // heads
    apart = model.constant(node, "apart", numpy.array([0, 0, heads, size]))  # 0 keeps the dimension
    parted = model.add("Reshape", node, [*node["inputs"], apart], part="heads")
    axis = model.constant(node, "axis", numpy.array([3]))
    ends = [model.constant(node, "end%d" % i, numpy.array([i * size // 2])) for i in range(3)]
    first = model.add("Slice", node, [parted, ends[0], ends[1], axis], part="first")
    second = model.add("Slice", node, [parted, ends[1], ends[2], axis], part="second")
    tables = zip(("cosine", "sine"), assay_graph.rotary_tables(node))
    cosine, sine = (model.constant(node, name, table[:, None]) for name, table in tables)

    def product(part, x, table):
        return model.add("Mul", node, [x, table], part=part)

    less = [product("first.cosine", first, cosine), product("second.sine", second, sine)]
    more = [product("second.cosine", second, cosine), product("first.sine", first, sine)]
    turned = [model.add("Sub", node, less, part="first.turned"), model.add("Add", node, more, part="second.turned")]
    joined = model.add("Concat", node, turned, part="turned", axis=3)
    model.add("Reshape", node, [joined, model.constant(node, "together", numpy.array([0, 0, features]))])


TABLE = {
    "sinusoids": _sinusoids,
    "rotary": _rotary,
    "rms_norm": _rms_norm,
    "lstm": _recurrent,
    "gru": _recurrent,
    "pairwise_dots": _pairwise_dots,
    "to_sequence": _to_sequence,
}
