"""What every worker must do, whatever its framework. A new worker is one more line in WORKLOADS."""

import os

import graphs
import jsonschema
import pytest
import referencing
import value_files
from conftest import FOLDERS, Worker, info, schema

SHORT_ANSWER = {"prompt_tokens": 4, "output_tokens": 2, "sequences": 1}
WORKLOADS = {
    "fake": {},
    "toy_python": {},
    "toy_framework": {"network": "small", "graph": graphs.small_network(), "batch": 1},
    "command": {"network": "sleep", "command": ["sleep", "0.002"]},
    "mxnet": {"network": "small", "graph": graphs.small_network()},
    "onnxruntime": {"network": "small", "graph": graphs.small_network()},
    "pytorch": {"network": "small", "graph": graphs.small_network()},
    "libtorch": {"network": "small", "graph": graphs.small_network()},
    "mpi": {"network": "all_gather", "batch": 1},  # of one rank: a copy
    "tensorflow": {"network": "small", "graph": graphs.small_network()},
    "jax": {"network": "small", "graph": graphs.small_network()},
    "llamacpp": {"network": "llama_9m", "precision": "fp16", "generate": SHORT_ANSWER},
    "onnxruntime_genai": {"network": "llama_9m", "precision": "fp32", "generate": SHORT_ANSWER},
    "openvino_genai": {"network": "llama_9m", "precision": "fp16", "generate": SHORT_ANSWER},
    "vllm": {"network": "llama_9m", "precision": "fp16", "generate": SHORT_ANSWER},
    "onednn": {"network": "layer_norm", "batch": 1},
    "blas": {"network": "batched_gemm", "batch": 1},
    "pools": {"network": "tasks", "batch": 1},
    "openvino": {"network": "small", "graph": graphs.small_network()},
}
MAIN_PHASE = {"mpi": "communicate"}


@pytest.fixture(params=sorted(WORKLOADS), scope="module")
def name(request):
    if not (FOLDERS[request.param] / "worker.json").exists():
        pytest.skip("%s was left out of this build" % request.param)
    return request.param


@pytest.fixture(scope="module")
def prepared(name):
    """A worker that infers, and its answer; shared by tests that leave it as it was, since frameworks take seconds to
    start. It was given every inert setting, and a field that nobody knows."""
    worker = Worker(name)
    inert = {setting: 1 for setting in info(name)["inert"] if setting != "spin"}
    try:
        yield worker, worker.prepare(**WORKLOADS[name], settings=inert, banana={"a": [1]})
        assert worker.close() == 0
    finally:
        worker.kill()


def details(name):
    return info(name)["details"]


def test_worker_json_follows_its_schema(name):
    trial = referencing.Resource.from_contents(schema("trial"))
    registry = referencing.Registry().with_resource("trial.schema.json", trial)
    jsonschema.Draft202012Validator(schema("worker"), registry=registry).validate(info(name))
    assert info(name)["name"] == FOLDERS[name].name


def test_prepares_whatever_is_inert_or_unknown_and_measures(prepared):
    worker, answer = prepared
    assert answer["type"] == "prepared" and answer["protocol"] == 1 and answer["versions"]
    assert len(worker.measure(max_samples=3, seconds=10)["ns"]) == 3


def test_measure_repeats_and_the_clock_goes_on(prepared):
    worker, _ = prepared
    ends = 0
    for _ in range(5):
        result = worker.measure(max_samples=2, seconds=10)
        assert len(result["ns"]) == 2 and result["begin_ns"] >= ends
        assert sum(result["ns"]) <= result["end_ns"] - result["begin_ns"]
        ends = result["end_ns"]


def test_seconds_end_a_measure(prepared):
    result = prepared[0].measure(seconds=0.1, max_samples=1_000_000)
    assert result["end_ns"] - result["begin_ns"] >= 100_000_000
    assert sum(result["ns"][:-1]) < 100_000_000


def test_no_seconds_still_take_one_step(prepared):
    assert len(prepared[0].measure(seconds=0, max_samples=100)["ns"]) == 1


def test_the_process_started_has_the_protocol_closed_on_exec(prepared):
    """Descriptors 0 and 1 no longer lead to the protocol once prepared."""
    target = "/proc/%d/fd/%%d" % prepared[0].process.pid
    assert os.readlink(target % 0) == "/dev/null"
    assert os.readlink(target % 1) == os.readlink(target % 2)


OTHERS_ONLY = {("mpi", "train"), ("llamacpp", "infer")}  # other workloads have: files of steps train, products infer


@pytest.mark.parametrize("mode", ["infer", "train"])
def test_phases_and_layers_have_a_value_for_each_step(start, request, name, mode):
    if mode == "infer" and {"phases", "layers"} <= set(details(name)):  # nothing to refuse, which would end it
        worker, answer = request.getfixturevalue("prepared")
    else:
        worker = start(name)
        answer = worker.prepare(mode=mode, **WORKLOADS[name])
    if mode not in info(name)["modes"] or (name, mode) in OTHERS_ONLY:
        assert (answer["type"], answer["kind"]) == ("error", "refused") and mode in answer["message"]
        return
    for detail in ("phases", "layers"):
        if detail not in details(name):
            answer = worker.measure(detail=detail)
            assert (answer["type"], answer["kind"]) == ("error", "refused") and detail in answer["message"]
            return
        result = worker.measure(detail=detail, max_samples=4, seconds=10)
        if detail == "phases":
            assert MAIN_PHASE.get(name, "forward") in result["phases"]
            assert ("backward" in result["phases"]) == (mode == "train")
            for values in result["phases"].values():
                assert len(values) == len(result["ns"]) == 4
            for i, step in enumerate(result["ns"]):
                assert sum(values[i] for values in result["phases"].values()) <= step
        else:
            assert result["layers"]
            for forward, backward in result["layers"].values():
                assert len(forward) == 4 and len(backward) == (4 if mode == "train" else 0)


@pytest.fixture(params=sorted(name for name in WORKLOADS if "graph" in WORKLOADS[name] and name != "toy_framework"))
def writer(request):
    """A worker that gives the output of its last timed step."""
    assert info(request.param)["step_output"]
    return request.param


def test_the_output_of_the_last_step_is_that_of_evaluate(start, writer, tmp_path):
    values = value_files.write(tmp_path / "values", value_files.drawn(graphs.small_network(), 8))
    worker = start(writer)
    worker.prepare(**WORKLOADS[writer], values=values)
    outputs = []
    for number in range(2):  # evaluate may come again, and between measures
        timed, untimed = tmp_path / ("timed%d" % number), tmp_path / ("untimed%d" % number)
        assert len(worker.measure(max_samples=2, output=str(timed))["ns"]) == 2
        worker.send({"type": "evaluate", "output": str(untimed), "updates": 0, "learning_rate": 0.1, "momentum": 0})
        assert worker.read()["type"] == "evaluated"
        outputs += [value_files.read(timed)["output"], value_files.read(untimed)["output"]]
    shapes, flats = zip(*outputs)
    assert list(shapes) == [[8, 10]] * 4
    assert all(flat == pytest.approx(flats[1], rel=1e-5, abs=1e-6) for flat in flats) and len(set(flats[0])) > 1
    assert worker.close() == 0


def test_the_output_of_a_step_needs_values(start, writer, tmp_path):
    worker = start(writer)
    worker.prepare(**WORKLOADS[writer])
    answer = worker.measure(max_samples=1, output=str(tmp_path / "output"))
    assert (answer["type"], answer["kind"]) == ("error", "failed") and "values" in answer["message"]


def test_end_of_file_ends_it_like_exit(start, name):
    worker = start(name)
    worker.prepare(**WORKLOADS[name])
    worker.process.stdin.close()
    assert worker.read_line() is None
    assert worker.process.wait(10) == 0


def test_exit_before_prepare(start, name):
    assert start(name).close() == 0


def test_an_unknown_option_is_refused_by_name(start, name):
    """Options of a network that comes as a graph are the core's affair: such a worker is asked for a primitive, or
    where it has none for something without a graph."""
    worker = start(name)
    other = {"network": (info(name)["networks"] or ["none"])[0], "batch": 1}
    workload = other if "graph" in WORKLOADS[name] else WORKLOADS[name]
    answer = worker.prepare(**workload, options={"banana": 1})
    assert (answer["type"], answer["kind"]) == ("error", "refused") and "banana" in answer["message"]
    assert worker.read_line() is None
    worker.process.wait(10)


def test_a_setting_it_does_not_have_is_refused_by_name(start, name):
    answer = start(name).prepare(**WORKLOADS[name], settings={"bucket_bytes": 1024, "affinity": "compact"})
    assert (answer["type"], answer["kind"]) == ("error", "refused") and "bucket_bytes" in answer["message"]


def test_another_protocol_is_refused(start, name):
    worker = start(name, checked=False)
    answer = worker.prepare(**WORKLOADS[name], protocol=2)
    assert (answer["type"], answer["kind"]) == ("error", "refused") and "2" in answer["message"]


@pytest.mark.parametrize(
    "line", [{"type": "banana"}, {"type": "measure", "detail": "step", "seconds": 1, "max_samples": 1}]
)
def test_a_command_unknown_or_out_of_turn_is_an_error(start, name, line):
    worker = start(name, checked=False)
    worker.send(line)
    assert worker.read()["kind"] == "failed"
    assert worker.read_line() is None
