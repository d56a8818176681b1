"""workers/mxnet over the protocol: settings that take effect, what it refuses, several ranks, and what it computes."""

import array
import json
import os
import pathlib
import random
import re
import select
import socket
import subprocess
import threading
import time

import graphs
import pytest
from conftest import FOLDERS, info, interpreter, on_cpu_ns

CHECKS = pathlib.Path(__file__).with_name("mxnet_checks.py")
CHECK_NAMES = re.findall(r"^def (check_\w+)", CHECKS.read_text(), re.MULTILINE)
SMALL = {"network": "small", "graph": graphs.small_network()}
GEMM = {"network": "gemm", "batch": 1}
USED_SHARE = 0.2  # of what the process used: a thread that waits or schedules uses less
SECONDS = 60


@pytest.fixture
def worker(start):
    return start("mxnet")


@pytest.fixture(scope="module")
def failures():
    """Name of each check that ran, with its traceback or None."""
    done = subprocess.run([interpreter("mxnet"), CHECKS], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return {line["check"]: line["failure"] for line in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", CHECK_NAMES)
def test_value(failures, name):
    assert failures[name] is None, failures[name]


def refused(answer, *parts):
    assert (answer["type"], answer["kind"]) == ("error", "refused"), answer
    for part in parts:
        assert part in answer["message"]


def busy_threads(worker):
    worker.measure(max_samples=3, seconds=0.3, wait=SECONDS)
    before = on_cpu_ns(worker.process.pid)
    worker.measure(max_samples=100_000, seconds=1, wait=SECONDS)
    used = {t: ns - before.get(t, 0) for t, ns in on_cpu_ns(worker.process.pid).items()}
    return sum(ns >= USED_SHARE * sum(used.values()) for ns in used.values())


def test_worker_json_lists_the_operators_there_are():
    source = "import sys; sys.path[:0] = [%r, %r]\nfrom assay_mxnet import operators; print(sorted(operators.TABLE))"
    source %= (str(FOLDERS["mxnet"]), str(FOLDERS["mxnet"].parent / "common"))
    done = subprocess.run([interpreter("mxnet"), "-c", source], capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout.replace("'", '"')) == sorted(info("mxnet")["operators"])


@pytest.mark.full  # counts threads: needs an idle machine
@pytest.mark.parametrize("name", ["intra_op", "library_threads"])
@pytest.mark.parametrize("threads", [1, 2])
def test_openmp_threads_are_read_back_and_seen_from_outside(start, name, threads):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    worker = start("mxnet", env={"OMP_NUM_THREADS": "3", "MXNET_OMP_MAX_THREADS": "4"})  # the setting wins
    prepared = worker.prepare(**GEMM, settings={name: threads}, seconds=SECONDS)
    assert prepared["versions"]["mxnet"] == info("mxnet")["release"]
    assert prepared["effective"] == {"intra_op": threads, "library_threads": threads}
    assert busy_threads(worker) == threads


@pytest.mark.full  # counts threads: needs an idle machine
@pytest.mark.parametrize("threads", [1, 2])
def test_inter_op_is_seen_from_outside_when_training(worker, threads):
    settings = {"inter_op": threads, "intra_op": 1}
    prepared = worker.prepare(**SMALL, batch=64, mode="train", settings=settings, seconds=SECONDS)
    assert prepared["type"] == "prepared", prepared
    assert busy_threads(worker) == threads


@pytest.mark.full  # counts threads: needs an idle machine
@pytest.mark.parametrize("spin", [False, True])
def test_spin_reaches_openmp(worker, spin):
    """A thread that waits passively leaves its CPU, one that spins does not."""
    assert worker.prepare(**GEMM, settings={"spin": spin, "intra_op": 2}, seconds=SECONDS)["type"] == "prepared"
    worker.measure(seconds=0, max_samples=1)
    before, begin_ns = on_cpu_ns(worker.process.pid), time.monotonic_ns()
    threading.Event().wait(0.3)  # the window in which the worker has nothing to do, not a synchronisation
    idle_ns = time.monotonic_ns() - begin_ns
    used = sum(on_cpu_ns(worker.process.pid).values()) - sum(before.values())
    assert (used > 0.05 * idle_ns) == spin


def transformer():
    rows = [{"name": "rows", "shape": [4, 8], "type": "real"}]
    return graphs.graph(
        rows, [graphs.node("mix", "attention", ["rows"] * 3, [4, 8], heads=2, causal=False, dropout=0.0)]
    )


CASES = {
    "precision": ({**SMALL, "precision": "bf16"}, "bf16"),
    "setting": ({**SMALL, "settings": {"layout": "nhwc"}}, "layout"),
    "network": ({"network": "banana"}, "banana"),
    "device": ({**SMALL, "placement": {"device": "cuda", "ranks": 1}}, "cuda"),
    "version": ({"network": "small", "graph": {**SMALL["graph"], "version": 2}}, "version 2"),
    "loss": ({"network": "small", "graph": {**SMALL["graph"], "loss": "hinge"}}, "hinge"),
    "threads": ({**SMALL, "settings": {"intra_op": 1, "library_threads": 2}}, "library_threads 2"),
    "one piece": ({**SMALL, "settings": {"inter_op": 2}}, "inter_op 2"),
    "hang": ({"network": "mix", "graph": transformer(), "mode": "train", "settings": {"inter_op": 3}}, "inter_op 3"),
    "options": ({**GEMM, "options": {"m": 0}}, "m=0"),
    "batch": ({**GEMM, "batch": 2}, "batch 2"),
    "training": ({**GEMM, "mode": "train"}, "train"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_it_cannot_do_is_refused_by_name(worker, case):
    asked, part = CASES[case]
    refused(worker.prepare(**asked, seconds=SECONDS), part)


def test_an_unknown_operator_is_refused_by_name(worker):
    graph = graphs.graph([graphs.image([3, 4, 4])], [graphs.node("odd", "fourier", "image", [3, 4, 4])])
    refused(worker.prepare(network="odd", graph=graph, seconds=SECONDS), "fourier", "odd")


def test_another_number_of_parameters_has_failed(worker):
    answer = worker.prepare(network="small", graph={**SMALL["graph"], "parameters": 1}, seconds=SECONDS)
    assert answer["kind"] == "failed" and "906" in answer["message"]


def test_fp32_that_is_less_is_refused(start):
    worker = start("mxnet", env={"DNNL_DEFAULT_FPMATH_MODE": "BF16"})
    refused(worker.prepare(**SMALL), "DNNL_DEFAULT_FPMATH_MODE", "BF16")


def test_want_of_memory_has_its_own_kind(worker):
    """The output of the convolution alone takes 2^42 bytes; input and weights are small."""
    graph = graphs.graph(
        [graphs.image([1, 4, 4])], [graphs.convolution("wide", "image", [2**16, 4, 4], 1, kernel=1, padding=0)]
    )
    answer = worker.prepare(network="wide", graph=graph, batch=2**20, seconds=SECONDS)
    if answer["type"] == "prepared":
        answer = worker.measure(max_samples=1)
    assert answer["kind"] == "out_of_memory", answer


def free_ports(count):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [server.getsockname()[1] for server in held]
    for server in held:
        server.close()
    return ports


def together(start, workload, ranks=2, **of_rank):
    """Workers that know each other, prepared. `of_rank`: lists of what differs between them."""
    peers = ["127.0.0.1:%d" % port for port in free_ports(ranks)]
    workers = [start("mxnet") for _ in range(ranks)]
    common = {"ranks": ranks, "peers": peers, "placement": {"device": "cpu", "ranks": ranks}}

    def prepare(rank):
        own = {name: values[rank] for name, values in of_rank.items()}
        return workers[rank].prepare(**workload, **common, **own, rank=rank, seconds=SECONDS)

    assert [answer["type"] for answer in at_once(prepare, ranks)] == ["prepared"] * ranks
    return workers


def at_once(function, ranks):
    """What function(rank) returns, each called in a thread of its own."""
    answers = [None] * ranks

    def call(rank):
        answers[rank] = function(rank)

    threads = [threading.Thread(target=call, args=(rank,)) for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def write_values(path, tensors):
    """A safetensors file: name to shape and array."""
    header, data = {}, b""
    for name, (shape, numbers) in tensors.items():
        bounds = [len(data), len(data) + len(numbers) * numbers.itemsize]
        header[name] = {"dtype": {"f": "F32", "q": "I64"}[numbers.typecode], "shape": shape, "data_offsets": bounds}
        data += numbers.tobytes()
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return str(path)


def evaluate(worker, tmp_path):
    asked = {"type": "evaluate", "output": str(tmp_path / "none"), "updates": 3, "learning_rate": 0.1, "momentum": 0.9}
    worker.send(asked)
    answer = worker.read(SECONDS)
    return answer["losses"], answer["gradient_norms"]


def test_two_ranks_train_as_one_with_both_batches(start, tmp_path):
    """The mean of two batches' gradients is the gradient of both in one; the mean of their losses is its loss."""
    draw = random.Random(5)
    graph = graphs.graph(
        [{"name": "rows", "shape": [5], "type": "real"}], [graphs.linear("fc", "rows", [4], 5)], loss="cross_entropy"
    )
    rows = array.array("f", [draw.gauss(0, 1) for _ in range(8 * 5)])
    target = array.array("q", [draw.randrange(4) for _ in range(8)])
    weights = {"fc/weight": ([4, 5], array.array("f", [draw.gauss(0, 1) for _ in range(20)]))}
    weights["fc/bias"] = ([4], array.array("f", [draw.gauss(0, 1) for _ in range(4)]))

    def values(name, begin, end):
        own = {
            "input/rows": ([end - begin, 5], rows[5 * begin : 5 * end]),
            "target": ([end - begin], target[begin:end]),
        }
        return write_values(tmp_path / name, {**weights, **own})

    workload = {"network": "fc", "graph": graph, "mode": "train"}
    alone = start("mxnet")
    answer = alone.prepare(**workload, batch=8, values=values("both", 0, 8), seconds=SECONDS)
    assert answer["type"] == "prepared", answer
    wanted, wanted_norms = evaluate(alone, tmp_path)
    halves = [values("first", 0, 4), values("second", 4, 8)]
    workers = together(start, {**workload, "batch": 4}, values=halves)
    (first, first_norms), (second, second_norms) = at_once(lambda rank: evaluate(workers[rank], tmp_path), 2)
    assert abs(first[0] - second[0]) > 0.01  # they do not compute on the same
    assert [(a + b) / 2 for a, b in zip(first, second)] == pytest.approx(wanted, rel=1e-5)
    assert first_norms == pytest.approx(wanted_norms, rel=1e-5)
    assert second_norms == pytest.approx(wanted_norms, rel=1e-5)


def children(pid):
    return [int(child) for child in pathlib.Path("/proc/%d/task/%d/children" % (pid, pid)).read_text().split()]


def test_ranks_measure_together_and_leave_nothing_behind(start):
    workers = together(start, {**SMALL, "mode": "train"})
    begun = [children(worker.process.pid) for worker in workers]
    assert [len(pids) for pids in begun] == [2, 1]  # scheduler and server; server
    ends = [os.pidfd_open(pid) for pids in begun for pid in pids]
    for detail in ("step", "phases"):
        asked = {"detail": detail, "seconds": 1000, "max_samples": 5, "wait": SECONDS}
        results = at_once(lambda rank, asked=asked: workers[rank].measure(**asked), 2)
        assert [len(result["ns"]) for result in results] == [5, 5]
    assert set(results[0]["phases"]) == {"forward", "backward", "communicate", "update"}
    assert at_once(lambda rank: workers[rank].close(), 2) == [0, 0]
    for descriptor in ends:
        assert select.select([descriptor], [], [], SECONDS)[0], "a server outlived its worker"
        os.close(descriptor)


def test_servers_end_with_a_killed_worker(start):
    worker = together(start, {**SMALL, "mode": "train"})[0]
    ends = [os.pidfd_open(pid) for pid in children(worker.process.pid)]
    worker.process.kill()
    for descriptor in ends:
        assert select.select([descriptor], [], [], SECONDS)[0], "a server outlived its worker"
        os.close(descriptor)
