"""workers/jax over the protocol: settings that take effect, what it refuses, users' files, ranks, values."""

import hashlib
import json
import math
import os
import pathlib
import random
import re
import subprocess
import textwrap

import graphs
import pytest
import value_files
from conftest import FOLDERS, info, interpreter
from ranks import Ranks
from threads import Window, libraries

SMALL = {"network": "small", "graph": graphs.small_network()}
GEMM = {"network": "gemm", "batch": 1}
PREPARE_SECONDS = 120
CHECKS = pathlib.Path(__file__).with_name("jax_checks.py")
NAMES = re.findall(r"^def (check_\w+)", CHECKS.read_text(), re.MULTILINE)


@pytest.fixture
def worker(start):
    return start("jax")


def refused(answer, *parts):
    assert (answer["type"], answer["kind"]) == ("error", "refused"), answer
    for part in parts:
        assert part in answer["message"]


@pytest.fixture(scope="module")
def failures():
    """Name of each check that ran, with its traceback or None: see jax_checks.py."""
    argv = [interpreter("jax"), str(CHECKS)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["check"]: line["failure"] for line in lines}


@pytest.mark.parametrize("name", NAMES)
def test_value(failures, name):
    assert failures[name] is None, failures[name]


def test_worker_json_lists_the_operators_and_primitives_there_are():
    """Read from the source: keys of the tables, without loading JAX."""
    for files, listed in ((("operators.py", "sequences.py"), "operators"), (("primitives.py",), "networks")):
        found = []
        for file in files:
            source = (FOLDERS["jax"] / "assay_jax" / file).read_text()
            found += re.findall(r'^    "(\w+)":', source[source.index("\nTABLE = {") :], re.MULTILINE)
        assert sorted(found) == sorted(info("jax")[listed])


@pytest.mark.full  # counts threads: needs an idle machine
@pytest.mark.parametrize("threads", [1, 2])
def test_threads_are_read_back_and_seen_from_outside(start, threads):
    """The setting wins over the variable that XLA reads too. Those of others change nothing."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    contrary = {"NPROC": str(3 - threads), "OMP_NUM_THREADS": str(3 - threads)}
    worker = start("jax", env=contrary)
    settings = {"intra_op": threads, "inter_op": 3 - threads, "library_threads": 3 - threads}
    prepared = worker.prepare(**SMALL, batch=64, settings=settings, seconds=PREPARE_SECONDS)
    assert prepared["effective"] == {"intra_op": threads, "layout": "nhwc"}
    worker.measure(seconds=0.3, max_samples=100_000)
    window = Window(worker.process.pid)
    worker.measure(seconds=1, max_samples=100_000)
    assert window.close().used == threads
    assert libraries(worker.process.pid) == []  # that bring threads of their own


def test_a_training_step(worker):
    settings = {"intra_op": 1, "layout": "nchw"}
    prepared = worker.prepare(**SMALL, mode="train", settings=settings, seconds=PREPARE_SECONDS)
    assert prepared["effective"] == settings and prepared["parameters"] == SMALL["graph"]["parameters"]
    assert prepared["versions"]["jax"] == prepared["versions"]["jaxlib"] == info("jax")["release"]
    result = worker.measure(detail="phases", max_samples=3, seconds=5)
    assert set(result["phases"]) == {"forward", "backward", "update"}
    refused(worker.measure(detail="layers"), "layers")


WORDS = graphs.node("words", "embedding", "tokens", [4, 3], [[5, 3]], rows=5, features=3)
TEXT = {"network": "text", "graph": graphs.graph([graphs.tokens(4, 5)], [WORDS])}
CASES = {
    "precision": ({**SMALL, "precision": "fp16"}, "fp16"),
    "layout": ({**SMALL, "settings": {"layout": "chwn"}}, "chwn"),
    "layout of text": ({**TEXT, "settings": {"layout": "nhwc"}}, "nhwc"),
    "compiler": ({**SMALL, "settings": {"compile": "xla"}}, "compile"),
    "setting": ({**SMALL, "settings": {"spin": True}}, "spin"),
    "device": ({**SMALL, "placement": {"device": "cuda", "ranks": 1}}, "cuda"),
    "network": ({"network": "banana"}, "banana"),
    "values of a primitive": ({**GEMM, "values": "/none"}, "values"),
    "version": ({"network": "small", "graph": {**SMALL["graph"], "version": 2}}, "version 2"),
    "training a primitive": ({**GEMM, "mode": "train"}, "train"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_it_cannot_do_is_refused_by_name(worker, case):
    asked, part = CASES[case]
    refused(worker.prepare(**asked), part)


def test_input_from_files_is_refused(worker, tmp_path):
    workload = {"network": "small", "graph": None, "mode": "infer", "batch": 2, "precision": "fp32", "options": {}}
    asked = {"workload": {**workload, "data": "files"}, "data_folder": str(tmp_path)}
    refused(worker.prepare(graph=SMALL["graph"], **asked), "files", "loader")


LOWERED = {
    "ONEDNN_DEFAULT_FPMATH_MODE": "BF16",
    "JAX_DEFAULT_MATMUL_PRECISION": "bfloat16",
    "XLA_FLAGS": "--xla_cpu_enable_fast_math=true",
}


@pytest.mark.parametrize("variable", LOWERED)
def test_fp32_that_is_less_is_refused(start, variable):
    worker = start("jax", env={variable: LOWERED[variable]})
    refused(worker.prepare(**SMALL), variable, LOWERED[variable])


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
    import jax.numpy as jnp
    import numpy
    from helper import HIDDEN

    def pair(width=4):
        def apply(parameters, x):
            for weight, bias in parameters:
                x = jnp.tanh(x @ weight + bias)
            return x

        sizes = ((width, HIDDEN), (HIDDEN, 3))
        parameters = [(numpy.ones(size), numpy.zeros(size[1])) for size in sizes]
        return apply, parameters, lambda batch: numpy.ones((batch, width))

    def dictionaries():
        def apply(parameters, given):
            return {"product": parameters["scale"] * given["a"] * given["b"]}

        make_input = lambda batch: {"a": numpy.ones((batch, 5)), "b": numpy.ones((batch, 5))}
        return apply, {"scale": numpy.array(1.0)}, make_input, lambda output: output["product"].mean()
"""


USERS = [("pair", {"width": 7}, 7 * 6 + 6 + 6 * 3 + 3), ("dictionaries", {}, 1)]


def users_file(folder, function):
    (folder / "helper.py").write_text("HIDDEN = 6\n")
    path = folder / "settings.py"  # called like a module of the worker's own
    path.write_text(textwrap.dedent(USERS_FILE))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:32]
    return {"path": str(path), "function": function, "hash": digest}


@pytest.mark.parametrize("mode", ["infer", "train"])
@pytest.mark.parametrize("function, options, parameters", USERS)
def test_a_users_own_network(worker, tmp_path, function, options, parameters, mode):
    """Options reach the function, and parameters, inputs and outputs have any structure."""
    asked = {"network": "own", "file": users_file(tmp_path, function), "options": options}
    answer = worker.prepare(mode=mode, seconds=PREPARE_SECONDS, **asked)
    assert answer.get("parameters") == parameters, answer
    assert len(worker.measure(max_samples=3)["ns"]) == 3


def test_a_parameter_without_dimensions_is_refused_with_several_ranks(start, tmp_path):
    """One that refuses is gone, which may end the other before it can say the same."""
    pair, asked = Ranks(start, "jax"), {"network": "own", "file": users_file(tmp_path, "dictionaries")}
    answers = pair.prepare(mode="train", seconds=PREPARE_SECONDS, **asked)
    told = [answer for answer in answers if answer is not None]
    assert told
    for answer in told:
        refused(answer, "[1]")


def test_a_changed_file_is_refused(worker, tmp_path):
    (tmp_path / "own.py").write_text("def net(): pass\n")
    given = {"path": str(tmp_path / "own.py"), "function": "net", "hash": "0" * 32}
    refused(worker.prepare(network="own", file=given, seconds=PREPARE_SECONDS), "has changed", "own.py")


BATCH, FEATURES = 2, 3
LINEAR = graphs.graph(
    [{"name": "x", "shape": [FEATURES], "type": "real"}], [graphs.linear("fc", "x", [1], FEATURES, bias=False)]
)


def write_values(path, weight, inputs):
    flat = [x for row in inputs for x in row]
    values = {"fc/weight": ([1, FEATURES], weight), "input/x": ([BATCH, FEATURES], flat)}
    return value_files.write(path, values)


def outputs(weight, inputs):
    return [sum(w * x for w, x in zip(weight, row)) for row in inputs]


def mean_square(values):
    return sum(v * v for v in values) / len(values)


def evaluate(worker, tmp_path):
    asked = {"output": str(tmp_path / "none"), "updates": 4, "learning_rate": 0.05, "momentum": 0.9}
    worker.send({"type": "evaluate", **asked})
    return worker.read(PREPARE_SECONDS)


def test_two_ranks_train_on_the_joint_batch(start, tmp_path):
    """Each rank has data of its own. By hand: SGD with momentum on the mean square over both; d/dw = 2 mean(y x)."""
    draw = random.Random(3).gauss
    weight = [draw(0, 1) for _ in range(FEATURES)]
    data = [[[draw(0, 1) for _ in range(FEATURES)] for _ in range(BATCH)] for _ in range(2)]
    files = [write_values(tmp_path / str(rank), weight, data[rank]) for rank in range(2)]
    pair, asked = Ranks(start, "jax"), {"network": "linear", "graph": LINEAR, "mode": "train", "batch": BATCH}
    for prepared in pair.prepare(lambda rank: {"values": files[rank]}, seconds=PREPARE_SECONDS, **asked):
        assert prepared["type"] == "prepared", prepared
    for detail in ("step", "phases"):
        results = pair.measure(detail=detail, seconds=1000, max_samples=3, wait=PREPARE_SECONDS)
        assert [len(result["ns"]) for result in results] == [3, 3]
    assert set(results[0]["phases"]) == {"forward", "backward", "communicate", "update"}
    told = pair.each(lambda worker, _: evaluate(worker, tmp_path))

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
    assert pair.close() == [0, 0]


WIDE = graphs.graph(
    [{"name": "x", "shape": [1000], "type": "real"}], [graphs.linear("fc", "x", [1000], 1000, bias=False)]
)


def written(worker):
    """Bytes that a process wrote so far, to sockets too."""
    lines = pathlib.Path("/proc/%d/io" % worker.process.pid).read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["wchar"])


@pytest.mark.parametrize("mode", ["train", "infer"])
def test_ranks_write_their_gradients_to_each_other_in_every_step(start, mode):
    """With two ranks an all-reduce that sends least has each send 2 (P - 1) / P = 1 times the gradients. Inferring,
    they write only what they answer."""
    pair, steps = Ranks(start, "jax"), 10
    for prepared in pair.prepare(network="wide", graph=WIDE, mode=mode, batch=2, seconds=PREPARE_SECONDS):
        assert prepared["type"] == "prepared", prepared
    before = [written(worker) for worker in pair.workers]
    pair.measure(seconds=1000, max_samples=steps, wait=PREPARE_SECONDS)
    for worker, was in zip(pair.workers, before):
        shares = (written(worker) - was) / (steps * 4 * WIDE["parameters"])
        assert shares >= 1 if mode == "train" else shares < 0.01
    assert pair.close() == [0, 0]


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_two_ranks_measure_a_network_with_norms(start, precision):
    pair = Ranks(start, "jax")
    for prepared in pair.prepare(**SMALL, mode="train", precision=precision, seconds=PREPARE_SECONDS):
        assert prepared["type"] == "prepared", prepared
    for detail in ("phases", "step", "phases"):  # each takes up what the other left
        results = pair.measure(detail=detail, seconds=1000, max_samples=2, wait=PREPARE_SECONDS)
        assert [len(result["ns"]) for result in results] == [2, 2]
    assert pair.close() == [0, 0]


def test_a_rank_that_dies_does_not_leave_the_other_waiting(start):
    """The other ends, or says that it failed; it does not answer as if all were well."""
    pair = Ranks(start, "jax")
    pair.prepare(**SMALL, mode="train", seconds=PREPARE_SECONDS)
    first, second = pair.workers
    second.process.kill()
    first.send({"type": "measure", "detail": "step", "seconds": 1000, "max_samples": 5})
    answer = first.read(PREPARE_SECONDS)
    assert answer is None or (answer["type"], answer["kind"]) == ("error", "failed"), answer
