"""What a graph computes, in numpy and double precision, written from assay/network/graph.hpp: no framework has a part.

Run by an interpreter that has numpy, as that of a worker's environment:

    python numpy_oracle.py draw GRAPH.json BATCH VALUES      # values from seed 1
    python numpy_oracle.py compare GRAPH.json VALUES OUTPUT  # prints the shapes and the relative L2 norm as JSON
    python numpy_oracle.py draw FOLDER                       # NAME.values for each NAME.graph.json (batch and graph)
    python numpy_oracle.py compare FOLDER                    # reads each NAME.output; prints a line for each
"""

import json
import math
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "workers" / "common"))

import assay_graph
import assay_worker
import numpy
from numpy.lib.stride_tricks import sliding_window_view

ERF = numpy.vectorize(math.erf, otypes=[float])


def infer(graph, values):
    """Output of the network with the batch in front."""
    found = {i["name"]: numpy.asarray(values["input/" + i["name"]]) for i in graph["inputs"]}
    for name, value in found.items():
        if value.dtype == numpy.float32:
            found[name] = value.astype(float)
    for node in graph["nodes"]:
        parameters = {}
        for part in ("weight", "weight_state", "bias", "mean", "variance"):
            if node["name"] + "/" + part in values:
                parameters[part] = numpy.asarray(values[node["name"] + "/" + part], float)
        if node["attributes"].get("shared"):
            parameters["weight"] = numpy.asarray(values[node["attributes"]["shared"] + "/weight"], float)
        inputs = [found[name] for name in node["inputs"]]
        found[node["name"]] = OPERATORS[node["op"]](inputs, node, **parameters)
        got, wanted = found[node["name"]].shape[1:], tuple(node["shape"])
        assert got == wanted, "%s: %s instead of %s" % (node["name"], got, wanted)
    return found[graph["output"]]


def windows(x, node, fill):
    """[batch, channels, rows, columns, height, width] of what each window sees; `fill` stands in the padding, and
    NaN beyond it, where a last window is not full."""
    a, rows, columns = node["attributes"], *node["shape"][1:]
    (sh, sw), (ph, pw), (dh, dw) = a["stride"], a["padding"], a.get("dilation") or (1, 1)
    kh, kw = ((k - 1) * d + 1 for k, d in zip(a["kernel"], (dh, dw)))
    x = numpy.pad(x, ((0, 0), (0, 0), (ph, ph), (pw, pw)), constant_values=fill)
    beyond = [
        max(0, (n - 1) * s + k - size) for n, s, k, size in ((rows, sh, kh, x.shape[2]), (columns, sw, kw, x.shape[3]))
    ]
    x = numpy.pad(x, ((0, 0), (0, 0), (0, beyond[0]), (0, beyond[1])), constant_values=numpy.nan)
    seen = sliding_window_view(x, (kh, kw), (2, 3))[:, :, ::sh, ::sw][:, :, :rows, :columns]
    return seen[..., ::dh, ::dw]


def convolution(inputs, node, weight, bias=0.0):
    groups, seen = node["attributes"]["groups"], windows(inputs[0], node, 0)
    parts = zip(numpy.split(seen, groups, 1), numpy.split(weight, groups, 0))
    made = [numpy.tensordot(part, kernel, ((1, 4, 5), (1, 2, 3))) for part, kernel in parts]
    return (numpy.concatenate(made, -1) + bias).transpose(0, 3, 1, 2)


def transposed_convolution(inputs, node, weight, bias=0.0):
    """Each pixel adds its window, window by window."""
    x, (sh, sw), (kh, kw) = inputs[0], node["attributes"]["stride"], node["attributes"]["kernel"]
    out = numpy.zeros((len(x), *node["shape"]))
    for row in range(x.shape[2]):
        for column in range(x.shape[3]):
            spread = numpy.tensordot(x[:, :, row, column], weight, (1, 0))
            out[:, :, row * sh : row * sh + kh, column * sw : column * sw + kw] += spread
    return out + numpy.reshape(bias, (-1, 1, 1))


def convolution3d(inputs, node, weight, bias=0.0):
    """Place by place of the window: what lies there under all windows, times its weights."""
    a, sizes = node["attributes"], node["shape"][1:]
    behind = a.get("padding_behind", a["padding"])
    x = numpy.pad(inputs[0], ((0, 0), (0, 0), *zip(a["padding"], behind)))
    out = numpy.zeros((len(x), *node["shape"]))
    for place in numpy.ndindex(*a["kernel"]):
        parts = zip(place, a["stride"], sizes)
        seen = x[(..., *(slice(p, p + (n - 1) * s + 1, s) for p, s, n in parts))]
        out += numpy.einsum("bcdhw,oc->bodhw", seen, weight[(..., *place)])
    return out + numpy.reshape(bias, (-1, 1, 1, 1))


def max_pool3d(inputs, node):
    a, found = node["attributes"], []
    for place in numpy.ndindex(*a["kernel"]):
        parts = zip(place, a["stride"], node["shape"][1:])
        found.append(inputs[0][(..., *(slice(p, p + (n - 1) * s + 1, s) for p, s, n in parts))])
    return numpy.max(found, 0)


def linear(inputs, node, weight, bias=0.0):
    return inputs[0] @ weight.T + bias


def batch_norm(inputs, node, weight, bias, mean, variance):
    weight, bias, mean, variance = (v[:, None, None] for v in (weight, bias, mean, variance))
    return (inputs[0] - mean) / numpy.sqrt(variance + node["attributes"]["epsilon"]) * weight + bias


def layer_norm(inputs, node, weight, bias):
    centred = inputs[0] - inputs[0].mean(-1, keepdims=True)
    variance = (centred**2).mean(-1, keepdims=True)
    return centred / numpy.sqrt(variance + node["attributes"]["epsilon"]) * weight + bias


def rms_norm(inputs, node, weight):
    mean = (inputs[0] ** 2).mean(-1, keepdims=True)
    return inputs[0] / numpy.sqrt(mean + node["attributes"]["epsilon"]) * weight


def local_response_norm(inputs, node):
    """Krizhevsky's, with alpha for the mean of squares over the window; channels that are not there count as zero."""
    a, x = node["attributes"], inputs[0]
    before = a["size"] // 2
    squares = numpy.pad(x**2, ((0, 0), (before, a["size"] - 1 - before), (0, 0), (0, 0)))
    total = sliding_window_view(squares, a["size"], 1).sum(-1)
    return x / (a["k"] + a["alpha"] / a["size"] * total) ** a["beta"]


def l2_norm(inputs, node, weight):
    return inputs[0] / numpy.sqrt((inputs[0] ** 2).sum(1, keepdims=True)) * weight[:, None, None]


def softmax(x):
    exponentials = numpy.exp(x - x.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def max_pool(inputs, node):
    return numpy.nanmax(windows(inputs[0], node, -numpy.inf), (-2, -1))


def average_pool(inputs, node):
    """The divisor: cells of the input under the window, with those of the padding where it is counted."""
    inside = numpy.ones_like(inputs[0])
    counted = windows(inside, node, 1 if node["attributes"]["count_padding"] else 0)
    return numpy.nansum(windows(inputs[0], node, 0), (-2, -1)) / numpy.nansum(counted, (-2, -1))


def aligned(function):
    def entry(inputs, node):
        a, b = inputs
        return function(a, b.reshape(b.shape[0], *[1] * (a.ndim - b.ndim), *b.shape[1:]))

    return entry


def attention(inputs, node):
    batch, length, features = inputs[0].shape
    heads = node["attributes"]["heads"]
    key_heads = node["attributes"].get("key_heads", heads)
    q, k, v = (
        x.reshape(batch, x.shape[1], of, -1).transpose(0, 2, 1, 3).repeat(heads // of, 1)
        for x, of in zip(inputs, (heads, key_heads, key_heads))
    )
    scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(features // heads)
    if node["attributes"].get("causal"):
        scores[..., numpy.triu(numpy.ones((length, length), bool), 1)] = -numpy.inf
    return (softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(batch, length, features)


def pairwise_dots(inputs, node):
    found = [(inputs[i] * inputs[j]).sum(-1) for i in range(len(inputs)) for j in range(i)]
    return numpy.stack(found, 1)


def rotary(inputs, node):
    """Pairs of values as complex numbers, turned."""
    x, a = inputs[0], node["attributes"]
    heads = x.reshape(*x.shape[:2], a["heads"], 2, -1)
    half = heads.shape[-1]
    pairs = heads[..., 0, :] + 1j * heads[..., 1, :]
    angles = numpy.arange(x.shape[1])[:, None] / a["base"] ** (numpy.arange(half) / half)
    turned = pairs * numpy.exp(1j * angles)[:, None]
    return numpy.concatenate([turned.real, turned.imag], -1).reshape(x.shape)


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def lstm(inputs, node, weight, weight_state, bias):
    state, memory, states = *numpy.zeros((2, len(inputs[0]), node["shape"][1])), []
    for x in inputs[0].swapaxes(0, 1):
        let_in, keep, new, out = numpy.split(x @ weight.T + state @ weight_state.T + bias, 4, 1)
        memory = sigmoid(keep) * memory + sigmoid(let_in) * numpy.tanh(new)
        state = sigmoid(out) * numpy.tanh(memory)
        states.append(state)
    return numpy.stack(states, 1)


def gru(inputs, node, weight, weight_state, bias):
    state, states = numpy.zeros((len(inputs[0]), node["shape"][1])), []
    for x in inputs[0].swapaxes(0, 1):
        reset, update, new = numpy.split(x @ weight.T + bias[0], 3, 1)
        reset_state, update_state, new_state = numpy.split(state @ weight_state.T + bias[1], 3, 1)
        kept = sigmoid(update + update_state)
        state = (1 - kept) * numpy.tanh(new + sigmoid(reset + reset_state) * new_state) + kept * state
        states.append(state)
    return numpy.stack(states, 1)


def slice_of(inputs, node):
    begin = node["attributes"]["begin"]
    return inputs[0][..., begin : begin + node["attributes"]["length"]]


def position_embedding(inputs, node, weight):
    return numpy.stack([weight[: node["shape"][0]]] * len(inputs[0]))


def sinusoids(inputs, node):
    (length, features), angle = node["shape"], lambda p, i: p / 10000 ** (i // 2 * 2 / features)
    turns = (math.sin, math.cos)
    table = [[turns[i % 2](angle(p, i)) for i in range(features)] for p in range(length)]
    return numpy.stack([numpy.array(table)] * len(inputs[0]))


def to_sequence(x):
    return x.reshape(*x.shape[:2], -1).transpose(0, 2, 1)


def resize(inputs, node):
    """Linear between the middles of pixels, first along rows, then along columns."""
    x = inputs[0]
    for axis, size in zip((2, 3), node["attributes"]["sizes"]):
        middles = ((numpy.arange(size) + 0.5) * x.shape[axis] / size - 0.5).clip(0, x.shape[axis] - 1)
        below = numpy.floor(middles).astype(int)
        above = numpy.minimum(below + 1, x.shape[axis] - 1)
        share = (middles - below).reshape([-1 if a == axis else 1 for a in range(4)])
        x = x.take(below, axis) * (1 - share) + x.take(above, axis) * share
    return x


def one(function):
    return lambda inputs, node: function(inputs[0])


OPERATORS = {
    "convolution": convolution,
    "dilated_convolution": convolution,
    "convolution3d": convolution3d,
    "max_pool3d": max_pool3d,
    "transposed_convolution": transposed_convolution,
    "linear": linear,
    "batch_norm": batch_norm,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "local_response_norm": local_response_norm,
    "l2_norm": l2_norm,
    "relu": one(lambda x: x.clip(0)),
    "leaky_relu": lambda inputs, node: numpy.where(inputs[0] < 0, node["attributes"]["alpha"], 1) * inputs[0],
    "relu6": one(lambda x: x.clip(0, 6)),
    "gelu": one(lambda x: x * (1 + ERF(x / math.sqrt(2))) / 2),
    "gelu_tanh": one(lambda x: x * (1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2),
    "tanh": one(numpy.tanh),
    "sigmoid": one(sigmoid),
    "silu": one(lambda x: x / (1 + numpy.exp(-x))),
    "hard_swish": one(lambda x: x * ((x + 3) / 6).clip(0, 1)),
    "hard_sigmoid": one(lambda x: ((x + 3) / 6).clip(0, 1)),
    "softmax": one(softmax),
    "max_pool": max_pool,
    "average_pool": average_pool,
    "global_average_pool": one(lambda x: x.mean((2, 3))),
    "resize": resize,
    "flatten": one(lambda x: x.reshape(len(x), -1)),
    "dropout": one(lambda x: x),
    "concat": lambda inputs, node: numpy.concatenate(inputs, 1),
    "add": aligned(numpy.add),
    "multiply": aligned(numpy.multiply),
    "embedding": lambda inputs, node, weight: weight[inputs[0]],
    "position_embedding": position_embedding,
    "attention": attention,
    "cross_attention": attention,
    "pairwise_dots": pairwise_dots,
    "rotary": rotary,
    "lstm": lstm,
    "gru": gru,
    "select": lambda inputs, node: inputs[0][:, node["attributes"]["index"]],
    "slice": slice_of,
    "sinusoids": sinusoids,
    "to_sequence": one(to_sequence),
}


def names_of(graph):
    """Of all values that inferring needs."""
    names = ["input/" + i["name"] for i in graph["inputs"]]
    for node in graph["nodes"]:
        parts = [p["name"] for p in node["parameters"]] + ["mean", "variance"] * (node["op"] == "batch_norm")
        names += [node["name"] + "/" + part for part in parts]
    return names


def draw(graph, batch):
    workload = {"network": graph["name"], "mode": "infer", "batch": batch, "precision": "fp32"}
    drawn = assay_graph.values_of(assay_worker.Prepare({"workload": workload, "graph": graph, "seed": 1}))
    return {name: drawn[name] for name in names_of(graph)}


def compare(graph, values, output):
    truth, found = infer(graph, values), numpy.asarray(output, float)
    same = truth.shape == found.shape
    distance = float(numpy.linalg.norm(found - truth) / numpy.linalg.norm(truth)) if same else None
    return {"shape": truth.shape, "found": found.shape, "distance": distance}


def cases_of(folder):
    """NAME and graph with its batch for each NAME.graph.json."""
    for file in sorted(folder.glob("*.graph.json")):
        yield file.name.replace(".graph.json", ""), json.loads(file.read_text())


def draw_all(folder):
    for name, case in cases_of(folder):
        assay_graph.write_values(folder / (name + ".values"), draw(case["graph"], case["batch"]))


def compare_all(folder):
    for name, case in cases_of(folder):
        output = assay_graph.read_values(folder / (name + ".output"))["output"]
        found = compare(case["graph"], assay_graph.read_values(folder / (name + ".values")), output)
        print(json.dumps({"name": name, **found}))


def main():
    if len(sys.argv) == 3:
        return {"draw": draw_all, "compare": compare_all}[sys.argv[1]](pathlib.Path(sys.argv[2]))
    graph = json.loads(pathlib.Path(sys.argv[2]).read_text())
    if sys.argv[1] == "draw":
        assay_graph.write_values(sys.argv[4], draw(graph, int(sys.argv[3])))
    else:
        output = assay_graph.read_values(sys.argv[4])["output"]
        print(json.dumps(compare(graph, assay_graph.read_values(sys.argv[3]), output)))


if __name__ == "__main__":
    main()
