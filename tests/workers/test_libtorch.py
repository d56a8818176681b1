"""workers/libtorch over the protocol: what it computes, settings that take effect, what it refuses. What it computes
when training is held to formulas by test_pytorch_evaluate.py."""

import json
import os
import pathlib
import subprocess
import threading
import time

import graphs
import pytest
from conftest import info, interpreter, on_cpu_ns
from operator_cases import CASES
from threads import Window

HERE = pathlib.Path(__file__).resolve().parent
SMALL = {"network": "small", "graph": graphs.small_network()}
BATCH = 3
PREPARE_SECONDS = 60


@pytest.fixture
def worker(start):
    return start("libtorch")


def refused(answer, *parts):
    assert (answer["type"], answer["kind"]) == ("error", "refused"), answer
    for part in parts:
        assert part in answer["message"]


def oracle(task, folder):
    argv = [interpreter("libtorch"), HERE / "numpy_oracle.py", task, folder]
    done = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def evaluate(start, folder, name, **asked):
    worker = start("libtorch")
    prepared = worker.prepare(network=name, graph=CASES[name], batch=BATCH, values=str(folder / (name + ".values")),
                              seconds=PREPARE_SECONDS, **asked)  # fmt: skip
    assert prepared["type"] == "prepared", prepared
    assert prepared["parameters"] == CASES[name]["parameters"]
    how = {"updates": 0, "learning_rate": 0.0, "momentum": 0.0}
    worker.send({"type": "evaluate", "output": str(folder / (name + ".output")), **how})
    assert worker.read() == {"type": "evaluated", "losses": [], "gradient_norms": {}}


def distances(start, folder, names, **asked):
    for name in names:
        (folder / (name + ".graph.json")).write_text(json.dumps({"batch": BATCH, "graph": CASES[name]}))
    oracle("draw", folder)
    for name in names:
        evaluate(start, folder, name, **asked)
    found = oracle("compare", folder)
    assert [one["found"] for one in found] == [one["shape"] for one in found]
    return {one["name"]: one["distance"] for one in found}


def test_every_operator_computes_what_its_formula_says(start, tmp_path):
    listed = set(info("libtorch")["operators"])
    assert {node["op"] for case in CASES.values() for node in case["nodes"]} == listed
    found = distances(start, tmp_path, CASES)
    assert max(found.values()) < 1e-5, found


def test_operators_compute_the_same_in_another_layout(start, tmp_path):
    images = [name for name, case in CASES.items() if any(len(i["shape"]) == 3 for i in case["inputs"])]
    found = distances(start, tmp_path, images, settings={"layout": "nhwc"})
    assert len(found) > 5 and max(found.values()) < 1e-5, found


def test_bf16_is_less_than_fp32(start, tmp_path):
    """bf16 keeps 8 bits: 2^-9 = 0.2 % for each rounding, some of them in a row. fp32 would be below 1e-5."""
    found = distances(start, tmp_path, ["convolutions", "transformer", "recurrent", "decoder"], precision="bf16")
    assert min(found.values()) > 1e-4 and max(found.values()) < 0.03, found


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_every_operator_trains(start, precision):
    """Forward and backward, node by node, with dropout and all."""
    for name, graph in CASES.items():
        if graph["parameters"] == 0 or (precision == "bf16" and name == "norms"):
            continue
        worker = start("libtorch")
        prepared = worker.prepare(network=name, graph=graph, batch=BATCH, mode="train", precision=precision)
        assert prepared["type"] == "prepared", prepared
        layers = worker.measure(detail="layers", max_samples=2, seconds=30)
        assert layers["type"] == "done", (name, layers)
        assert list(layers["layers"]) == [*(node["name"] for node in graph["nodes"]), "loss", "update"], layers
        assert worker.close() == 0


@pytest.mark.parametrize("mode", ["infer", "train"])
def test_layers_lie_within_the_step(worker, mode):
    worker.prepare(**SMALL, mode=mode, seconds=PREPARE_SECONDS)
    result = worker.measure(detail="layers", max_samples=5)
    for i, step_ns in enumerate(result["ns"]):
        parts = [forward[i] + (backward[i] if backward else 0) for forward, backward in result["layers"].values()]
        assert all(part >= 0 for part in parts) and 0 < sum(parts) <= step_ns
    if mode == "train":  # the backward pass comes to each node with a function of its own
        assert all(min(backward) > 0 for name, (_, backward) in result["layers"].items() if name != "update")
        assert set(result["layers"]["update"][1]) == {0}


def test_versions_name_what_torch_stands_on(worker):
    versions = worker.prepare(**SMALL, seconds=PREPARE_SECONDS)["versions"]
    assert versions["torch"] == info("libtorch")["release"]
    assert {"mkl", "onednn", "openmp"} <= set(versions)


def heavy():
    """All arithmetic, so that every thread has its share of it."""
    nodes = [graphs.convolution("conv%d" % i, "conv%d" % (i - 1) if i else "image", [64, 56, 56], 64) for i in range(4)]
    return {"network": "heavy", "graph": graphs.graph([graphs.image([64, 56, 56])], nodes), "batch": 4}


def busy_threads(worker, seconds=1.0):
    """Threads that were used in a measured window, seen from outside."""
    worker.measure(seconds=0.3, max_samples=100_000)
    window = Window(worker.process.pid)
    worker.measure(seconds=seconds, max_samples=100_000)
    return window.close().used


@pytest.mark.timing
@pytest.mark.parametrize("threads", [1, 2])
def test_intra_op_is_read_back_and_seen_from_outside(worker, threads):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    contrary = {"intra_op": threads, "library_threads": 3 - threads}  # set_num_threads wins over OMP_NUM_THREADS
    prepared = worker.prepare(**heavy(), settings=contrary, seconds=PREPARE_SECONDS)
    assert prepared["effective"]["intra_op"] == prepared["effective"]["library_threads"] == threads
    assert busy_threads(worker) == threads


@pytest.mark.parametrize("threads", [1, 2])
def test_library_threads_alone(start, threads):
    worker = start("libtorch", env={"OMP_NUM_THREADS": str(3 - threads)})
    prepared = worker.prepare(**SMALL, settings={"library_threads": threads}, seconds=PREPARE_SECONDS)
    assert prepared["effective"]["library_threads"] == prepared["effective"]["intra_op"] == threads


def test_inter_op_is_read_back(worker):
    prepared = worker.prepare(**SMALL, settings={"inter_op": 3}, seconds=PREPARE_SECONDS)
    assert prepared["effective"]["inter_op"] == 3


@pytest.mark.timing
@pytest.mark.parametrize("spin", [False, True])
def test_spin_reaches_openmp(worker, spin):
    """A thread that waits passively leaves its CPU: seen where the worker has nothing to do."""
    assert worker.prepare(**heavy(), settings={"spin": spin, "intra_op": 2})["type"] == "prepared"
    worker.measure(seconds=0, max_samples=1)
    before, begin_ns = on_cpu_ns(worker.process.pid), time.monotonic_ns()
    threading.Event().wait(0.3)  # the window in which the worker has nothing to do, not a synchronisation
    idle_ns = time.monotonic_ns() - begin_ns
    used = sum(on_cpu_ns(worker.process.pid).values()) - sum(before.values())
    assert (used > 0.05 * idle_ns) == spin


def test_layout_is_read_back(start):
    for layout in ("nchw", "nhwc"):
        prepared = start("libtorch").prepare(**SMALL, settings={"layout": layout}, seconds=PREPARE_SECONDS)
        assert prepared["effective"]["layout"] == layout


REFUSED = {
    "precision": ({**SMALL, "precision": "fp16"}, "fp16"),
    "layout": ({**SMALL, "settings": {"layout": "chwn"}}, "chwn"),
    "compile": ({**SMALL, "settings": {"compile": "inductor"}}, "compile"),
    "loaders": ({**SMALL, "settings": {"loaders": 2}}, "loaders"),
    "network": ({"network": "banana"}, "banana"),
    "ranks": ({**SMALL, "ranks": 2}, "2 ranks"),
    "device": ({**SMALL, "placement": {"device": "cuda", "ranks": 1}}, "cuda"),
    "version": ({"network": "small", "graph": {**SMALL["graph"], "version": 2}}, "version 2"),
    "loss": ({"network": "small", "graph": {**SMALL["graph"], "loss": "hinge"}}, "hinge"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_it_cannot_do_is_refused_by_name(worker, case):
    asked, part = REFUSED[case]
    refused(worker.prepare(**asked, seconds=PREPARE_SECONDS), part)


def test_an_unknown_operator_is_refused_by_name(worker):
    graph = graphs.graph([graphs.image([3, 4, 4])], [graphs.node("odd", "fourier", "image", [3, 4, 4])])
    refused(worker.prepare(network="odd", graph=graph, seconds=PREPARE_SECONDS), "fourier", "odd")


def test_a_layout_without_images_is_refused(worker):
    graph = graphs.graph(
        [graphs.tokens(4, 5)], [graphs.node("words", "embedding", "tokens", [4, 2], [[5, 2]], rows=5, features=2)]
    )
    refused(worker.prepare(network="words", graph=graph, settings={"layout": "nhwc"}), "layout", "image")


def test_an_operator_that_the_cpu_has_in_fp32_alone_is_refused(worker):
    refused(worker.prepare(network="norms", graph=CASES["norms"], precision="bf16"), "local_response_norm", "bf16")


def test_another_number_of_parameters_has_failed(worker):
    graph = {**SMALL["graph"], "parameters": 1}
    answer = worker.prepare(network="small", graph=graph, seconds=PREPARE_SECONDS)
    assert answer["kind"] == "failed" and "906" in answer["message"]


def test_fp32_that_is_less_is_refused(start):
    worker = start("libtorch", env={"ONEDNN_DEFAULT_FPMATH_MODE": "BF16"})
    refused(worker.prepare(**SMALL), "ONEDNN_DEFAULT_FPMATH_MODE", "bf16")


def test_want_of_memory_has_its_own_kind(worker):
    """The convolution's output alone takes 2^42 bytes; input and weights are small."""
    graph = graphs.graph(
        [graphs.image([1, 4, 4])], [graphs.convolution("wide", "image", [2**16, 4, 4], 1, kernel=1, padding=0)]
    )
    worker.prepare(network="wide", graph=graph, batch=2**20, seconds=PREPARE_SECONDS)
    answer = worker.measure(max_samples=1)
    assert answer["kind"] == "out_of_memory", answer


def dropping_network():
    """One that is another when it trains: a batch norm, and dropout of nearly all."""
    nodes = [
        graphs.convolution("conv", "image", [8, 8, 8], 1),
        graphs.norm("norm", "batch_norm", "conv", [8, 8, 8], 8),
        graphs.node("relu", "relu", "norm", [8, 8, 8]),
        graphs.node("flat", "flatten", "relu", [512]),
        graphs.node("drop", "dropout", "flat", [512], probability=0.9),
        graphs.linear("fc", "drop", [10], 512),
    ]
    return graphs.graph([graphs.image([1, 8, 8])], nodes, loss="cross_entropy", name="dropping")


def test_what_is_judged_is_the_network_as_it_infers(worker):
    """With dropout each forward pass would find others right, and without the norm's own statistics few."""
    workload = {"network": "dropping", "mode": "train", "batch": 32, "precision": "fp32", "data": "digits"}
    options = {"until": "accuracy>=97%", "epochs": 100, "optimizer": "sgd", "learning_rate": 0.01}
    prepared = worker.prepare(workload={**workload, "options": options}, graph=dropping_network(),
                              seconds=PREPARE_SECONDS)  # fmt: skip
    assert prepared["type"] == "prepared", prepared
    worker.measure(seconds=1e6, max_samples=88)
    found = []
    for _ in range(5):
        worker.send({"type": "score"})
        found.append(worker.read()["correct"])
    assert len(set(found)) == 1 and found[0] > 240, found


def test_digits_in_bf16_and_in_another_layout(start):
    options = {"until": "accuracy>=97%", "epochs": 100, "optimizer": "adam", "learning_rate": 0.001}
    for precision, layout in (("bf16", "nchw"), ("fp32", "nhwc")):
        worker = start("libtorch")
        workload = {"network": "dropping", "mode": "train", "batch": 32, "precision": precision, "data": "digits"}
        prepared = worker.prepare(workload={**workload, "options": options}, graph=dropping_network(),
                                  settings={"layout": layout}, seconds=PREPARE_SECONDS)  # fmt: skip
        assert prepared["effective"]["layout"] == layout
        worker.measure(seconds=1e6, max_samples=88)
        worker.send({"type": "score"})
        assert worker.read()["correct"] > 180  # of 360; 36 would be guessed


def test_digits_for_what_is_no_graph_are_refused(worker):
    options = {"until": "accuracy>=97%", "epochs": 100, "optimizer": "sgd", "learning_rate": 0.01}
    workload = {"network": "banana", "mode": "train", "batch": 32, "precision": "fp32", "data": "digits"}
    refused(worker.prepare(workload={**workload, "options": options}), "data 'digits'", "banana")
