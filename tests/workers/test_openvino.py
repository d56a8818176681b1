"""workers/openvino over the protocol: what it computes, settings that take effect, what it refuses."""

import hashlib
import json
import os
import pathlib
import select
import subprocess

import graphs
import pytest
from conftest import info, interpreter, on_cpu_ns
from operator_cases import CASES

HERE = pathlib.Path(__file__).resolve().parent
SMALL = {"network": "small", "graph": graphs.small_network()}
BATCH = 3
USED_SHARE = 0.2  # of the busiest thread's time: a thread that waits uses less
PREPARE_SECONDS = 60


@pytest.fixture
def worker(start):
    return start("openvino")


def refused(answer, *parts):
    assert (answer["type"], answer["kind"]) == ("error", "refused"), answer
    for part in parts:
        assert part in answer["message"]


def oracle(task, folder):
    argv = [interpreter("openvino"), HERE / "numpy_oracle.py", task, folder]
    done = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def evaluate(start, folder, name, precision):
    worker = start("openvino")
    prepared = worker.prepare(network=name, graph=CASES[name], batch=BATCH, precision=precision,
                              values=str(folder / (name + ".values")), seconds=PREPARE_SECONDS)  # fmt: skip
    assert prepared["type"] == "prepared", prepared
    assert prepared["parameters"] == CASES[name]["parameters"]
    asked = {"updates": 0, "learning_rate": 0.0, "momentum": 0.0}
    worker.send({"type": "evaluate", "output": str(folder / (name + ".output")), **asked})
    assert worker.read() == {"type": "evaluated", "losses": [], "gradient_norms": {}}


def distances(start, folder, names, precision):
    for name in names:
        (folder / (name + ".graph.json")).write_text(json.dumps({"batch": BATCH, "graph": CASES[name]}))
    oracle("draw", folder)
    for name in names:
        evaluate(start, folder, name, precision)
    found = oracle("compare", folder)
    assert [one["found"] for one in found] == [one["shape"] for one in found]
    return {one["name"]: one["distance"] for one in found}


def test_every_operator_computes_what_its_formula_says(start, tmp_path):
    listed = set(info("openvino")["operators"])
    assert {node["op"] for case in CASES.values() for node in case["nodes"]} == listed
    found = distances(start, tmp_path, CASES, "fp32")
    assert max(found.values()) < 1e-5, found


def test_bf16_is_less_than_fp32(start, tmp_path):
    """bf16 keeps 8 bits: 2^-9 = 0.2 % for each rounding, some of them in a row. fp32 would be below 1e-5."""
    if "amx_bf16" not in pathlib.Path("/proc/cpuinfo").read_text():
        pytest.skip("this CPU has no bf16 of its own")
    [distance] = distances(start, tmp_path, ["convolutions"], "bf16").values()
    assert 1e-4 < distance < 0.03


def test_evaluate_needs_values(worker):
    worker.prepare(**SMALL, seconds=PREPARE_SECONDS)
    asked = {"updates": 0, "learning_rate": 0.0, "momentum": 0.0}
    worker.send({"type": "evaluate", "output": "/nowhere/x", **asked})
    assert worker.read()["kind"] == "failed"


def test_values_that_do_not_fit_the_graph_are_named(start, tmp_path):
    (tmp_path / "rows.graph.json").write_text(json.dumps({"batch": BATCH, "graph": CASES["rows"]}))
    oracle("draw", tmp_path)
    values = str(tmp_path / "rows.values")
    answer = start("openvino").prepare(network="rows", graph=CASES["rows"], batch=BATCH + 1, values=values)
    assert answer["kind"] == "failed" and "input/rows" in answer["message"] and "[4, 5, 8]" in answer["message"]
    answer = start("openvino").prepare(**SMALL, values=values)
    assert answer["kind"] == "failed" and "image" in answer["message"]
    (tmp_path / "broken").write_bytes(b"\xff" * 64)
    answer = start("openvino").prepare(**SMALL, values=str(tmp_path / "broken"))
    assert answer["kind"] == "failed" and "not a safetensors file" in answer["message"]


def busy_threads(worker, seconds=1.0):
    """Threads that were on a CPU for a fifth of what the busiest was while measuring, seen from outside."""
    worker.measure(seconds=0.3, max_samples=100_000)
    before = on_cpu_ns(worker.process.pid)
    worker.measure(seconds=seconds, max_samples=100_000)
    used = [ns - before.get(thread, 0) for thread, ns in on_cpu_ns(worker.process.pid).items()]
    return sum(ns >= USED_SHARE * max(used) for ns in used)


def heavy():
    """All arithmetic, so that every thread has its share of it."""
    nodes = [graphs.convolution("conv%d" % i, "conv%d" % (i - 1) if i else "image", [64, 56, 56], 64) for i in range(4)]
    return {"network": "heavy", "graph": graphs.graph([graphs.image([64, 56, 56])], nodes), "batch": 4}


@pytest.mark.timing
@pytest.mark.parametrize("threads", [1, 2])
def test_intra_op_is_read_back_and_seen_from_outside(start, threads):
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    worker = start("openvino", env={"OMP_NUM_THREADS": str(3 - threads)})  # there is no OpenMP in it
    prepared = worker.prepare(**heavy(), settings={"intra_op": threads}, seconds=PREPARE_SECONDS)
    assert prepared["effective"]["intra_op"] == threads, prepared
    assert busy_threads(worker) == threads


def is_pinned(worker):
    """Whether its first thread, which computes where there is only one, was seen with fewer CPUs than it was given
    while steps were taken. In between OpenVINO gives it all of them back."""
    given, seen = os.sched_getaffinity(0), set()
    worker.send({"type": "measure", "detail": "step", "seconds": 0.5, "max_samples": 1_000_000})
    while not select.select([worker.process.stdout], [], [], 0)[0]:
        seen.add(frozenset(os.sched_getaffinity(worker.process.pid)))
    return seen != {frozenset(given)}


PINNED = {
    "alone": ({"settings": {"intra_op": 1}}, True),
    "instances": ({"settings": {"intra_op": 1}, "instances": 2}, False),
    "affinity": ({"settings": {"intra_op": 1, "affinity": "none"}}, False),
}


@pytest.mark.parametrize("case", PINNED)
def test_openvino_pins_threads_only_where_assay_does_not_place_them(worker, case):
    """Each process pins from the first CPU on, so that two of them would share one."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    asked, pinned = PINNED[case]
    assert worker.prepare(**heavy(), **asked, seconds=PREPARE_SECONDS)["type"] == "prepared"
    assert is_pinned(worker) == pinned


def test_inter_op_is_taken_and_one_request_stays_one(worker):
    prepared = worker.prepare(**heavy(), settings={"inter_op": 2, "intra_op": 2}, seconds=PREPARE_SECONDS)
    assert (prepared["effective"]["inter_op"], prepared["effective"]["intra_op"]) == (1, 2)


def test_layers_are_refused_with_the_reason(worker):
    worker.prepare(**SMALL, seconds=PREPARE_SECONDS)
    assert set(worker.measure(detail="phases", max_samples=2)["phases"]) == {"forward"}
    refused(worker.measure(detail="layers"), "layers", "as one")


def test_versions_name_the_release(worker):
    versions = worker.prepare(**SMALL, seconds=PREPARE_SECONDS)["versions"]
    assert versions["openvino"] == info("openvino")["release"]


REFUSED = {
    "mode": ({**SMALL, "mode": "train"}, "mode train"),
    "precision": ({**SMALL, "precision": "fp16"}, "fp16"),
    "library_threads": ({**SMALL, "settings": {"library_threads": 2}}, "library_threads"),
    "spin": ({**SMALL, "settings": {"spin": True}}, "spin"),
    "compile": ({**SMALL, "settings": {"compile": "banana"}}, "compile"),
    "layout": ({**SMALL, "settings": {"layout": "nhwc"}}, "layout"),
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


def test_a_norm_over_an_even_number_of_channels_is_refused(worker):
    local = graphs.node("local", "local_response_norm", "image", [6, 4, 4], size=4, alpha=1.0, beta=0.5, k=1.0)
    refused(worker.prepare(network="even", graph=graphs.graph([graphs.image([6, 4, 4])], [local])), "local", "size 4")


def test_another_number_of_parameters_has_failed(worker):
    graph = {**SMALL["graph"], "parameters": 1}
    answer = worker.prepare(network="small", graph=graph, seconds=PREPARE_SECONDS)
    assert answer["kind"] == "failed" and "906" in answer["message"]


def test_fp32_that_is_less_is_refused(start):
    worker = start("openvino", env={"ONEDNN_DEFAULT_FPMATH_MODE": "BF16"})
    refused(worker.prepare(**SMALL), "ONEDNN_DEFAULT_FPMATH_MODE", "bf16")


def test_want_of_memory_has_its_own_kind(worker):
    """The convolution's output alone takes 2^42 bytes; input and weights are small."""
    graph = graphs.graph(
        [graphs.image([1, 4, 4])], [graphs.convolution("wide", "image", [2**20, 4, 4], 1, kernel=1, padding=0)]
    )
    answer = worker.prepare(network="wide", graph=graph, batch=2**16, seconds=PREPARE_SECONDS)
    if answer["type"] == "prepared":
        answer = worker.measure(max_samples=1)
    assert answer["kind"] == "out_of_memory", answer


# A user's own network. ONNX is protobuf: a field is its number and wire type, then a number or a length and bytes.


def number(value):
    out = b""
    while value >= 0x80:
        out, value = out + bytes([value & 0x7F | 0x80]), value >> 7
    return out + bytes([value])


def field(index, value):
    if isinstance(value, int):
        return number(index << 3) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(index << 3 | 2) + number(len(value)) + value


def tensor_info(name, shape):
    """ValueInfoProto of floats; text in `shape` is an open dimension."""
    dims = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))


def onnx_file(path, shape):
    """y = relu(x), in opset 13."""
    relu = field(1, "x") + field(2, "y") + field(4, "Relu")
    graph = field(1, relu) + field(2, "g") + field(11, tensor_info("x", shape)) + field(12, tensor_info("y", shape))
    path.write_bytes(field(1, 8) + field(7, graph) + field(8, field(2, 13)))
    return {"path": str(path), "function": None, "hash": hashlib.sha256(path.read_bytes()).hexdigest()[:32]}


def test_an_onnx_file_runs_with_the_batch_in_its_open_dimension(start, tmp_path):
    for shape in (["n", 3, 8], [5, 3, 8]):
        worker = start("openvino")
        file = onnx_file(tmp_path / "net.onnx", shape)
        prepared = worker.prepare(network="net.onnx", file=file, batch=5, seconds=PREPARE_SECONDS)
        assert prepared["type"] == "prepared" and prepared["parameters"] is None, prepared
        assert len(worker.measure(max_samples=3)["ns"]) == 3


def test_what_an_onnx_file_leaves_open_is_refused_by_name(start, tmp_path):
    def asked(shape, batch=5, **more):
        file = {**onnx_file(tmp_path / "net.onnx", shape), **more.pop("change", {})}
        return start("openvino").prepare(network="net.onnx", file=file, batch=batch, **more)

    refused(asked(["n", "length", 8]), "'x'", "dimension 1")
    refused(asked([1, 3, 8]), "batch 5", "'x'", "batch 1")
    refused(asked([]), "'x'", "first dimension")
    refused(asked(["n", 3], change={"hash": "0" * 32}), "net.onnx", "has changed", "0" * 32)
    refused(asked(["n", 3], change={"path": "/nowhere/net.onnx"}), "/nowhere/net.onnx")
    refused(asked(["n", 3], options={"banana": 1}), "banana")
    refused(asked(["n", 3], values=str(tmp_path / "net.onnx")), "values")
    (tmp_path / "net.txt").write_text("no network")
    digest = hashlib.sha256(b"no network").hexdigest()[:32]
    refused(asked(["n"], change={"path": str(tmp_path / "net.txt"), "hash": digest}), "net.txt")
