"""workers/pytorch over the protocol: settings that take effect, what it refuses, primitives."""

import json
import os
import pathlib
import subprocess
import threading
import time

import graphs
import pytest
from conftest import FOLDERS, info, interpreter, on_cpu_ns
from threads import Window

SMALL = {"network": "small", "graph": graphs.small_network()}
GEMM = {"network": "gemm", "batch": 1}
PREPARE_SECONDS = 60


@pytest.fixture
def worker(start):
    return start("pytorch")


def refused(answer, *parts):
    assert (answer["type"], answer["kind"]) == ("error", "refused"), answer
    for part in parts:
        assert part in answer["message"]


def busy_threads(worker, seconds=1.0):
    """Threads that were used in a measured window, seen from outside."""
    worker.measure(seconds=0.3, max_samples=100_000)
    window = Window(worker.process.pid)
    worker.measure(seconds=seconds, max_samples=100_000)
    return window.close().used


def test_worker_json_lists_the_operators_there_are():
    source = (
        "import sys; sys.path[:0] = [%r, %r]\nfrom assay_pytorch import operators; print(sorted(operators.TABLE))"
    ) % (str(FOLDERS["pytorch"]), str(FOLDERS["pytorch"].parent / "common"))
    argv = [interpreter("pytorch"), "-c", source]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout.replace("'", '"')) == sorted(info("pytorch")["operators"])


def test_versions_name_what_torch_stands_on(worker):
    versions = worker.prepare(**SMALL, seconds=PREPARE_SECONDS)["versions"]
    assert versions["torch"].split("+")[0] == info("pytorch")["release"]
    assert {"python", "mkl", "onednn", "openmp", "numpy"} <= set(versions)


@pytest.mark.timing
@pytest.mark.parametrize("threads", [1, 2])
def test_intra_op_is_read_back_and_seen_from_outside(worker, threads):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    contrary = {"intra_op": threads, "library_threads": 3 - threads}  # set_num_threads wins over OMP_NUM_THREADS
    prepared = worker.prepare(**GEMM, settings=contrary, seconds=PREPARE_SECONDS)
    assert prepared["effective"]["intra_op"] == prepared["effective"]["library_threads"] == threads
    assert busy_threads(worker) == threads


@pytest.mark.parametrize("threads", [1, 2])
def test_library_threads_alone(worker, threads):
    prepared = worker.prepare(**GEMM, settings={"library_threads": threads}, seconds=PREPARE_SECONDS)
    assert prepared["effective"]["library_threads"] == prepared["effective"]["intra_op"] == threads


@pytest.mark.timing
def test_a_contrary_variable_loses_against_the_setting(start):
    worker = start("pytorch", env={"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})
    prepared = worker.prepare(**GEMM, settings={"intra_op": 2}, seconds=PREPARE_SECONDS)
    assert prepared["effective"]["intra_op"] == 2
    assert busy_threads(worker) == 2


def test_inter_op_is_read_back(worker):
    prepared = worker.prepare(**SMALL, settings={"inter_op": 3}, seconds=PREPARE_SECONDS)
    assert prepared["effective"]["inter_op"] == 3


@pytest.mark.timing
@pytest.mark.parametrize("spin", [False, True])
def test_spin_reaches_openmp(worker, spin):
    """A thread that waits passively leaves its CPU: seen in a step that is serial but for a short parallel part."""
    settings = {"spin": spin, "intra_op": 2}
    assert worker.prepare(**SMALL, settings=settings, seconds=PREPARE_SECONDS)["type"] == "prepared"
    worker.measure(seconds=0, max_samples=1)
    environment = pathlib.Path("/proc/%d/environ" % worker.process.pid).read_bytes()
    assert b"OMP_WAIT_POLICY" not in environment  # it was set by the worker itself, before torch was loaded
    before, begin_ns = on_cpu_ns(worker.process.pid), time.monotonic_ns()
    threading.Event().wait(0.3)  # the window in which the worker has nothing to do, not a synchronisation
    idle_ns = time.monotonic_ns() - begin_ns
    used = sum(on_cpu_ns(worker.process.pid).values()) - sum(before.values())
    assert (used > 0.05 * idle_ns) == spin  # a spinning thread may have to share its CPU, a sleeping one uses nothing


def test_layout_is_read_back(start):
    for layout in ("nchw", "nhwc"):
        prepared = start("pytorch").prepare(**SMALL, settings={"layout": layout}, seconds=PREPARE_SECONDS)
        assert prepared["effective"]["layout"] == layout


@pytest.mark.parametrize("mode", ["infer", "train"])
def test_a_compiled_step_has_phases_but_no_layers(worker, mode):
    prepared = worker.prepare(**SMALL, mode=mode, settings={"compile": "inductor"}, seconds=300)
    assert prepared["effective"]["compile"] == "inductor", prepared
    assert prepared["parameters"] == SMALL["graph"]["parameters"]
    # Compiled while preparing: no sample holds seconds of a compiler.
    assert max(worker.measure(max_samples=3, seconds=5)["ns"]) < 1e9
    result = worker.measure(detail="phases", max_samples=3, seconds=5)
    assert set(result["phases"]) == ({"forward", "backward", "update"} if mode == "train" else {"forward"})
    refused(worker.measure(detail="layers"), "layers", "compile")


def test_triad_has_its_options_and_nothing_to_train(start):
    options = {"elements": 1000}
    assert start("pytorch").prepare(network="triad", batch=1, options=options)["parameters"] == 0
    refused(start("pytorch").prepare(network="triad", batch=1, options={"elements": 0}), "elements", "0")
    refused(start("pytorch").prepare(network="triad", batch=1, mode="train"), "train")
    refused(start("pytorch").prepare(network="gemm", batch=2), "batch 2")


def test_gemm_is_refused_layers(worker):
    worker.prepare(**GEMM, options={"m": 32, "n": 32, "k": 32}, precision="bf16")
    assert worker.measure(detail="phases", max_samples=2)["phases"]["forward"]
    refused(worker.measure(detail="layers"), "gemm", "single operation")


def test_a_primitive_has_neither_layout_nor_compiler(start):
    for name, value in (("layout", "nhwc"), ("compile", "inductor")):
        refused(start("pytorch").prepare(**GEMM, settings={name: value}), name)


CASES = {
    "precision": ({**SMALL, "precision": "fp16"}, "fp16"),
    "layout": ({**SMALL, "settings": {"layout": "chwn"}}, "chwn"),
    "compiler": ({**SMALL, "settings": {"compile": "banana"}}, "banana"),
    "setting": ({**SMALL, "settings": {"loaders": 2}}, "loaders"),
    "network": ({"network": "banana"}, "banana"),
    "cuda": ({**SMALL, "placement": {"device": "cuda", "ranks": 1}}, "cuda"),
    "device": ({**SMALL, "placement": {"device": "tpu", "ranks": 1}}, "tpu"),
    "version": ({"network": "small", "graph": {**SMALL["graph"], "version": 2}}, "version 2"),
    "loss": ({"network": "small", "graph": {**SMALL["graph"], "loss": "hinge"}}, "hinge"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_it_cannot_do_is_refused_by_name(worker, case):
    asked, part = CASES[case]
    if case == "cuda" and pathlib.Path("/dev/nvidia0").exists():
        pytest.skip("there is a GPU")
    refused(worker.prepare(**asked, seconds=PREPARE_SECONDS), part)


def test_an_unknown_operator_is_refused_by_name(worker):
    graph = graphs.graph([graphs.image([3, 4, 4])], [graphs.node("odd", "fourier", "image", [3, 4, 4])])
    refused(worker.prepare(network="odd", graph=graph, seconds=PREPARE_SECONDS), "fourier", "odd")


def test_a_layout_without_images_is_refused(worker):
    graph = graphs.graph(
        [graphs.tokens(4, 5)], [graphs.node("words", "embedding", "tokens", [4, 2], [[5, 2]], rows=5, features=2)]
    )
    refused(worker.prepare(network="words", graph=graph, settings={"layout": "nhwc"}), "layout", "image")


def test_another_number_of_parameters_has_failed(worker):
    graph = {**SMALL["graph"], "parameters": 1}
    answer = worker.prepare(network="small", graph=graph, seconds=PREPARE_SECONDS)
    assert answer["kind"] == "failed" and "906" in answer["message"]


def test_fp32_that_is_less_is_refused(start):
    worker = start("pytorch", env={"ONEDNN_DEFAULT_FPMATH_MODE": "BF16"})
    refused(worker.prepare(**SMALL), "ONEDNN_DEFAULT_FPMATH_MODE", "bf16")


def test_want_of_memory_has_its_own_kind(worker):
    answer = worker.prepare(network="triad", batch=1, options={"elements": 2**39}, seconds=PREPARE_SECONDS)
    assert answer["kind"] == "out_of_memory", answer


def test_want_of_memory_in_a_step(worker):
    """The first convolution's output alone takes 2^42 bytes; input and weights are small."""
    graph = graphs.graph(
        [graphs.image([1, 4, 4])], [graphs.convolution("wide", "image", [2**16, 4, 4], 1, kernel=1, padding=0)]
    )
    worker.prepare(network="wide", graph=graph, batch=2**20, seconds=PREPARE_SECONDS)
    answer = worker.measure(max_samples=1)
    assert answer["kind"] == "out_of_memory", answer
