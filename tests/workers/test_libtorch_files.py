"""TorchScript files on workers/libtorch: inputs as the options say, what is refused."""

import hashlib
import pathlib
import subprocess

import pytest
from conftest import interpreter

HERE = pathlib.Path(__file__).resolve().parent
PREPARE_SECONDS = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("torchscript")
    subprocess.run([interpreter("libtorch"), HERE / "torchscript_files.py", made], check=True, timeout=60)
    return made


@pytest.fixture
def prepare(start, folder):
    """Starts a worker on one of the files; the worker and its answer."""

    def prepared(name, options, change=None, batch=2, **more):
        path = folder / (name + ".pt")
        file = {"path": str(path), "function": None, "hash": hashlib.sha256(path.read_bytes()).hexdigest()[:32]}
        file.update(change or {})
        worker = start("libtorch")
        asked = {"network": name + ".pt", "file": file, "batch": batch, "options": options}
        return worker, worker.prepare(**asked, **more, seconds=PREPARE_SECONDS)

    return prepared


def refused(answer, *parts):
    assert (answer["type"], answer["kind"]) == ("error", "refused"), answer
    for part in parts:
        assert part in answer["message"]


@pytest.mark.parametrize("mode", ["infer", "train"])
def test_a_file_runs_by_steps_and_phases_and_has_no_layers(prepare, mode):
    worker, answer = prepare("linear", {"input": 4}, mode=mode)
    assert answer["parameters"] == 4 * 3 + 3, answer
    assert len(worker.measure(max_samples=3, seconds=10)["ns"]) == 3
    phases = worker.measure(detail="phases", max_samples=2)["phases"]
    assert set(phases) == ({"forward", "backward", "update"} if mode == "train" else {"forward"})
    refused(worker.measure(detail="layers"), "layers", "user's network")


def test_several_inputs_come_in_their_order(prepare):
    """Integers are 0 and 1, and integers of the file stay what they are; other rows than 2 would fail."""
    worker, answer = prepare("words", {"input": "integer:5", "input2": "5x4"})
    assert answer["parameters"] == 2 * 4, answer
    assert len(worker.measure(max_samples=2, seconds=10)["ns"]) == 2
    _, answer = prepare("words", {"input": "5x4", "input2": "integer:5"})
    assert answer["kind"] == "failed"  # an embedding of real numbers


CHECKED = {
    "fp32": {"precision": "fp32", "settings": {"layout": "nchw"}},
    "bf16": {"precision": "bf16"},
    "nhwc": {"settings": {"layout": "nhwc"}},
}


@pytest.mark.parametrize("name", CHECKED)
def test_sizes_precision_and_layout_reach_the_module(prepare, name):
    """The module itself asserts them; another size or another form fails."""
    _, answer = prepare(name, {"input": "3x8x9"}, **CHECKED[name])
    assert answer["type"] == "prepared", answer
    _, answer = prepare(name, {"input": "3x9x8"}, **CHECKED[name])
    assert answer["kind"] == "failed" and "x.shape" in answer["message"]
    other = CHECKED["nhwc" if name == "fp32" else "fp32"]
    assert prepare(name, {"input": "3x8x9"}, **other)[1]["kind"] == "failed"


REFUSED = {
    "no input": ({}, "input=3x224x224"),
    "no number": ({"input": "3xy"}, "'3xy'"),
    "no size": ({"input": "3x"}, "'3x'"),
    "nothing": ({"input": ""}, "not a shape"),
    "zero": ({"input": "3x0"}, "'3x0'"),
    "negative": ({"input": "-3"}, "'-3'"),
    "no integers": ({"input": "integer:"}, "integer:"),
    "too many sizes": ({"input": "1x1x1x1x1x1x1x1"}, "too large"),
    "too large": ({"input": "65536x65536"}, "too large"),
    "far too large": ({"input": "99999999999999999999"}, "not a shape"),
    "a gap": ({"input": "3", "input3": "3"}, "input3"),
    "unknown": ({"input": "3", "banana": 1}, "banana"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_options_that_describe_no_input_are_refused_by_name(prepare, case):
    options, part = REFUSED[case]
    refused(prepare("fixed", options)[1], part)


def test_what_cannot_be_trained_is_refused(prepare):
    refused(prepare("fixed", {"input": 3}, mode="train")[1], "train", "no parameters")
    refused(prepare("words", {"input": "integer:5", "input2": "5x4"}, mode="train")[1], "train", "Tuple")


def test_a_file_that_is_another_or_none_is_refused(prepare, folder, tmp_path):
    refused(prepare("fixed", {"input": 3}, {"hash": "0" * 32})[1], "fixed.pt", "has changed", "0" * 32)
    refused(prepare("fixed", {"input": 3}, {"path": "/nowhere/net.pt"})[1], "/nowhere/net.pt")
    refused(prepare("fixed", {"input": 3}, values=str(folder / "fixed.pt"))[1], "values")
    (tmp_path / "net.pt").write_text("no network")
    digest = hashlib.sha256(b"no network").hexdigest()[:32]
    change = {"path": str(tmp_path / "net.pt"), "hash": digest}
    refused(prepare("fixed", {"input": 3}, change)[1], "net.pt", "TorchScript")
