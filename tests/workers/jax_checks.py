"""Checks of workers/jax that need JAX beside them. Run by the interpreter of that worker's environment:

    ENVIRONMENT/bin/python tests/workers/jax_checks.py

Prints a line of JSON for each check. test_jax.py shows each as a test. The oracle is numpy in double precision, on the
worker's own inputs and weights.
"""

import functools
import json
import os
import pathlib
import sys
import tempfile
import traceback

os.environ.update(
    JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="2", PJRT_NPROC="1"
)  # small arrays: more threads mostly wait
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "workers" / "jax"), str(ROOT / "workers" / "common")]

import assay_graph  # noqa: E402
import assay_worker  # noqa: E402
import graphs  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import numpy_oracle  # noqa: E402
import operator_cases  # noqa: E402
import operator_cases_more  # noqa: E402
import primitive_oracle  # noqa: E402
from assay_jax import layout, network, operators, primitives, user_file, work  # noqa: E402

BATCH = 3
LAYOUTS = ("nhwc", "nchw")


def assert_same(value, truth, most=1e-5):
    value, truth = np.asarray(value, "f8"), np.asarray(truth, "f8")
    assert value.shape == truth.shape, f"{value.shape} instead of {truth.shape}"
    error = np.linalg.norm(value - truth) / np.linalg.norm(truth)
    assert error <= most, error


def assert_refused(call, *parts):
    try:
        call()
    except assay_worker.Refused as error:
        assert all(part in str(error) for part in parts), error
    else:
        raise AssertionError("done all the same")


def prepare(graph, mode="infer", batch=BATCH, precision="fp32", **more):
    workload = {"network": graph["name"], "mode": mode, "batch": batch, "precision": precision}
    return assay_worker.Prepare({"workload": workload, "graph": graph, "seed": 7, **more})


def names_of(graph):
    found = ["%s/%s" % (n["name"], p["name"]) for n in graph["nodes"] for p in n["parameters"]]
    found += ["%s/%s" % (n["name"], p) for n in graph["nodes"] if n["op"] == "batch_norm" for p in ("mean", "variance")]
    return found + ["input/" + i["name"] for i in graph["inputs"]] + ["target"] * (graph["loss"] == "cross_entropy")


def drawn(asked):
    values = assay_graph.values_of(asked)
    return {name: values[name] for name in names_of(asked.graph)}


def values_file(asked):
    path = tempfile.mkstemp(dir=FOLDER)[1]
    assay_graph.write_values(path, drawn(asked))
    return path


def layouts_of(graph):
    """Settings to try it with: none where no input is an image."""
    is_image = any(len(i["shape"]) == 3 for i in graph["inputs"])
    return [{"layout": name} for name in LAYOUTS] if is_image else [{}]


def inferred(graph, settings, **more):
    """The output of the worker's step, as the protocol writes it."""
    asked, path = prepare(graph, settings=settings, **more), os.path.join(FOLDER, "inferred")
    built = work.build(asked, None)
    assert settings in (built.effective, {})
    built.write_output(path)
    return np.array(assay_graph.read_values(path)["output"])


def shared_weights():
    """A linear layer whose weight a second one has, and through that a third; and a local norm over an even number."""
    return graphs.graph(
        [graphs.image([6, 4, 8])],
        [
            graphs.node("local", "local_response_norm", "image", [6, 4, 8], size=4, alpha=0.5, beta=0.75, k=2.0),
            graphs.linear("first", "local", [6, 4, 8], 8, bias=False),
            graphs.linear("second", "first", [6, 4, 8], 8, shared="first"),
            graphs.linear("third", "second", [6, 4, 8], 8, bias=False, shared="second"),
        ],
    )


def for_each_case(check, graphs_by_name):
    """check(graph, settings) in either layout; a failure says where."""
    for name, graph in graphs_by_name.items():
        for settings in layouts_of(graph):
            try:
                check(graph, settings)
            except AssertionError as error:
                raise AssertionError("%s %s" % (name, settings)) from error


def check_operators_compute_what_numpy_does():
    """The oracle knows weights by the node that has them."""

    def as_numpy_does(graph, settings):
        assert_same(inferred(graph, settings), numpy_oracle.infer(graph, drawn(prepare(graph))))

    for_each_case(as_numpy_does, operator_cases.CASES)
    tried = {node["op"] for graph in operator_cases.CASES.values() for node in graph["nodes"]}
    assert tried == set(operators.TABLE), set(operators.TABLE) ^ tried


def check_gradients_are_the_slopes_of_what_numpy_computes():
    """Of the mean square of the output along a random direction of all real inputs and parameters: the oracle's slope
    is a difference in double precision, whose error is some 1e-9."""

    def slopes(graph, settings):
        graph = without_dropout(graph)
        values, random = drawn(prepare(graph)), np.random.default_rng(3)
        along = {n: random.standard_normal(v.shape).astype(v.dtype) for n, v in values.items() if v.dtype == np.float32}

        def moved(by):
            shifted = {name: np.asarray(values[name], "f8") + by * along[name] for name in along}
            return (numpy_oracle.infer(graph, {**values, **shifted}) ** 2).mean()

        built = network.Network(prepare(graph, "train"), layout.Layout(settings.get("layout", "nhwc")), jnp.float32)
        at, to = ((built.parameters(v), built.inputs({**values, **v})) for v in (values, along))

        def loss(parameters, inputs):
            return built.loss(built.run(parameters, {}, inputs, jax.random.PRNGKey(0))[0], None)

        gradients = jax.jit(jax.grad(loss, (0, 1), allow_int=True))(*at)
        found = sum(
            np.vdot(np.asarray(g, "f8"), np.asarray(t, "f8"))
            for g, t in zip(*map(jax.tree.leaves, (gradients, to)))
            if jnp.issubdtype(t.dtype, jnp.floating)
        )
        assert_same([found], [(moved(1e-6) - moved(-1e-6)) / 2e-6], most=1e-4)

    for_each_case(slopes, operator_cases_more.CASES)


def without_dropout(graph):
    nodes = [{**n, "attributes": {**n["attributes"], "dropout": 0.0}} for n in graph["nodes"]]
    return {**graph, "nodes": nodes}


def check_a_pixel_of_zeros_has_a_norm():
    """It counts as 1e-12, as in PyTorch: the pixel stays 0, and its slopes are weights over that, and no NaN."""
    norm = graphs.node("norm", "l2_norm", "image", [3, 2, 2], [[3]])
    graph = graphs.graph([graphs.image([3, 2, 2])], [norm])
    values = drawn(prepare(graph))
    image = np.array(values["input/image"])
    image[:, :, 1, 0] = 0
    for name in LAYOUTS:
        here = layout.Layout(name)
        built = network.Network(prepare(graph), here, jnp.float32)

        def run(x, built=built):
            return built.run(built.parameters(values), {}, [x])[0]

        output, back = jax.vjp(run, here.from_graph(jnp.array(image)))
        assert not built.to_graph(output)[:, :, 1, 0].any()
        slopes = built.to_graph(back(jnp.ones_like(output))[0])
        assert_same(slopes[:, :, 1, 0], np.stack([values["norm/weight"] / 1e-12] * BATCH))
        assert 0 < np.abs(np.delete(slopes.reshape(BATCH, 3, 4), 2, 2)).max() < 1e3


def check_shared_weights():
    graph = shared_weights()
    values = drawn(prepare(graph))
    truth = numpy_oracle.infer(graph, {**values, "second/weight": values["first/weight"]})
    for settings in layouts_of(graph):
        assert_same(inferred(graph, settings), truth)
    assert work.build(prepare(graph), None).parameters == 8 * 8 + 8


def check_batch_norm_trains_on_centred_values():
    """Around 4000 with deviation 1 the mean of squares less the square of the mean has no right digit in fp32."""
    graph = graphs.graph(
        [graphs.image([2, 5, 5])], [graphs.norm("norm", "batch_norm", "image", [2, 5, 5], 2, epsilon=1e-3)]
    )
    values = drawn(prepare(graph))
    x = (4000 + np.random.default_rng(1).standard_normal((BATCH, 2, 5, 5))).astype("float32")
    exact = x.astype("f8")
    mean, variance = exact.mean((0, 2, 3)), exact.var((0, 2, 3))
    weight, bias = (np.asarray(values["norm/" + part], "f8")[:, None, None] for part in ("weight", "bias"))
    truth = (exact - mean[:, None, None]) / np.sqrt(variance[:, None, None] + 1e-3) * weight + bias
    for name in LAYOUTS:
        here = layout.Layout(name)
        built = network.Network(prepare(graph, "train"), here, jnp.float32)
        arguments = (built.parameters(values), built.statistics(values), [jnp.array(here.from_graph(x))])
        output, left = jax.jit(built.run)(*arguments, jax.random.PRNGKey(0))
        assert_same(built.to_graph(output), truth, most=5e-3)
        assert_same(left["norm/mean"], 0.9 * values["norm/mean"] + 0.1 * mean)
        assert_same(left["norm/variance"], 0.9 * values["norm/variance"] + 0.1 * variance, most=5e-3)


def varied():
    """A little of what is trained: windows with padding, groups, a norm, dropout."""
    return graphs.graph(
        [graphs.image([3, 7, 7])],
        [
            graphs.convolution("stem", "image", [4, 4, 4], 3, kernel=3, stride=2, padding=1),
            graphs.norm("norm", "batch_norm", "stem", [4, 4, 4], 4),
            graphs.pool("max", "max_pool", "norm", [4, 2, 2], padding=1),
            graphs.convolution("depthwise", "max", [4, 2, 2], 4, groups=4),
            graphs.node("flat", "flatten", "depthwise", [16]),
            graphs.node("drop", "dropout", "flat", [16], probability=0.1),
            graphs.linear("fc", "drop", [10], 16),
        ],
        loss="cross_entropy",
    )


@functools.cache
def training(layout_name):
    """Compiling takes longest: checks share what is compiled."""
    asked = prepare(varied(), "train", settings={"layout": layout_name})
    asked.values = values_file(asked)
    return work.build(asked, None)


def evaluated(built, updates=3, rate=0.01, momentum=0.9):
    """Losses and norms, on the values that follow from the seed, whatever was done before."""
    message = {"output": "/dev/null", "updates": updates, "learning_rate": rate, "momentum": momentum}
    return built.evaluate(assay_worker.Evaluate(message))


def check_training_is_the_same_in_either_layout():
    """What is dropped is the same too, as it follows from the seed and is behind `flatten`."""
    (losses, norms), (others, other_norms) = (evaluated(training(name)) for name in LAYOUTS)
    assert len(losses) == 4 and losses[-1] < losses[0]
    assert_same(others, losses)
    assert_same([other_norms[name] for name in norms], list(norms.values()), most=1e-4)


def check_each_step_drops_others():
    """Where no weight moves, losses differ only by what is dropped."""
    losses, _ = evaluated(training("nhwc"), updates=3, rate=0.0, momentum=0.0)
    assert len(set(losses)) == 4, losses


def check_a_step_by_phases_is_the_same_step():
    """And nothing is compiled in either."""
    compiled, ends, steps = [], [], training("nhwc").steps
    jax.monitoring.register_event_duration_secs_listener(lambda event, *_, **__: compiled.append(event))
    for way in (steps.step, steps.step_with_phases):
        evaluated(training("nhwc"), updates=0)
        before = [np.array(array) for array in jax.tree.leaves(steps.parameters())]
        compiled.clear()
        for _ in range(20):
            way()
        assert not compiled, compiled
        after = jax.tree.leaves(steps.parameters())
        ends.append(np.concatenate([(np.asarray(b) - a).ravel() for a, b in zip(before, after)]))
    jax.monitoring.clear_event_listeners()
    assert np.abs(ends[0]).max() > 1e-5  # it moved
    assert_same(ends[1], ends[0], most=1e-2)  # of small moves of large numbers, which fp32 rounds


def check_training_follows_the_rule_of_sgd():
    """Softmax regression, whose gradients are known: five updates with momentum, as they would be done by hand."""
    graph = graphs.graph(
        [{"name": "x", "shape": [6], "type": "real"}], [graphs.linear("fc", "x", [4], 6)], loss="cross_entropy"
    )
    asked = prepare(graph, "train")
    asked.values = values_file(asked)
    built = work.build(asked, None)
    for momentum in (0.9, 0.5):
        train_by_hand(drawn(asked), momentum, *evaluated(built, updates=5, rate=0.1, momentum=momentum))


def train_by_hand(values, momentum, losses, norms):
    x, weight, bias = (np.asarray(values[name], "f8") for name in ("input/x", "fc/weight", "fc/bias"))
    target, moved, truth = np.asarray(values["target"]), [0.0, 0.0], []
    for update in range(6):
        shares = np.exp(x @ weight.T + bias)
        shares /= shares.sum(1, keepdims=True)
        truth.append(-np.log(shares[np.arange(BATCH), target]).mean())
        wrong = (shares - np.eye(4)[target]) / BATCH
        gradients = [wrong.T @ x, wrong.sum(0)]
        if update == 0:
            assert_same([norms["fc/weight"], norms["fc/bias"]], list(map(np.linalg.norm, gradients)))
        moved = [momentum * m + g for m, g in zip(moved, gradients)]
        weight, bias = weight - 0.1 * moved[0], bias - 0.1 * moved[1]
    assert_same(losses, truth)


def check_bf16_is_bf16_throughout():
    for graph in (graphs.small_network(), operator_cases.transformer(True), *operator_cases_more.CASES.values()):
        built, path = work.build(prepare(graph, precision="bf16"), None), os.path.join(FOLDER, "bf16")
        assert built.steps.output.dtype == jnp.bfloat16
        built.write_output(path)
        output = np.array(assay_graph.read_values(path)["output"], "f8")
        truth = numpy_oracle.infer(graph, drawn(prepare(graph)))
        # bf16 keeps 8 bits: 2^-8 = 0.4 % for each rounding, some of them in a row.
        error = np.linalg.norm(output - truth) / np.linalg.norm(truth)
        assert 1e-5 < error < 0.03, error
    state = work.build(prepare(graphs.small_network(), "train", precision="bf16"), None).steps._state
    found = {array.dtype for array in jax.tree.leaves((state.parameters, state.momentum))}
    assert found == {jnp.dtype(jnp.bfloat16)}, found


def check_dropout_acts_only_when_training():
    drop = graphs.node("drop", "dropout", "image", [3, 8, 8], probability=0.5)
    graph = graphs.graph([graphs.image([3, 8, 8])], [drop])
    values = drawn(prepare(graph))
    assert_same(inferred(graph, {}), values["input/image"], most=0)
    built = network.Network(prepare(graph, "train"), layout.Layout("nhwc"), jnp.float32)
    run = jax.jit(built.run)
    first, second = (run({}, {}, built.inputs(values), jax.random.PRNGKey(key))[0] for key in (1, 2))
    assert not np.array_equal(first, second)
    output = built.to_graph(first)
    kept = output != 0
    assert_same(output[kept], 2 * values["input/image"][kept])
    assert 0.3 < kept.mean() < 0.7


def channels_first(name, value):
    """Images and weights as the oracle has them."""
    if value.ndim < 3:
        return value
    spatial = range(value.ndim - 2)
    order = (
        (value.ndim - 1, value.ndim - 2, *spatial)
        if name == "weight"
        else (0, value.ndim - 1, *range(1, value.ndim - 1))
    )
    return value.transpose(order)


def heads_first(value):
    return value.transpose(0, 2, 1, 3)


def check_primitives_compute_what_numpy_does():
    for case, (name, batch, options) in primitive_oracle.CASES.items():
        if name not in primitives.TABLE:
            continue
        asked = {"workload": primitive_oracle.workload(name, batch, options), "seed": 7}
        made = work.build(assay_worker.Prepare(asked), None).steps
        arrays, found = {key: np.asarray(array) for key, array in made.arrays.items()}, np.asarray(made.output)
        if name.startswith("conv"):
            arrays = {key: channels_first(key, array) for key, array in arrays.items()}
            found = channels_first("weight" if options.get("pass") == "backward_weights" else "output", found)
        elif name == "attention":
            arrays, found = {key: heads_first(array) for key, array in arrays.items()}, heads_first(found)
        off = primitive_oracle.difference(found, primitive_oracle.wanted(name, options, arrays))
        assert off < 1e-5, "%s is off by %g" % (case, off)


def check_user_files():
    def apply(parameters, x):
        return x @ parameters["w"]

    parameters = {"w": np.ones((4, 3))}
    for returned, part in ((42, "int"), ((apply, parameters), "tuple"), ((apply, parameters, 3), "not a function")):
        assert_refused(lambda returned=returned: user_file._parts(returned, "here"), part, "here")
    assert user_file._parts((apply, parameters, list), "here")[3] is None
    made = user_file._arrays({"a": np.ones((2, 2)), "b": np.ones(3, int)}, jnp.bfloat16, "here")
    assert made["a"].dtype == jnp.bfloat16 and made["b"].dtype == jnp.int32
    assert_refused(lambda: user_file._arrays([np.ones(2), "text"], jnp.float32, "here"), "str", "here")
    assert_refused(lambda: user_file.mean_square({"a": jnp.zeros(3)}), "dict", "loss")


def main():
    global FOLDER
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
