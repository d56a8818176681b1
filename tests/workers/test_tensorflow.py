"""workers/tensorflow over the protocol: settings that take effect, what it refuses, users' files, ranks, values."""

import hashlib
import itertools
import json
import math
import pathlib
import random
import re
import socket
import struct
import subprocess
import textwrap

import graphs
import pytest
from conftest import FOLDERS, info, interpreter, on_cpu_ns

SMALL = {"network": "small", "graph": graphs.small_network()}
GEMM = {"network": "gemm", "batch": 1}
PREPARE_SECONDS = 120
CHECKS = pathlib.Path(__file__).with_name("tensorflow_checks.py")
NAMES = re.findall(r"^def (check_\w+)", CHECKS.read_text(), re.MULTILINE)


@pytest.fixture
def worker(start):
    return start("tensorflow")


def refused(answer, *parts):
    assert (answer["type"], answer["kind"]) == ("error", "refused"), answer
    for part in parts:
        assert part in answer["message"]


@pytest.fixture(scope="module")
def failures():
    """Name of each check that ran, with its traceback or None: see tensorflow_checks.py."""
    argv = [interpreter("tensorflow"), str(CHECKS)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["check"]: line["failure"] for line in lines}


@pytest.mark.parametrize("name", NAMES)
def test_value(failures, name):
    assert failures[name] is None, failures[name]


def test_worker_json_lists_the_operators_there_are():
    """Read from the sources: keys of the tables, without loading TensorFlow once more."""
    found = []
    for file in ("operators.py", "sequences.py"):
        source = (FOLDERS["tensorflow"] / "assay_tensorflow" / file).read_text()
        found += re.findall(r'^    "(\w+)":', source[source.index("TABLE = {") :], re.MULTILINE)
    assert sorted(found) == sorted(info("tensorflow")["operators"])


def threads_at_work(worker):
    """How many threads TensorFlow has for operators side by side, and how many helped within one while measured: those
    used at least a fifth as much of a CPU as the busiest. The latter keep the name of the program."""
    folder = pathlib.Path("/proc/%d/task" % worker.process.pid)
    worker.measure(seconds=0.3, max_samples=100_000)
    before = on_cpu_ns(worker.process.pid)
    worker.measure(seconds=1, max_samples=100_000)
    used = {t: ns - before.get(t, 0) for t, ns in on_cpu_ns(worker.process.pid).items()}
    names = {t: (folder / t / "comm").read_text().strip() for t in used}
    own = names[str(worker.process.pid)]
    helpers = [t for t in used if names[t] == own and t != str(worker.process.pid)]
    side_by_side = sum(name == "tf_Compute" for name in names.values())
    return side_by_side, sum(used[t] >= max(used.values()) / 5 for t in helpers)


@pytest.mark.full  # counts threads: needs an idle machine
@pytest.mark.parametrize("intra_op, inter_op, helpers", [(1, 3, 0), (2, 1, 2)])
def test_threads_are_read_back_and_seen_from_outside(start, intra_op, inter_op, helpers):
    """With one thread for an operator nobody helps the one that runs it. OpenMP's variables change nothing."""
    contrary = {"OMP_NUM_THREADS": str(3 - intra_op), "MKL_NUM_THREADS": str(3 - intra_op)}
    worker = start("tensorflow", env=contrary)
    settings = {"intra_op": intra_op, "inter_op": inter_op, "library_threads": 3 - intra_op}
    prepared = worker.prepare(**GEMM, settings=settings, seconds=PREPARE_SECONDS)
    assert prepared["effective"] == {"intra_op": intra_op, "inter_op": inter_op}
    assert threads_at_work(worker) == (inter_op, helpers)


@pytest.mark.timing
def test_a_compiled_training_step(worker):
    settings = {"compile": "xla", "layout": "nhwc"}
    prepared = worker.prepare(**SMALL, mode="train", settings=settings, seconds=PREPARE_SECONDS)
    assert prepared["effective"] == settings and prepared["parameters"] == SMALL["graph"]["parameters"]
    assert prepared["versions"]["tensorflow"] == info("tensorflow")["release"]
    result = worker.measure(detail="phases", max_samples=3, seconds=5)
    assert set(result["phases"]) == {"forward", "backward", "update"}
    assert max(result["ns"]) < 1e9  # compiled while preparing
    refused(worker.measure(detail="layers"), "layers")


CASES = {
    "precision": ({**SMALL, "precision": "fp16"}, "fp16"),
    "layout": ({**SMALL, "settings": {"layout": "nchw"}}, "nchw"),
    "compiler": ({**SMALL, "settings": {"compile": "banana"}}, "banana"),
    "setting": ({**SMALL, "settings": {"spin": True}}, "spin"),
    "buckets of one rank": ({**SMALL, "mode": "train", "settings": {"bucket_bytes": 1024}}, "bucket_bytes"),
    "compiled gemm": ({**GEMM, "settings": {"compile": "xla"}}, "compile"),
    "device": ({**SMALL, "placement": {"device": "cuda", "ranks": 1}}, "cuda"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_it_cannot_do_is_refused_by_name(worker, case):
    asked, part = CASES[case]
    refused(worker.prepare(**asked), part)


def test_fp32_that_is_less_is_refused(start):
    worker = start("tensorflow", env={"ONEDNN_DEFAULT_FPMATH_MODE": "BF16"})
    refused(worker.prepare(**SMALL), "ONEDNN_DEFAULT_FPMATH_MODE", "bf16")


def test_an_unknown_operator_is_refused_by_name(worker):
    graph = graphs.graph([graphs.image([3, 4, 4])], [graphs.node("odd", "fourier", "image", [3, 4, 4])])
    refused(worker.prepare(network="odd", graph=graph, seconds=PREPARE_SECONDS), "fourier", "odd")


def test_another_number_of_parameters_has_failed(worker):
    graph = {**SMALL["graph"], "parameters": 1}
    answer = worker.prepare(network="small", graph=graph, seconds=PREPARE_SECONDS)
    assert answer["kind"] == "failed" and "906" in answer["message"]


def test_want_of_memory_has_its_own_kind(worker):
    """The output alone takes 2^42 bytes; input and weight are small."""
    x = {"name": "x", "shape": [1], "type": "real"}
    graph = graphs.graph([x], [graphs.linear("wide", "x", [2**22], 1, bias=False)])
    answer = worker.prepare(network="wide", graph=graph, batch=2**18, seconds=PREPARE_SECONDS)
    assert answer["kind"] == "out_of_memory", answer


USERS_FILE = """
    import keras
    import numpy
    from helper import HIDDEN

    def pair(width=4):
        layers = [keras.layers.Dense(HIDDEN, activation="relu"), keras.layers.Dense(3)]
        return keras.Sequential(layers), lambda batch: numpy.ones((batch, width))

    class Product(keras.Model):
        def __init__(self):
            super().__init__()
            self.scale = self.add_weight(shape=(1,), initializer="ones")

        def call(self, given, training=False):
            return {"product": self.scale * given["a"] * given["b"]}

    def dictionaries():
        make_input = lambda batch: {"a": numpy.ones((batch, 5)), "b": numpy.ones((batch, 5))}
        return Product(), make_input, lambda output: keras.ops.mean(output["product"])
"""


USERS = [("pair", {"width": 7}, 7 * 6 + 6 + 6 * 3 + 3), ("dictionaries", {}, 1)]


@pytest.mark.parametrize("function, options, parameters", USERS)
def test_a_users_own_network(worker, tmp_path, function, options, parameters):
    """Options reach the function, and inputs and outputs have any structure."""
    (tmp_path / "helper.py").write_text("HIDDEN = 6\n")
    path = tmp_path / "settings.py"  # called like a module of the worker's own
    path.write_text(textwrap.dedent(USERS_FILE))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:32]
    given = {"path": str(path), "function": function, "hash": digest}
    answer = worker.prepare(mode="train", network="own", file=given, options=options, seconds=PREPARE_SECONDS)
    assert answer.get("parameters") == parameters, answer
    assert len(worker.measure(max_samples=3)["ns"]) == 3


def test_a_changed_file_is_refused(worker, tmp_path):
    (tmp_path / "own.py").write_text("def net(): pass\n")
    given = {"path": str(tmp_path / "own.py"), "function": "net", "hash": "0" * 32}
    refused(worker.prepare(network="own", file=given, seconds=PREPARE_SECONDS), "has changed", "own.py")


BATCH, FEATURES = 2, 3
LINEAR = graphs.graph(
    [{"name": "x", "shape": [FEATURES], "type": "real"}], [graphs.linear("fc", "x", [1], FEATURES, bias=False)]
)


def write_values(path, weight, inputs):
    """A file of values by hand, from lists of floats."""
    arrays = {"fc/weight": ([1, FEATURES], weight), "input/x": ([BATCH, FEATURES], list(itertools.chain(*inputs)))}
    header, data = {}, b""
    for name, (shape, numbers) in arrays.items():
        begin, data = len(data), data + struct.pack("<%df" % len(numbers), *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def outputs(weight, inputs):
    return [sum(w * x for w, x in zip(weight, row)) for row in inputs]


def mean_square(values):
    return sum(v * v for v in values) / len(values)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.mark.parametrize("settings", [{}, {"compile": "xla", "bucket_bytes": 1}])
def test_two_ranks_train_on_the_joint_batch(start, tmp_path, settings):
    """Each rank has data of its own. By hand: SGD with momentum on the mean square over both; d/dw = 2 mean(y x)."""
    draw = random.Random(3).gauss
    weight = [draw(0, 1) for _ in range(FEATURES)]
    data = [[[draw(0, 1) for _ in range(FEATURES)] for _ in range(BATCH)] for _ in range(2)]
    peers = ["127.0.0.1:%d" % free_port() for _ in range(2)]
    workers = [start("tensorflow") for _ in range(2)]
    for rank, (worker, inputs) in enumerate(zip(workers, data)):
        write_values(tmp_path / str(rank), weight, inputs)
        workload = {"network": "linear", "mode": "train", "batch": BATCH, "precision": "fp32", "options": {}}
        message = {"type": "prepare", "protocol": 1, "workload": workload, "graph": LINEAR, "settings": settings}
        message.update({"rank": rank, "ranks": 2, "peers": peers, "values": str(tmp_path / str(rank)), "seed": 1})
        worker.send({**message, "placement": {"device": "cpu", "ranks": 2}, "instance": 0, "instances": 1})
    for worker in workers:
        prepared = worker.read(PREPARE_SECONDS)
        assert prepared["type"] == "prepared", prepared
        assert settings.items() <= prepared["effective"].items()
    for worker in workers:
        worker.send({"type": "measure", "detail": "phases", "seconds": 1000, "max_samples": 3})
    for worker in workers:
        samples, done = worker.read(PREPARE_SECONDS), worker.read(PREPARE_SECONDS)
        assert set(samples["phases"]) == {"forward", "backward", "communicate", "update"} and done["samples"] == 3
    for worker in workers:
        asked = {"output": str(tmp_path / "none"), "updates": 4, "learning_rate": 0.05, "momentum": 0.9}
        worker.send({"type": "evaluate", **asked})
    told = [worker.read(PREPARE_SECONDS) for worker in workers]

    joint, moved = data[0] + data[1], [0.0] * FEATURES
    for update in range(5):
        for answer, inputs in zip(told, data):
            assert answer["losses"][update] == pytest.approx(mean_square(outputs(weight, inputs)), rel=1e-4)
        y = outputs(weight, joint)
        gradient = [2 * sum(v * row[i] for v, row in zip(y, joint)) / len(y) for i in range(FEATURES)]
        if update == 0:
            for answer in told:
                assert answer["gradient_norms"]["fc/weight"] == pytest.approx(math.hypot(*gradient), rel=1e-4)
        moved = [0.9 * m + g for m, g in zip(moved, gradient)]
        weight = [w - 0.05 * m for w, m in zip(weight, moved)]
    for worker in workers:
        worker.send({"type": "exit"})
    assert [worker.process.wait(60) for worker in workers] == [0, 0]
