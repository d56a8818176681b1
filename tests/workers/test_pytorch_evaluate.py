"""What workers/pytorch and workers/libtorch say they compute on given values, held against plain Python in double
precision."""

import math

import graphs
import perceptron
import pytest
import value_files
from perceptron import close

BATCH = 2
SMALL = graphs.small_network()


@pytest.fixture(params=["pytorch", "libtorch"])
def name(request):
    return request.param


@pytest.fixture
def ask(start, tmp_path, name):
    """Prepares a worker on a file of values and evaluates; the answer, and the output when inferring."""

    def asked(graph, values, mode, updates=0, rate=0.01, momentum=0.9, before=None, **more):
        path, output = value_files.write(tmp_path / "values.safetensors", values), tmp_path / "output.safetensors"
        worker = start(name)
        prepared = worker.prepare(
            mode=mode, batch=BATCH, network=graph["name"], graph=graph, values=path, seconds=120, **more
        )
        if prepared["type"] != "prepared":
            return prepared, None
        if before:
            before(worker)
        asked = {"updates": updates, "learning_rate": rate, "momentum": momentum}
        worker.send({"type": "evaluate", "output": str(output), **asked})
        answer = worker.read(60)
        assert worker.close() == 0
        return answer, value_files.read(output)["output"] if mode == "infer" else None

    return asked


def convolve(image, weight, bias):
    """3 x 3, padded by one."""
    height, width = len(image[0]), len(image[0][0])
    padded = [[[0] * (width + 2), *([0, *row, 0] for row in rows), [0] * (width + 2)] for rows in image]
    return [
        [
            [
                start + sum(
                    kernel[c][i][j] * padded[c][y + i][x + j]
                    for c in range(len(image)) for i in range(3) for j in range(3)
                )
                for x in range(width)
            ]
            for y in range(height)
        ]
        for kernel, start in zip(weight, bias)
    ]  # fmt: skip


def small_outputs(values, trains):
    """The small network of graphs.py, by hand: with the batch's own statistics when it trains."""
    part = {name: value_files.nested(value) for name, value in values.items()}
    hidden = []
    for image in part["input/image"]:
        first = convolve(image, part["conv1/weight"], part["conv1/bias"])
        rectified = [[[max(0.0, x) for x in row] for row in rows] for rows in first]
        hidden.append((rectified, convolve(rectified, part["branch.conv/weight"], [0] * 8)))
    outputs = [[] for _ in hidden]
    for channel in range(8):
        everywhere = [x for _, branch in hidden for row in branch[channel] for x in row]
        mean, variance = part["branch.norm/mean"][channel], part["branch.norm/variance"][channel]
        if trains:
            mean = sum(everywhere) / len(everywhere)
            variance = sum((x - mean) ** 2 for x in everywhere) / len(everywhere)
        scale = part["branch.norm/weight"][channel] / math.sqrt(variance + 1e-5)
        for output, (rectified, branch) in zip(outputs, hidden):
            normed = [scale * (x - mean) + part["branch.norm/bias"][channel] for row in branch[channel] for x in row]
            output.append(sum(normed + [x for row in rectified[channel] for x in row]) / 256)
    return [
        [b + sum(w * x for w, x in zip(row, means)) for row, b in zip(part["fc/weight"], part["fc/bias"])]
        for means in outputs
    ]


def cross_entropy(outputs, target):
    logs = [math.log(sum(math.exp(x) for x in row)) - row[t] for row, t in zip(outputs, target)]
    return sum(logs) / len(logs)


@pytest.mark.parametrize("settings", [{}, {"layout": "nhwc"}])
def test_the_output_of_an_inference(ask, settings):
    """Weights, running statistics and input come from the file, and the output has the graph's own shape."""
    values = value_files.drawn(SMALL, BATCH)
    answer, (shape, flat) = ask(SMALL, values, "infer", settings=settings)
    assert answer == {"type": "evaluated", "losses": [], "gradient_norms": {}}
    assert shape == [BATCH, 10]
    close(flat, [x for row in small_outputs(values, trains=False) for x in row])


def test_an_output_that_is_an_image_keeps_the_graphs_order(ask):
    graph = graphs.graph([graphs.image([3, 2, 4])], [graphs.node("r", "relu", "image", [3, 2, 4])])
    values = value_files.drawn(graph, BATCH)
    _, (shape, flat) = ask(graph, values, "infer", settings={"layout": "nhwc"})
    assert shape == [BATCH, 3, 2, 4] and flat == [max(0.0, x) for x in values["input/image"][1]]


def test_the_loss_is_that_of_the_training_mode(ask):
    values = value_files.drawn(SMALL, BATCH)
    answer, _ = ask(SMALL, values, "train")
    wanted = cross_entropy(small_outputs(values, trains=True), values["target"][1])
    close(answer["losses"], [wanted])
    assert set(answer["gradient_norms"]) == set(values) - {
        "branch.norm/mean", "branch.norm/variance", "input/image", "target",
    }  # fmt: skip


def test_training_follows_the_formulas_whatever_was_measured_before(ask):
    values = value_files.drawn(perceptron.GRAPH, BATCH)
    losses, norms = perceptron.trained(values, 5, 0.1, 0.9)
    assert losses[-1] < 0.9 * losses[0]  # of the oracle: the updates do something

    def measured(worker):
        worker.measure(max_samples=100)

    answer, _ = ask(perceptron.GRAPH, values, "train", updates=5, rate=0.1, momentum=0.9, before=measured)
    close(answer["losses"], losses)
    assert answer["gradient_norms"].keys() == norms.keys()
    for name, norm in norms.items():
        close([answer["gradient_norms"][name]], [norm])


def test_momentum_and_rate_are_those_asked_for(ask):
    values = value_files.drawn(perceptron.GRAPH, BATCH)
    answer, _ = ask(perceptron.GRAPH, values, "train", updates=4, rate=0.03, momentum=0.0)
    close(answer["losses"], perceptron.trained(values, 4, 0.03, 0.0)[0])


WRONG = {
    "a weight is missing": lambda v: v.pop("second/bias"),
    "another shape": lambda v: v.update({"second/bias": ([1, 3], v["second/bias"][1])}),
    "another type": lambda v: v.update({"input/x": ([2, 5], [1] * 10)}),
    "no target": lambda v: v.pop("target"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_file_that_does_not_fit_the_graph_has_failed(ask, case):
    values = value_files.drawn(perceptron.GRAPH, BATCH)
    WRONG[case](values)
    answer, _ = ask(perceptron.GRAPH, values, "train")
    part = {"no target": "target", "another type": "input/x"}.get(case, "second/bias")
    assert answer["kind"] == "failed" and part in answer["message"], answer


def test_evaluate_without_values_has_failed(start, name):
    worker = start(name)
    worker.prepare(network="perceptron", graph=perceptron.GRAPH, seconds=60)
    worker.send({"type": "evaluate", "output": "/nowhere", "updates": 0, "learning_rate": 0.1, "momentum": 0})
    assert worker.read()["kind"] == "failed"


def test_values_for_a_primitive_are_refused(start, tmp_path):
    answer = start("pytorch").prepare(network="gemm", batch=1, values=str(tmp_path / "none"), seconds=60)
    assert answer["kind"] == "refused" and "values" in answer["message"] and "gemm" in answer["message"]
