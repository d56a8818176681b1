"""workers/onnxruntime over the protocol: settings that take effect, the cache, what it refuses."""

import json
import os
import subprocess
import threading
import time

import graphs
import pytest
from conftest import BUILD, FOLDERS, ROOT, info, interpreter, on_cpu_ns

SMALL = {"network": "small", "graph": graphs.small_network()}
USED_SHARE = 0.1  # of the window: ONNX Runtime has no threads that only wait or schedule, and hosts are busy
TWO_CPUS = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")


@pytest.fixture
def worker(start):
    return start("onnxruntime")


def refused(answer, *parts):
    assert (answer["type"], answer["kind"]) == ("error", "refused"), answer
    for part in parts:
        assert part in answer["message"]


def branches(count):
    """As many convolutions side by side, some milliseconds each."""
    nodes = [graphs.convolution("branch%d" % i, "image", [64, 32, 32], 64) for i in range(count)]
    nodes.append(graphs.node("all", "concat", [n["name"] for n in nodes], [64 * count, 32, 32]))
    return {"network": "branches", "graph": graphs.graph([graphs.image([64, 32, 32])], nodes), "batch": 4}


def busy_threads(worker):
    """Threads that were on a CPU for a part of a measured window, seen from outside."""
    worker.measure(seconds=0.3, max_samples=100_000)
    before, begin_ns = on_cpu_ns(worker.process.pid), time.monotonic_ns()
    worker.measure(seconds=1, max_samples=100_000)
    window_ns = time.monotonic_ns() - begin_ns
    after = on_cpu_ns(worker.process.pid)
    return sum(after[t] - before.get(t, 0) >= USED_SHARE * window_ns for t in after)


def test_worker_json_lists_the_operators_there_are():
    source = (
        "import sys; sys.path[:0] = [%r, %r]\nfrom assay_onnxruntime import operators; print(sorted(operators.TABLE))"
    ) % (str(FOLDERS["onnxruntime"]), str(FOLDERS["onnxruntime"].parent / "common"))
    argv = [interpreter("onnxruntime"), "-c", source]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout.replace("'", '"')) == sorted(info("onnxruntime")["operators"])


def test_versions_name_the_release(worker):
    versions = worker.prepare(**SMALL)["versions"]
    assert versions["onnxruntime"] == info("onnxruntime")["release"]
    assert {"python", "onnx", "numpy"} <= set(versions)


def test_another_release_beside_it_keeps_the_protocol():
    """`assay worker install onnxruntime==1.24.4` made the one that this was tried with."""
    pinned = interpreter("onnxruntime").parents[1]
    others = sorted(p.parent.name for p in pinned.parent.glob("onnxruntime-*/installed.json") if p.parent != pinned)
    if not others:
        pytest.skip("only %s is installed" % pinned.name)
    for name in others:
        argv = [BUILD / "assay", "worker", "check", name.replace("-", "==")]
        env = {**os.environ, "ASSAY_WORKERS": str(ROOT / "workers")}
        done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False, env=env)
        assert done.returncode == 0, done.stdout


@pytest.mark.timing
@TWO_CPUS
@pytest.mark.parametrize("threads", [1, 2])
def test_intra_op_is_read_back_and_seen_from_outside(start, threads):
    """One operator at a time: what is busy besides the caller are threads within an operator. A variable of
    its own that says otherwise, and library_threads, have no say."""
    worker = start("onnxruntime", env={"ORT_INTRA_OP_NUM_THREADS": str(3 - threads)})
    settings = {"intra_op": threads, "library_threads": 3 - threads}
    prepared = worker.prepare(**branches(1), settings=settings)
    assert prepared["effective"] == {"intra_op": threads, "inter_op": 1}
    assert busy_threads(worker) == threads


@pytest.mark.timing
@TWO_CPUS
@pytest.mark.parametrize("threads", [1, 2])
def test_inter_op_is_read_back_and_seen_from_outside(worker, threads):
    prepared = worker.prepare(**branches(2), settings={"intra_op": 1, "inter_op": threads})
    assert prepared["effective"] == {"intra_op": 1, "inter_op": threads}
    assert busy_threads(worker) == threads


def test_both_pools_are_told_apart(worker):
    prepared = worker.prepare(**SMALL, settings={"intra_op": 3, "inter_op": 2})
    assert prepared["effective"] == {"intra_op": 3, "inter_op": 2}


def test_left_alone_it_says_what_it_chose(worker):
    effective = worker.prepare(**SMALL)["effective"]
    assert effective["inter_op"] == 1 and 1 <= effective["intra_op"] <= os.cpu_count()
    assert "spin" not in effective


@TWO_CPUS
@pytest.mark.timing
@pytest.mark.parametrize("pool", ["intra_op", "inter_op"])
@pytest.mark.parametrize("spin", [False, True])
def test_spin_is_seen_after_a_step(worker, pool, spin):
    """A pool that spins goes on for tens of milliseconds when its last step is over; one that does not is asleep."""
    settings = {"intra_op": 1, pool: 2, "spin": spin}
    assert worker.prepare(**branches(2), settings=settings)["effective"]["spin"] == spin
    used_ns = []
    for _ in range(5):
        worker.measure(seconds=0.05, max_samples=100)
        before = on_cpu_ns(worker.process.pid)
        threading.Event().wait(0.2)  # the window itself: nothing is waited for
        used_ns.append(sum(on_cpu_ns(worker.process.pid).values()) - sum(before.values()))
    assert (max(used_ns) > 5e6) == spin, used_ns


@TWO_CPUS
def test_threads_that_would_leave_their_cpus_are_refused(start):
    """Left alone it binds a thread to each core of the machine but the first; this worker may use only the first."""
    cpus = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cpus)})
    try:
        alone, told = start("onnxruntime"), start("onnxruntime")
    finally:
        os.sched_setaffinity(0, cpus)
    answer = alone.prepare(**SMALL)
    if answer["type"] == "prepared":
        assert answer["effective"]["intra_op"] == 1  # the machine has one core, or the kernel kept it in
    else:
        refused(answer, "intra_op", "CPU")
    assert told.prepare(**SMALL, settings={"intra_op": 2})["effective"]["intra_op"] == 2


def test_a_network_is_written_once(start, tmp_path):
    """The second time the file is found: what is in it counts, and it is not written again."""
    cache = str(tmp_path)
    assert start("onnxruntime").prepare(**SMALL, cache=cache)["parameters"] == 906
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".data", ".onnx"]
    first = {p: p.stat().st_ino for p in tmp_path.iterdir()}
    assert start("onnxruntime").prepare(**{**SMALL, "batch": 3}, cache=cache)["type"] == "prepared"
    assert {p: p.stat().st_ino for p in tmp_path.iterdir()} == first
    next(tmp_path.glob("*.onnx")).write_bytes(b"no ONNX")
    assert start("onnxruntime").prepare(**SMALL, cache=cache)["kind"] == "failed"


def test_another_graph_is_another_file_and_another_run_is_not(start, tmp_path):
    """Every run has a seed of its own; a step still works after the model has been found."""
    other = {**SMALL["graph"], "loss": "mean_square"}
    for asked in ({}, {"seed": 2}, {"graph": other}, {"seed": 3}):
        worker = start("onnxruntime")
        assert worker.prepare(**{**SMALL, **asked}, cache=str(tmp_path))["type"] == "prepared"
        assert len(worker.measure(max_samples=2)["ns"]) == 2
    assert len(list(tmp_path.glob("*.onnx"))) == len(list(tmp_path.glob("*.data"))) == 2


def test_without_a_cache_nothing_stays(start, tmp_path):
    """Neither the network nor what telemetry would write."""
    worker = start("onnxruntime", env={"TMPDIR": str(tmp_path), "HOME": str(tmp_path)})
    assert worker.prepare(**SMALL)["type"] == "prepared"
    assert len(worker.measure(max_samples=2)["ns"]) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_nothing(start, tmp_path):
    answer = start("onnxruntime").prepare(
        network="small", graph={**SMALL["graph"], "parameters": 1}, cache=str(tmp_path)
    )
    assert answer["kind"] == "failed" and "906" in answer["message"]
    assert list(tmp_path.iterdir()) == []


CASES = {
    "mode": ({**SMALL, "mode": "train"}, "train"),
    "precision": ({**SMALL, "precision": "bf16"}, "bf16"),
    "layout": ({**SMALL, "settings": {"layout": "nhwc"}}, "layout"),
    "compiler": ({**SMALL, "settings": {"compile": "inductor"}}, "compile"),
    "setting": ({**SMALL, "settings": {"loaders": 2}}, "loaders"),
    "network": ({"network": "banana"}, "banana"),
    "pass": ({"network": "conv2d", "batch": 1, "options": {"pass": "backward_data"}}, "backward_data"),
    "ranks": ({**SMALL, "ranks": 2}, "2 ranks"),
    "device": ({**SMALL, "placement": {"device": "cuda", "ranks": 1}}, "cuda"),
    "version": ({"network": "small", "graph": {**SMALL["graph"], "version": 2}}, "version 2"),
    "loss": ({"network": "small", "graph": {**SMALL["graph"], "loss": "hinge"}}, "hinge"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_it_cannot_do_is_refused_by_name(worker, case):
    asked, part = CASES[case]
    refused(worker.prepare(**asked), part)


def test_an_unknown_operator_is_refused_by_name(worker):
    graph = graphs.graph([graphs.image([3, 4, 4])], [graphs.node("odd", "fourier", "image", [3, 4, 4])])
    refused(worker.prepare(network="odd", graph=graph), "fourier", "odd")


def test_layers_say_what_each_node_took(worker):
    """Eight times the channels, in and out, are 64 times the work; what is joined with it takes no time of its own."""
    nodes = [
        graphs.convolution("small", "image", [16, 64, 64], 16),
        graphs.node("joined", "relu", ["small"], [16, 64, 64]),
        graphs.convolution("grow", "joined", [128, 64, 64], 16),
        graphs.convolution("large", "grow", [128, 64, 64], 128),
    ]
    graph = graphs.graph([graphs.image([16, 64, 64])], nodes)
    worker.prepare(network="three", graph=graph, settings={"intra_op": 1})
    result = worker.measure(detail="layers", max_samples=5, seconds=30)
    assert set(result["layers"]) == {"small", "joined", "grow", "large"} and len(result["ns"]) == 5
    forward = {name: sorted(ns)[2] for name, (ns, backward) in result["layers"].items() if backward == []}
    assert forward["small"] == 0 < forward["joined"]
    assert forward["large"] > 4 * forward["joined"]
    assert sum(forward.values()) <= max(result["ns"])
    assert worker.measure(max_samples=3)["type"] == "done", "the plain session goes on"
    assert len(worker.measure(detail="layers", max_samples=2, seconds=30)["ns"]) == 2, "a second profile"


def test_layers_of_a_profile():
    """Recorded from ONNX Runtime: a convolution and its relu are one kernel named after the relu, and the kernel that
    brings its output into order, whose name is not that of a node, belongs to it."""
    checks = (
        "import json, sys; sys.path[:0] = [%r, %r]\n"
        "from assay_onnxruntime import profile\n"
        "nodes = ['conv1', 'relu1', 'pool1', 'conv2', 'relu2', 'flat', 'fc', 'y']\n"
        "print(json.dumps(profile.layers_of(json.load(open(%r)), nodes, 2)))\n"
        "print(json.dumps([profile.node_of(name, {'a': 0, 'a.b_c': 1, 'a1': 2}) for name in "
        "('a', 'a.b_c_nchwc', 'a/product/Fusion', 'a10', 'a1_nchwc', '', '/')]))"
    ) % (
        str(FOLDERS["onnxruntime"]),
        str(FOLDERS["onnxruntime"].parent / "common"),
        str(ROOT / "tests" / "recorded" / "profiles" / "onnxruntime.json"),
    )
    argv = [interpreter("onnxruntime"), "-c", checks]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    steps, places = map(json.loads, done.stdout.splitlines())
    # Microseconds of the last two of its runs, read from the file by hand: relu2 has 93 + 14 and 82 + 13 for ordering.
    assert [[ns // 1000 for ns in forward] for forward, _ in steps] == [
        [0, 116 + 37, 39, 0, 93 + 14, 9, 35, 14],
        [0, 131 + 36, 40, 0, 82 + 13, 10, 34, 14],
    ]
    assert places == [0, 1, 0, None, 2, None, None]


def test_primitives_have_no_layers(worker):
    answer = worker.prepare(network="gemm", batch=1, options={"m": 8, "n": 8, "k": 8})
    assert answer["type"] == "prepared", answer
    refused(worker.measure(detail="layers"), "layers", "networks of Assay's")


def test_want_of_memory_has_its_own_kind(worker):
    """The convolution's output alone takes 2^42 bytes; input and weights are small."""
    graph = graphs.graph(
        [graphs.image([1, 4, 4])], [graphs.convolution("wide", "image", [2**16, 4, 4], 1, kernel=1, padding=0)]
    )
    answer = worker.prepare(network="wide", graph=graph, batch=2**20)
    if answer["type"] == "prepared":
        answer = worker.measure(max_samples=1)
    assert answer["kind"] == "out_of_memory", answer
