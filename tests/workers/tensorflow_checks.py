"""Checks of workers/tensorflow that need TensorFlow beside them. Run by the interpreter of that worker's environment:

    ENVIRONMENT/bin/python tests/workers/tensorflow_checks.py

Prints a line of JSON for each check. test_tensorflow.py shows each as a test. The oracle is numpy in double precision,
written from the graph contract with channels in front, on the worker's own inputs and weights.
"""

import itertools
import json
import math
import os
import pathlib
import sys
import tempfile
import traceback

os.environ.update(KERAS_BACKEND="tensorflow", TF_CPP_MIN_LOG_LEVEL="2")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "workers" / "tensorflow"), str(ROOT / "workers" / "common")]

import assay_graph  # noqa: E402
import assay_worker  # noqa: E402
import graphs  # noqa: E402
import keras  # noqa: E402
import numpy as np  # noqa: E402
import numpy_oracle  # noqa: E402
import operator_cases_more  # noqa: E402
import primitive_oracle  # noqa: E402
import tensorflow as tf  # noqa: E402
from assay_tensorflow import operators, primitives, user_file, work  # noqa: E402

BATCH = 3


def assert_same(value, truth, most=1e-5):
    value, truth = np.asarray(value, "f8"), np.asarray(truth, "f8")
    assert value.shape == truth.shape, f"{value.shape} instead of {truth.shape}"
    error = np.linalg.norm(value - truth) / np.linalg.norm(truth)
    assert error <= most, error


def channels_first(name, value):
    """Images and weights as the oracle has them."""
    order = {"weight": (3, 2, 0, 1)}.get(name, (0, 3, 1, 2))
    return value.transpose(order) if value.ndim == 4 else value


def check_primitives_compute_what_numpy_does():
    for case, (name, batch, options) in primitive_oracle.CASES.items():
        if name not in primitives.TABLE:
            continue
        options = {**options, "groups": 1} if name == "conv2d" else options  # noqa: PLW2901 - there are no others
        asked = {"workload": primitive_oracle.workload(name, batch, options), "seed": 7}
        made = work.build(assay_worker.Prepare(asked), None).steps
        made.step()
        tensors = {key: channels_first(key, tensor.numpy()) for key, tensor in made.tensors.items()}
        is_weight = options.get("pass") == "backward_weights"
        found = channels_first("weight" if is_weight else "output", made.output.numpy())
        off = primitive_oracle.difference(found, primitive_oracle.wanted(name, options, tensors))
        assert off < 1e-5, "%s is off by %g" % (case, off)


def prepare(graph, mode="infer", batch=BATCH, precision="fp32", **more):
    workload = {"network": graph["name"], "mode": mode, "batch": batch, "precision": precision}
    return assay_worker.Prepare({"workload": workload, "graph": graph, "seed": 7, **more})


def run_infer(graph, **more):
    """Values by name in double precision, and the output with channels in front."""
    asked = prepare(graph, **more)
    output = operators.to_graph_order(work.build(asked, None).steps.output)
    drawn = assay_graph.values_of(asked)
    names = ["%s/%s" % (n["name"], p["name"]) for n in graph["nodes"] for p in n["parameters"]]
    names += ["input/" + i["name"] for i in graph["inputs"]]
    values = {name: np.asarray(drawn[name], "f8" if drawn[name].dtype.kind == "f" else "i8") for name in names}
    return {**values, "drawn": drawn}, tf.cast(output, "float32").numpy()


def convolve(x, weight, bias=None, stride=(1, 1), padding=(0, 0), groups=1):
    x = np.pad(x, [(0, 0), (0, 0), *[(p, p) for p in padding]])
    out, inside, high, wide = weight.shape
    sizes = [(x.shape[2] - high) // stride[0] + 1, (x.shape[3] - wide) // stride[1] + 1]
    y = np.zeros((len(x), out, *sizes))
    for o, i, j in itertools.product(range(out), *map(range, sizes)):
        first = o // (out // groups) * inside
        top, left = i * stride[0], j * stride[1]
        window = x[:, first : first + inside, top : top + high, left : left + wide]
        y[:, o, i, j] = (window * weight[o]).sum((1, 2, 3))
    return y if bias is None else y + bias[:, None, None]


def check_operators_of_a_few_networks():
    for graph in operator_cases_more.CASES.values():
        values, output = run_infer(graph)
        assert_same(output, numpy_oracle.infer(graph, values))


def check_dilated_convolutions_by_keras_where_tensorflow_has_no_kernels():
    """Here it may have them: both ways compute the same, and each was taken."""
    graph, asked = operator_cases_more.CASES["maps"], operators._has_dilated_kernels
    for answer in {False, asked()}:
        operators._has_dilated_kernels = lambda answer=answer: answer
        try:
            values, output = run_infer(graph)
            layers = work.build(prepare(graph), None).network.model.layers
        finally:
            operators._has_dilated_kernels = asked
        assert_same(output, numpy_oracle.infer(graph, values))
        assert any(isinstance(layer, operators.DilatedConvolution) for layer in layers) == answer


def check_one_input_operators():
    """Each elementwise operator and softmax, by its formula."""
    x = run_infer(graphs.graph([graphs.image([4, 5, 6])], [graphs.node("a", "relu", "image", [4, 5, 6])]))[0]
    x = x["input/image"]
    clamped = ((x + 3) / 6).clip(0, 1)
    exponentials = np.exp(x)
    formulas = {
        "relu": x.clip(0),
        "relu6": x.clip(0, 6),
        "gelu": x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2,
        "gelu_tanh": x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
        "tanh": np.tanh(x),
        "sigmoid": 1 / (1 + np.exp(-x)),
        "silu": x / (1 + np.exp(-x)),
        "hard_swish": x * clamped,
        "hard_sigmoid": clamped,
        "softmax": exponentials / exponentials.sum(-1, keepdims=True),
        "global_average_pool": x.mean((2, 3)),
        "flatten": x.reshape(BATCH, -1),
    }
    for op, truth in formulas.items():
        graph = graphs.graph([graphs.image([4, 5, 6])], [graphs.node("a", op, "image", list(truth.shape[1:]))])
        assert_same(run_infer(graph)[1], truth)


def check_convolutions():
    """With groups, two outputs for each channel, strides and paddings that are "same" to Keras and that are not."""
    odd = {"channels": 6, "kernel": [1, 3], "stride": [2, 1], "padding": [0, 1], "groups": 6, "bias": False}
    graph = graphs.graph(
        [graphs.image([4, 9, 9])],
        [
            graphs.convolution("plain", "image", [6, 5, 5], 4, kernel=3, stride=2, padding=1),
            graphs.convolution("grouped", "plain", [6, 5, 5], 6, kernel=5, padding=2, groups=3, bias=False),
            graphs.convolution("depthwise", "grouped", [12, 3, 3], 6, groups=6, padding=0),
            graphs.convolution("narrow", "depthwise", [6, 4, 4], 12, kernel=2, padding=1),
            graphs.node("odd", "convolution", "narrow", [6, 2, 4], [[6, 1, 1, 3]], **odd),
        ],
    )
    v, output = run_infer(graph)
    x = convolve(v["input/image"], v["plain/weight"], v["plain/bias"], (2, 2), (1, 1))
    x = convolve(x, v["grouped/weight"], None, (1, 1), (2, 2), 3)
    x = convolve(x, v["depthwise/weight"], v["depthwise/bias"], groups=6)
    x = convolve(x, v["narrow/weight"], v["narrow/bias"], padding=(1, 1))
    assert_same(output, convolve(x, v["odd/weight"], None, (2, 1), (0, 1), 6))


def check_norms():
    graph = graphs.graph(
        [graphs.image([6, 4, 5])],
        [
            graphs.norm("batch", "batch_norm", "image", [6, 4, 5], 6, epsilon=1e-3),
            graphs.node("local", "local_response_norm", "batch", [6, 4, 5], size=5, alpha=1e-2, beta=0.75, k=2.0),
            graphs.norm("layer", "layer_norm", "local", [6, 4, 5], 5, epsilon=1e-12),
        ],
    )
    v, output = run_infer(graph)
    mean, variance = (np.asarray(v["drawn"]["batch/" + part], "f8") for part in ("mean", "variance"))
    weight, bias, mean, variance = (a[:, None, None] for a in (v["batch/weight"], v["batch/bias"], mean, variance))
    x = (v["input/image"] - mean) / np.sqrt(variance + 1e-3) * weight + bias
    # Krizhevsky's formula: the sum of squares over five channels around each.
    squares = np.pad(x**2, [(0, 0), (2, 2), (0, 0), (0, 0)])
    x = x / (2 + 1e-2 / 5 * sum(squares[:, i : i + 6] for i in range(5))) ** 0.75
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    assert_same(output, scaled * v["layer/weight"] + v["layer/bias"])


def check_a_local_response_norm_of_even_size_is_refused():
    even = graphs.node("even", "local_response_norm", "image", [6, 4, 4], size=4, alpha=1e-2, beta=0.75, k=2.0)
    assert_refused(lambda: run_infer(graphs.graph([graphs.image([6, 4, 4])], [even])), "even", "4")


def check_pools():
    """Over rooms of 7 to 9: the windows are those of the contract, and an average counts padding only when told, but
    never what lies behind the padding."""
    kinds = [("max_pool", False), ("average_pool", False), ("average_pool", True)]
    for (op, counted), size, kernel, padding, ceil in itertools.product(kinds, (7, 8, 9), (2, 3), (0, 1), (0, 1)):
        room = size + 2 * padding - kernel
        count = (room + ceil) // 2 + 1  # stride 2
        if ceil and (count - 1) * 2 >= size + padding:
            count -= 1
        more = {"count_padding": counted} if op == "average_pool" else {}
        pool = graphs.pool("pool", op, "image", [2, count, count], kernel, 2, padding, bool(ceil), **more)
        v, output = run_infer(graphs.graph([graphs.image([2, size, size])], [pool]))
        truth = np.zeros((BATCH, 2, count, count))
        for i, j in itertools.product(range(count), repeat=2):
            (top, bottom), (left, right) = [(2 * at - padding, 2 * at - padding + kernel) for at in (i, j)]
            window = v["input/image"][:, :, max(0, top) : bottom, max(0, left) : right]
            margin = padding if counted else 0
            high, wide = [
                min(end, size + margin) - max(begin, -margin) for begin, end in ((top, bottom), (left, right))
            ]
            truth[:, :, i, j] = window.max((2, 3)) if op == "max_pool" else window.sum((2, 3)) / (high * wide)
        assert_same(output, truth)


def check_joins_and_shapes():
    """concat, add, multiply with fewer dimensions and with ones, flatten, select and slice."""
    graph = graphs.graph(
        [graphs.image([4, 6, 5])],
        [
            graphs.node("means", "global_average_pool", "image", [4]),
            graphs.node("some", "slice", "image", [4, 6, 1], begin=2, length=1),
            graphs.node("gated", "multiply", ["image", "some"], [4, 6, 5]),
            graphs.node("both", "concat", ["gated", "image"], [8, 6, 5]),
            graphs.node("flat", "flatten", "both", [240]),
            graphs.node("five", "slice", "flat", [5], begin=16, length=5),
            graphs.node("rows", "add", ["both", "five"], [8, 6, 5]),
            graphs.node("long", "flatten", "rows", [240]),
            graphs.node("joined", "concat", ["long", "means"], [244]),
        ],
    )
    v, output = run_infer(graph)
    x = v["input/image"]
    both = np.concatenate([x * x[..., 2:3], x], 1)
    rows = both + both.reshape(BATCH, -1)[:, None, None, 16:21]
    assert_same(output, np.concatenate([rows.reshape(BATCH, -1), x.mean((2, 3))], 1))


def check_a_linear_layer_lines_up_with_a_flattened_image():
    graph = graphs.graph(
        [graphs.image([3, 4, 5])],
        [graphs.node("flat", "flatten", "image", [60]), graphs.linear("fc", "flat", [7], 60)],
    )
    v, output = run_infer(graph)
    assert_same(output, v["input/image"].reshape(BATCH, -1) @ v["fc/weight"].T + v["fc/bias"])


def check_a_second_input_may_lack_leading_dimensions():
    """[5, 8] plus [8]: one row for each sample, not one for each position."""
    graph = graphs.graph(
        [{"name": "rows", "shape": [5, 8], "type": "real"}],
        [graphs.node("third", "select", "rows", [8], index=2), graphs.node("sum", "add", ["rows", "third"], [5, 8])],
    )
    v, output = run_infer(graph)
    assert_same(output, np.stack([sample + sample[2] for sample in v["input/rows"]]))


def transformer(causal=True, dropout=0.0):
    """Embeddings, one attention, and two heads: one shares the token embedding's weight, one the head before it."""
    return graphs.graph(
        [graphs.tokens(6, 8)],
        [
            graphs.node("words", "embedding", "tokens", [6, 8], [[8, 8]], rows=8, features=8),
            graphs.node("places", "position_embedding", "tokens", [6, 8], [[9, 8]], rows=9, features=8),
            graphs.node("sum", "add", ["words", "places"], [6, 8]),
            graphs.linear("qkv", "sum", [6, 24], 8),
            graphs.node("q", "slice", "qkv", [6, 8], begin=0, length=8),
            graphs.node("k", "slice", "qkv", [6, 8], begin=8, length=8),
            graphs.node("v", "slice", "qkv", [6, 8], begin=16, length=8),
            graphs.node("mix", "attention", ["q", "k", "v"], [6, 8], heads=2, causal=causal, dropout=dropout),
            graphs.linear("first", "mix", [6, 8], 8, bias=False),
            graphs.linear("again", "first", [6, 8], 8, shared="first"),
            graphs.linear("head", "again", [6, 8], 8, bias=False, shared="words"),
        ],
        loss="cross_entropy",
    )


def check_embeddings_attention_and_shared_weights():
    for causal in (False, True):
        v, output = run_infer(transformer(causal))
        x = v["words/weight"][v["input/tokens"]] + v["places/weight"][:6]
        q, k, values = np.split(x @ v["qkv/weight"].T + v["qkv/bias"], 3, -1)
        heads = []
        for part in (slice(0, 4), slice(4, 8)):
            scores = q[..., part] @ k[..., part].transpose(0, 2, 1) / 2  # the square root of 4 features a head
            scores = np.exp(np.where(np.triu(np.ones((6, 6)), 1), -math.inf, scores) if causal else scores)
            heads.append(scores / scores.sum(-1, keepdims=True) @ values[..., part])
        x = np.concatenate(heads, -1) @ v["first/weight"].T
        assert_same(output, (x @ v["first/weight"].T + v["again/bias"]) @ v["words/weight"].T)
    assert work.build(prepare(transformer()), None).parameters == 8 * 8 + 9 * 8 + 24 * 8 + 24 + 8 * 8 + 8


def check_dropout_acts_only_when_training():
    drop = graphs.node("drop", "dropout", "image", [3, 8, 8], probability=0.5)
    v, output = run_infer(graphs.graph([graphs.image([3, 8, 8])], [drop]))
    assert_same(output, v["input/image"])
    for graph in (graphs.graph([graphs.image([3, 8, 8])], [drop]), transformer(dropout=0.5)):
        built = work.build(prepare(graph), None).network
        first, second = (built.model(built.inputs, training=True).numpy() for _ in range(2))
        assert not np.array_equal(first, second)
    trained = work.build(prepare(graphs.graph([graphs.image([3, 8, 8])], [drop])), None).network
    output = operators.to_graph_order(trained.model(trained.inputs, training=True)).numpy()
    kept = output != 0
    assert_same(output[kept], 2 * v["input/image"][kept])
    assert 0.3 < kept.mean() < 0.7


def varied():
    """An image through nodes whose windows XLA and the plain kernels pad in different ways."""
    return graphs.graph(
        [graphs.image([3, 15, 15])],
        [
            graphs.convolution("stem", "image", [8, 8, 8], 3, kernel=7, stride=2, padding=3),
            graphs.norm("norm", "batch_norm", "stem", [8, 8, 8], 8),
            graphs.node("relu", "relu6", "norm", [8, 8, 8]),
            graphs.pool("max", "max_pool", "relu", [8, 4, 4], padding=1),
            graphs.convolution("depthwise", "max", [8, 4, 4], 8, groups=8),
            graphs.convolution("grouped", "max", [8, 4, 4], 8, groups=2),
            graphs.pool("mean", "average_pool", "max", [8, 4, 4], stride=1, padding=1, count_padding=False),
            graphs.node("local", "local_response_norm", "mean", [8, 4, 4], size=3, alpha=1e-2, beta=0.75, k=1.0),
            graphs.node("all", "concat", ["depthwise", "grouped", "local"], [24, 4, 4]),
            graphs.node("flat", "flatten", "all", [384]),
            graphs.linear("fc", "flat", [10], 384),
        ],
        loss="cross_entropy",
    )


def check_compiled_by_xla_it_computes_the_same():
    compiled = {"compile": "xla"}
    for graph in (varied(), transformer()):
        built = work.build(prepare(graph, settings=compiled), None)
        assert built.effective["compile"] == "xla"
        assert_same(operators.to_graph_order(built.steps.output), run_infer(graph)[1])
    losses, norms = evaluated(varied())
    compiled_losses, compiled_norms = evaluated(varied(), settings=compiled)
    assert_same(compiled_losses, losses)
    assert_same([compiled_norms[name] for name in norms], list(norms.values()))


def check_bf16_is_bf16_throughout():
    for graph in (varied(), transformer()):
        output = work.build(prepare(graph, precision="bf16"), None).steps.output
        assert output.dtype == tf.bfloat16
        truth = run_infer(graph)[1]
        # bf16 keeps 8 bits: 2^-8 = 0.4 % for each rounding, some of them in a row.
        error = np.linalg.norm(tf.cast(output, "float32") - truth) / np.linalg.norm(truth)
        assert 1e-5 < error < 0.03, error
    built = work.build(prepare(varied(), "train", precision="bf16"), None)
    assert {v.dtype for v in built.network.model.trainable_variables} == {"bfloat16"}
    assert {v.dtype for v in built.steps._optimizer.variables if len(v.shape)} == {"bfloat16"}


def evaluated(graph, updates=3, rate=0.01, momentum=0.9, **more):
    """Losses and norms, from a file of the values that follow from the seed."""
    asked = prepare(graph, "train", **more)
    asked.values = values_file(asked)
    message = {"output": "/dev/null", "updates": updates, "learning_rate": rate, "momentum": momentum}
    return work.evaluate(asked, work.build(asked, None), assay_worker.Evaluate(message))


def values_file(asked):
    drawn, graph = assay_graph.values_of(asked), asked.graph
    names = ["%s/%s" % (n["name"], p["name"]) for n in graph["nodes"] for p in n["parameters"]]
    names += ["%s/%s" % (n["name"], p) for n in graph["nodes"] if n["op"] == "batch_norm" for p in ("mean", "variance")]
    names += ["input/" + i["name"] for i in graph["inputs"]] + ["target"] * (graph["loss"] == "cross_entropy")
    path = tempfile.mkstemp(dir=FOLDER)[1]
    assay_graph.write_values(path, {name: drawn[name] for name in names})
    return path


def check_training_follows_the_rule_of_sgd():
    for momentum in (0.9, 0.5):
        train_by_hand(momentum)


def train_by_hand(momentum):
    """Softmax regression, whose gradients are known: five updates with momentum, as they would be done by hand."""
    graph = graphs.graph(
        [{"name": "x", "shape": [6], "type": "real"}], [graphs.linear("fc", "x", [4], 6)], loss="cross_entropy"
    )
    losses, norms = evaluated(graph, updates=5, rate=0.1, momentum=momentum)
    v, _ = run_infer(graph)
    x, weight, bias, target = v["input/x"], v["fc/weight"], v["fc/bias"], np.asarray(v["drawn"]["target"])
    moved, truth = [0.0, 0.0], []
    for update in range(6):
        shares = np.exp(x @ weight.T + bias)
        shares /= shares.sum(1, keepdims=True)
        truth.append(-np.log(shares[np.arange(BATCH), target]).mean())
        wrong = (shares - np.eye(4)[target]) / BATCH
        gradients = [wrong.T @ x, wrong.sum(0)]
        if update == 0:
            assert_same(
                [norms["fc/weight"], norms["fc/bias"]], [np.linalg.norm(gradients[0]), np.linalg.norm(gradients[1])]
            )
        moved = [momentum * m + g for m, g in zip(moved, gradients)]
        weight, bias = weight - 0.1 * moved[0], bias - 0.1 * moved[1]
    assert_same(losses, truth)


def check_evaluate_takes_the_values_whatever_was_measured_before():
    asked = prepare(graphs.small_network())
    asked.values, path = values_file(asked), os.path.join(FOLDER, "output")
    built = work.build(asked, None)
    for variable in built.network.model.variables:
        variable.assign(variable + 1)
    work.evaluate(
        asked, built, assay_worker.Evaluate({"output": path, "updates": 0, "learning_rate": 0, "momentum": 0})
    )
    assert_same(assay_graph.read_values(path)["output"], run_infer(graphs.small_network())[1], most=0)


def check_a_step_by_phases_is_the_same_step():
    for graph, settings in ((varied(), {}), (transformer(), {}), (graphs.small_network(), {"compile": "xla"})):
        ends = []
        for way in ("step", "step_with_phases"):
            built = work.build(prepare(graph, "train", settings=settings), None)
            before = [v.numpy() for v in built.network.model.trainable_variables]
            for _ in range(20):
                getattr(built.steps, way)()
            after = [v.numpy() for v in built.network.model.trainable_variables]
            ends.append(np.concatenate([(b - a).ravel() for a, b in zip(before, after)]))
        assert np.abs(ends[0]).max() > 1e-5  # it moved
        assert_same(ends[1], ends[0], most=1e-2)  # of small moves of large numbers, which fp32 rounds


def check_buckets_split_the_exchange():
    """Three gradients of 4 kB each: one collective if nothing is said, three if a bucket is full with 2 kB."""
    from tensorflow.python.distribute import cross_device_utils

    tensors = [tf.zeros(1024) for _ in range(3)]
    assert len(cross_device_utils.group_by_size(tensors, 0)) == 1
    assert len(cross_device_utils.group_by_size(tensors, 2048)) == 3


def assert_refused(call, *parts):
    try:
        call()
    except assay_worker.Refused as error:
        assert all(part in str(error) for part in parts), error
    else:
        raise AssertionError("done all the same")


def check_user_files():
    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(3)

        def call(self, x, training=False):
            return self.dense(x)

    class Shown(Own):
        def example_input(self, batch):
            return np.zeros((batch, 4))

    _, make_input, loss = user_file._parts(Shown(), "here")
    assert user_file._inputs(make_input, 5, "here").shape == (5, 4) and loss is None
    assert user_file._inputs(make_input, 5, "here").dtype.name == keras.config.floatx()
    for returned, part in ((Own(), "example_input"), (42, "int"), ((Own(), 3), "not a function"), ((Own(),), "tuple")):
        assert_refused(lambda returned=returned: user_file._parts(returned, "here"), part, "here")
    assert_refused(lambda: user_file._inputs(lambda batch: "text", 5, "here"), "str", "here")
    assert_refused(lambda: user_file.mean_square({"a": tf.zeros(3)}), "dict", "loss")


def main():
    global FOLDER
    tf.config.threading.set_intra_op_parallelism_threads(1)  # small tensors: more threads mostly wait for each other
    with tempfile.TemporaryDirectory() as FOLDER:
        for name, check in list(globals().items()):
            if not name.startswith("check_") or (sys.argv[1:] and name not in sys.argv[1:]):
                continue
            try:
                check()
                text = None
            except Exception:
                text = traceback.format_exc()
            print(json.dumps({"check": name, "failure": text}), flush=True)


if __name__ == "__main__":
    main()
