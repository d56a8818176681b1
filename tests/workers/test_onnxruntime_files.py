"""A user's own network in workers/onnxruntime: an ONNX file, good and bad."""

import hashlib
import pathlib
import subprocess

import pytest
from conftest import interpreter

WRITER = pathlib.Path(__file__).with_name("onnx_files.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("onnx")
    subprocess.run([interpreter("onnxruntime"), WRITER, made], check=True, timeout=60)
    return made


@pytest.fixture
def ask(start, folder):
    """Prepares a file; the answer and the worker."""

    def asked(name, hashed=None, **more):
        path = folder / (name + ".onnx")
        digest = hashed or hashlib.sha256(path.read_bytes()).hexdigest()[:32]
        worker = start("onnxruntime")
        given = {"path": str(path), "function": None, "hash": digest}
        return worker.prepare(network=str(path), file=given, **{"batch": 2, **more}), worker

    return asked


def refused(answer, *parts):
    assert (answer["type"], answer["kind"]) == ("error", "refused"), answer
    for part in parts:
        assert part in answer["message"]


@pytest.mark.parametrize(
    "name, parameters", [("open", 15), ("unnamed", 15), ("fixed", 15), ("norm", 10), ("tokens", 24)]
)
def test_a_file_is_run(ask, name, parameters):
    answer, worker = ask(name, settings={"intra_op": 2})
    assert answer["parameters"] == parameters, answer
    assert answer["effective"] == {"intra_op": 2, "inter_op": 1}
    assert len(worker.measure(max_samples=3)["ns"]) == 3
    assert set(worker.measure(detail="phases", max_samples=3)["phases"]) == {"forward"}
    assert worker.close() == 0


CASES = {
    "another batch": ("fixed", {"batch": 3}, ("'x'", "batch of 2", "3")),
    "an open dimension": ("any_size", {}, ("'x'", "dimension 2", "height")),
    "no shape": ("no_shape", {}, ("'x'", "shape")),
    "text": ("text", {}, ("'x'", "string")),
    "half precision": ("half", {}, ("'x'", "float16")),
    "weights of half precision": ("half_stored", {}, ("'w'", "fp16")),
    "no ONNX": ("no", {}, ("no.onnx",)),
    "an option": ("open", {"options": {"banana": 1}}, ("banana",)),
    "training": ("open", {"mode": "train"}, ("train",)),
    "another file": ("open", {"hashed": "0" * 32}, ("has changed", "open.onnx")),
}


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_run_is_refused(ask, case):
    name, asked, parts = CASES[case]
    refused(ask(name, **asked)[0], *parts)


def test_a_file_that_is_gone_is_refused(start, tmp_path):
    given = {"path": str(tmp_path / "gone.onnx"), "function": None, "hash": "0" * 32}
    refused(start("onnxruntime").prepare(network="gone.onnx", file=given), "gone.onnx", "cannot be read")
