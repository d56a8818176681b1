"""Checks of workers/mxnet that need numpy and mxnet beside them. Run by the interpreter of that worker's environment:

    ENVIRONMENT/bin/python tests/workers/mxnet_checks.py

Prints a line of JSON for each check; test_mxnet.py shows each as a test. The oracle is numpy in double precision,
written here from the meaning of the operators.
"""

import json
import math
import pathlib
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "workers" / "mxnet"), str(ROOT / "workers" / "common")]

import assay_graph  # noqa: E402
import assay_worker  # noqa: E402
import graphs  # noqa: E402
import numpy as np  # noqa: E402
import numpy_oracle  # noqa: E402
import operator_cases_more  # noqa: E402
import primitive_oracle  # noqa: E402
from assay_mxnet import network, primitives, steps  # noqa: E402

BATCH = 3


def prepare(graph, mode="infer"):
    workload = {"network": graph["name"], "mode": mode, "batch": BATCH, "precision": "fp32"}
    return assay_worker.Prepare({"workload": workload, "graph": graph, "seed": 7})


def run(graph):
    """Values by name in double precision, and the output."""
    asked = prepare(graph)
    built, drawn = network.build(asked), assay_graph.values_of(asked)
    return (lambda name: drawn[name].astype("float64" if drawn[name].dtype.kind == "f" else "int64")), built.block(
        *built.inputs
    ).asnumpy()


def assert_same(value, truth, bound=1e-5):
    assert value.shape == truth.shape, "%s instead of %s" % (value.shape, truth.shape)
    error = np.linalg.norm(value - truth) / np.linalg.norm(truth)
    assert error <= bound, error


def check_primitives_compute_what_numpy_does():
    for case, (name, batch, options) in primitive_oracle.CASES.items():
        if name not in primitives.TABLE or options.get("pass", "forward") != "forward":
            continue
        asked = assay_worker.Prepare({"workload": primitive_oracle.workload(name, batch, options), "seed": 7})
        made = primitives.Primitive(asked)
        made.step()
        tensors = {key: tensor.asnumpy() for key, tensor in made.tensors.items()}
        off = primitive_oracle.difference(made.run().asnumpy(), primitive_oracle.wanted(name, options, tensors))
        assert off < 1e-5, "%s is off by %g" % (case, off)


def check_a_pass_that_mxnet_has_not_is_refused():
    asked = primitive_oracle.workload("conv2d", 1, {"pass": "backward_data"})
    try:
        primitives.Primitive(assay_worker.Prepare({"workload": asked, "seed": 7}))
    except assay_worker.Refused as refusal:
        assert "backward_data" in str(refusal)
    else:
        raise AssertionError("it was taken")


def windows(x, kernel, stride, padding, count, fill):
    """[…, out, out, kernel, kernel] of an image, filled up behind as far as windows reach."""
    more = (count - 1) * stride + kernel
    sides = [(padding, max(0, more - size - padding)) for size in x.shape[2:]]
    x = np.pad(x, [(0, 0), (0, 0), *sides], constant_values=fill)
    rows = [
        [x[:, :, i : i + kernel, j : j + kernel] for j in range(0, count * stride, stride)]
        for i in range(0, count * stride, stride)
    ]
    return np.stack([np.stack(row, 2) for row in rows], 2)


def convolve(x, weight, bias, stride, padding, groups):
    kernel, count = weight.shape[-1], (x.shape[2] + 2 * padding - weight.shape[-1]) // stride + 1
    parts = [
        np.einsum("bcijhw,ochw->boij", windows(part, kernel, stride, padding, count, 0.0), filters)
        for part, filters in zip(np.split(x, groups, 1), np.split(weight, groups, 0))
    ]
    return np.concatenate(parts, 1) + (0 if bias is None else bias[:, None, None])


def softmax(x):
    shares = np.exp(x - x.max(-1, keepdims=True))
    return shares / shares.sum(-1, keepdims=True)


def check_operators_of_a_few_networks():
    for graph in operator_cases_more.CASES.values():
        value_of, output = run(graph)
        values = {name: value_of(name) for name in numpy_oracle.names_of(graph)}
        assert_same(output, numpy_oracle.infer(graph, values))


def check_one_input_operators():
    shape = [4, 5, 6]
    x = run(graphs.graph([graphs.image(shape)], [graphs.node("a", "relu", "image", shape)]))[0]("input/image")
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    clamped = np.clip((x + 3) / 6, 0, 1)
    formulas = {
        "relu": np.maximum(x, 0),
        "relu6": np.clip(x, 0, 6),
        "gelu": x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2,
        "gelu_tanh": x * (1 + np.tanh(inner)) / 2,
        "tanh": np.tanh(x),
        "sigmoid": 1 / (1 + np.exp(-x)),
        "silu": x / (1 + np.exp(-x)),
        "hard_swish": x * clamped,
        "hard_sigmoid": clamped,
        "softmax": softmax(x),
        "global_average_pool": x.mean((2, 3)),
        "flatten": x.reshape(BATCH, -1),
    }
    for op, truth in formulas.items():
        graph = graphs.graph([graphs.image(shape)], [graphs.node("a", op, "image", list(truth.shape[1:]))])
        assert_same(run(graph)[1], truth)


def check_convolution_with_groups_stride_and_padding():
    graph = graphs.graph(
        [graphs.image([4, 9, 9])],
        [
            graphs.convolution("plain", "image", [6, 5, 5], 4, kernel=3, stride=2, padding=1),
            graphs.convolution("grouped", "plain", [6, 5, 5], 6, kernel=5, padding=2, groups=3, bias=False),
            graphs.convolution("depthwise", "grouped", [6, 3, 3], 6, groups=6, padding=0),
        ],
    )
    values, output = run(graph)
    x = convolve(values("input/image"), values("plain/weight"), values("plain/bias"), 2, 1, 1)
    x = convolve(x, values("grouped/weight"), None, 1, 2, 3)
    assert_same(output, convolve(x, values("depthwise/weight"), values("depthwise/bias"), 1, 0, 6))


def check_norms():
    graph = graphs.graph(
        [graphs.image([6, 4, 4])],
        [
            graphs.norm("batch", "batch_norm", "image", [6, 4, 4], 6, epsilon=1e-3),
            graphs.node("local", "local_response_norm", "batch", [6, 4, 4], size=5, alpha=1e-2, beta=0.75, k=2.0),
            graphs.norm("layer", "layer_norm", "local", [6, 4, 4], 4, epsilon=1e-12),
        ],
    )
    values, output = run(graph)
    mean, variance, weight, bias = (
        values("batch/" + part)[:, None, None] for part in ("mean", "variance", "weight", "bias")
    )
    x = (values("input/image") - mean) / np.sqrt(variance + 1e-3) * weight + bias
    squares = np.pad(x**2, ((0, 0), (2, 2), (0, 0), (0, 0)))
    x = x / (2 + 1e-2 / 5 * sum(squares[:, i : i + 6] for i in range(5))) ** 0.75
    centred = x - x.mean(-1, keepdims=True)
    x = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    assert_same(output, x * values("layer/weight") + values("layer/bias"))


def check_an_even_local_response_norm_is_refused():
    node = graphs.node("local", "local_response_norm", "image", [6, 4, 4], size=4, alpha=1.0, beta=0.75, k=2.0)
    try:
        run(graphs.graph([graphs.image([6, 4, 4])], [node]))
    except assay_worker.Refused as refused:
        assert "local" in str(refused) and "4" in str(refused)
    else:
        raise AssertionError("it was taken")


# size, kernel, stride, padding, ceil, windows there are. The rule: a window must begin in the image or before it.
POOLS = [
    (8, 3, 2, 0, False, 3),
    (8, 3, 2, 0, True, 4),  # the last has two columns
    (7, 2, 2, 1, True, 4),  # a fifth would begin at 7, behind the image
    (5, 2, 3, 1, True, 2),
    (6, 3, 2, 1, True, 4),  # the last has the last column and padding, and one column beyond that
    (9, 3, 2, 1, True, 5),  # up and down are the same
]


def check_max_pools():
    for size, kernel, stride, padding, ceil, count in POOLS:
        window = {"kernel": kernel, "stride": stride, "padding": padding, "ceil": ceil}
        node = graphs.pool("pool", "max_pool", "image", [2, count, count], **window)
        values, output = run(graphs.graph([graphs.image([2, size, size])], [node]))
        held = windows(values("input/image"), kernel, stride, padding, count, -np.inf)
        assert_same(output, held.max((-1, -2)))


def check_average_pools():
    """Divided by what a window holds of the image, or of image and padding; never by what lies beyond."""
    for size, kernel, stride, padding, ceil, count in POOLS:
        for counted in (False, True):
            window = {"kernel": kernel, "stride": stride, "padding": padding, "ceil": ceil, "count_padding": counted}
            node = graphs.pool("pool", "average_pool", "image", [2, count, count], **window)
            values, output = run(graphs.graph([graphs.image([2, size, size])], [node]))
            x = values("input/image")
            inside = np.ones((1, 1, size, size))
            if counted:
                inside = np.pad(inside, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
                inside[:] = 1
            divisors = windows(inside, kernel, stride, 0 if counted else padding, count, 0.0).sum((-1, -2))
            assert_same(output, windows(x, kernel, stride, padding, count, 0.0).sum((-1, -2)) / divisors)


def check_joins_and_shapes():
    graph = graphs.graph(
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
    values, output = run(graph)
    x = values("input/image")
    twice = 2 * np.concatenate([x * x.mean((2, 3), keepdims=True), x], 1)
    assert_same(output, twice.reshape(BATCH, -1)[:, 16:24] + twice.mean((2, 3)))


def check_a_second_input_may_lack_leading_dimensions():
    graph = graphs.graph(
        [{"name": "rows", "shape": [5, 8], "type": "real"}],
        [
            graphs.node("third", "select", "rows", [8], index=2),
            graphs.node("sum", "add", ["rows", "third"], [5, 8]),
        ],
    )
    values, output = run(graph)
    assert_same(output, np.stack([sample + sample[2] for sample in values("input/rows")]))


def check_attention_and_embeddings():
    for causal in (False, True):
        graph = graphs.graph(
            [graphs.tokens(6, 11)],
            [
                graphs.node("words", "embedding", "tokens", [6, 8], [[11, 8]], rows=11, features=8),
                graphs.node("places", "position_embedding", "tokens", [6, 8], [[9, 8]], rows=9, features=8),
                graphs.node("sum", "add", ["words", "places"], [6, 8]),
                graphs.linear("qkv", "sum", [6, 24], 8),
                graphs.node("q", "slice", "qkv", [6, 8], begin=0, length=8),
                graphs.node("k", "slice", "qkv", [6, 8], begin=8, length=8),
                graphs.node("v", "slice", "qkv", [6, 8], begin=16, length=8),
                graphs.node("mixed", "attention", ["q", "k", "v"], [6, 8], heads=2, causal=causal, dropout=0.0),
                graphs.linear("head", "mixed", [6, 11], 8, bias=False, shared="words"),
            ],
        )
        values, output = run(graph)
        x = values("words/weight")[values("input/tokens")] + values("places/weight")[:6]
        x = x @ values("qkv/weight").T + values("qkv/bias")
        q, k, v = (part.reshape(BATCH, 6, 2, 4).transpose(0, 2, 1, 3) for part in np.split(x, 3, -1))
        scores = q @ k.transpose(0, 1, 3, 2) / 2
        if causal:
            scores = np.where(np.tri(6, dtype=bool), scores, -np.inf)
        mixed = (softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(BATCH, 6, 8)
        assert_same(output, mixed @ values("words/weight").T)


def check_dropout_only_in_training():
    shape = [100, 100]
    node = graphs.node("drop", "dropout", "rows", shape, probability=0.25)
    graph = graphs.graph([{"name": "rows", "shape": shape, "type": "real"}], [node])
    values, output = run(graph)
    x = values("input/rows")
    assert_same(output, x)
    built = network.build(prepare(graph))
    with steps.autograd.record():
        dropped = built.block(*built.inputs).asnumpy()
    kept = dropped != 0
    assert abs(kept.mean() - 0.75) < 0.02, kept.mean()  # 30,000 values: six standard deviations are 0.015
    assert_same(dropped[kept], x[kept] / 0.75)


class Evaluate:
    updates, learning_rate, momentum, output = 3, 0.1, 0.9, None


def check_training_is_gradient_descent_with_momentum():
    """Cross entropy of one linear layer, updated by hand."""
    graph = graphs.graph(
        [{"name": "rows", "shape": [5], "type": "real"}], [graphs.linear("fc", "rows", [4], 5)], loss="cross_entropy"
    )
    asked = prepare(graph, "train")
    drawn = assay_graph.values_of(asked)
    x, target = drawn["input/rows"].astype("float64"), drawn["target"]
    held = {name: drawn[name].astype("float64") for name in ("fc/weight", "fc/bias")}
    speed, truth, norms = {name: 0.0 for name in held}, [], None
    for _ in range(Evaluate.updates + 1):
        shares = softmax(x @ held["fc/weight"].T + held["fc/bias"])
        truth.append(-np.log(shares[range(BATCH), target]).mean())
        shares[range(BATCH), target] -= 1
        gradients = {"fc/weight": shares.T @ x / BATCH, "fc/bias": shares.mean(0)}
        norms = norms or {name: np.linalg.norm(g) for name, g in gradients.items()}
        for name, gradient in gradients.items():
            speed[name] = 0.9 * speed[name] + gradient
            held[name] = held[name] - 0.1 * speed[name]
    losses, found = steps.Training(network.build(asked), BATCH, 1, None).evaluate(Evaluate)
    assert len(losses) == 4 and np.allclose(losses, truth, rtol=1e-5), (losses, truth)
    assert found.keys() == norms.keys() and all(abs(found[n] / norms[n] - 1) < 1e-5 for n in norms), (found, norms)


def check_a_step_updates_every_parameter():
    built = network.build(prepare(graphs.small_network(), "train"))
    before = {name: p.data().asnumpy() for name, p in built.parameters.items()}
    made = steps.Training(built, BATCH, 1, None)
    made.step()
    made.step_with_phases()
    for name, parameter in built.parameters.items():
        assert (parameter.data().asnumpy() != before[name]).any(), name


def check_values_come_from_a_file_and_the_output_goes_to_one():
    asked = prepare(graphs.small_network())
    drawn = assay_graph.values_of(asked)
    names = ["input/image", *("branch.norm/" + part for part in ("mean", "variance"))]
    for node in asked.graph["nodes"]:
        names += [node["name"] + "/" + p["name"] for p in node["parameters"]]
    with tempfile.TemporaryDirectory() as folder:
        asked.values = folder + "/values"
        halved = {name: drawn[name] / drawn[name].dtype.type(2) for name in names}
        assay_graph.write_values(asked.values, halved)
        Evaluate.output = folder + "/output"
        steps.Inference(network.build(asked)).evaluate(Evaluate)
        (output,) = assay_graph.read_values(Evaluate.output).values()
        v = {name: value.astype("float64") for name, value in halved.items()}
        x = np.maximum(convolve(v["input/image"], v["conv1/weight"], v["conv1/bias"], 1, 1, 1), 0)
        y = convolve(x, v["branch.conv/weight"], None, 1, 1, 1)
        mean, variance, weight, bias = (
            v["branch.norm/" + part][:, None, None] for part in ("mean", "variance", "weight", "bias")
        )
        y = (y - mean) / np.sqrt(variance + 1e-5) * weight + bias + x
        assert_same(np.array(output), y.mean((2, 3)) @ v["fc/weight"].T + v["fc/bias"])


def main():
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            failure = None
            try:
                check()
            except Exception:
                failure = traceback.format_exc()
            print(json.dumps({"check": name, "failure": failure}), flush=True)


if __name__ == "__main__":
    main()
