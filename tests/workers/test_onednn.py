"""workers/onednn over the protocol: settings that take effect, and what it refuses. Values: operation_test.cpp."""

import os
import threading
import time

import pytest
from conftest import FOLDERS, info, on_cpu_ns
from threads import Window

GEMM = {"network": "gemm", "batch": 1, "options": {"m": 512, "n": 512, "k": 512}}

pytestmark = pytest.mark.skipif(not (FOLDERS["onednn"] / "worker.json").exists(), reason="built without oneDNN")


@pytest.fixture
def worker(start):
    return start("onednn")


def refused(answer, *parts):
    assert (answer["type"], answer["kind"]) == ("error", "refused"), answer
    for part in parts:
        assert part in answer["message"]


@pytest.mark.timing
@pytest.mark.parametrize("threads", [1, 2])
def test_intra_op_is_read_back_and_seen_from_outside(worker, threads):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    prepared = worker.prepare(**GEMM, settings={"intra_op": threads})
    assert prepared["effective"] == {"intra_op": threads}
    worker.measure(seconds=0.2, max_samples=100_000)
    window = Window(worker.process.pid)
    worker.measure(seconds=0.7, max_samples=100_000)
    assert window.close().used == threads


@pytest.mark.timing
@pytest.mark.parametrize("spin", [False, True])
def test_spin_reaches_openmp(worker, spin):
    """A thread that waits passively leaves its CPU, one that spins does not."""
    assert worker.prepare(**GEMM, settings={"spin": spin, "intra_op": 2})["type"] == "prepared"
    worker.measure(seconds=0, max_samples=1)
    before, begin_ns = on_cpu_ns(worker.process.pid), time.monotonic_ns()
    threading.Event().wait(0.3)  # the window in which the worker has nothing to do, not a synchronisation
    idle_ns = time.monotonic_ns() - begin_ns
    used = sum(on_cpu_ns(worker.process.pid).values()) - sum(before.values())
    assert (used > 0.05 * idle_ns) == spin


def test_the_release_is_that_of_worker_json(worker):
    versions = worker.prepare(**GEMM)["versions"]
    assert versions["onednn"].rsplit(".", 1)[0] == info("onednn")["release"]


CASES = {
    "network": ({"network": "attention"}, ("attention", "conv2d")),
    "option": ({"network": "gemm", "options": {"m": 0}}, ("'m'", "0")),
    "choice": ({"network": "conv2d", "options": {"pass": "sideways"}}, ("sideways", "backward_data")),
    "samples": ({"network": "triad", "batch": 2}, ("batch 2",)),
    "training": ({"network": "conv2d", "mode": "train"}, ("train", "conv2d")),
    "precision": ({"network": "layer_norm", "precision": "int8"}, ("int8", "bf16, fp32")),
    "int8 gradient": (
        {"network": "conv2d", "precision": "int8", "options": {"pass": "backward_data"}},
        ("int8", "backward_data"),
    ),
    "device": ({"network": "gemm", "placement": {"device": "cuda", "ranks": 1}}, ("cuda",)),
    "setting": ({"network": "gemm", "settings": {"library_threads": 1}}, ("library_threads",)),
}


@pytest.mark.parametrize("case", CASES)
def test_what_it_cannot_do_is_refused_by_name(worker, case):
    asked, parts = CASES[case]
    refused(worker.prepare(**{"batch": 1, **asked}), *parts)


def test_fp32_that_is_less_is_refused(start):
    worker = start("onednn", env={"ONEDNN_DEFAULT_FPMATH_MODE": "BF16"})
    refused(worker.prepare(**GEMM), "ONEDNN_DEFAULT_FPMATH_MODE", "bf16")


def test_want_of_memory_has_its_own_kind(worker):
    answer = worker.prepare(network="triad", batch=1, options={"elements": 2**39})
    assert answer["kind"] == "out_of_memory", answer
