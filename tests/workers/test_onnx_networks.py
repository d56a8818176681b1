"""`assay show --network FILE.onnx` on networks of Assay's, written as ONNX by workers/onnxruntime: what the reader in
C++ finds must be what the graph says, though it reads nothing of the graph."""

import hashlib
import json
import os
import pathlib
import subprocess

import jsonschema
import pytest
import referencing
from conftest import BUILD, FOLDERS, interpreter, schema
from test_pytorch_networks import PARAMETERS

WRITER = pathlib.Path(__file__).with_name("onnx_networks.py")
FILES = pathlib.Path(__file__).with_name("onnx_files.py")
WITHOUT_GRAPH = {"bert_base", "gpt2"}  # attention is written out: its products count, but it is no node any more


def show(name):
    argv = [BUILD / "assay", "show", "--network", name, "--json"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Every network as NAME.onnx."""
    made = tmp_path_factory.mktemp("onnx")
    for name in PARAMETERS:
        (made / (name + ".json")).write_text(json.dumps(show(name)["graph"]))
    argv = [interpreter("onnxruntime"), WRITER, made, *sorted(made.glob("*.json"))]
    subprocess.run(argv, check=True, timeout=120)
    return made


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_file_says_what_the_graph_says(folder, name):
    wanted, found = show(name), show(str(folder / (name + ".onnx")))
    for field in ("parameters", "infer_flops", "train_flops", "width", "gradient_bytes"):
        assert found[field] == wanted[field], field
    assert found["parameters"] == PARAMETERS[name]
    if name in WITHOUT_GRAPH:
        assert found["graph"] is None and "operator 'Add'" in found["why_no_graph"]
    else:
        assert found["hash"] == wanted["hash"], "the graph that was written is the one that is read"


@pytest.mark.parametrize("name", ["mobilenet_v2", "gpt2"])
def test_what_is_shown_follows_its_schema(folder, name):
    registry = referencing.Registry().with_resource(
        "graph.schema.json", referencing.Resource.from_contents(schema("graph"))
    )
    validator = jsonschema.Draft202012Validator(schema("network"), registry=registry)
    validator.validate(show(str(folder / (name + ".onnx"))))


def test_a_file_is_planned_and_measured_and_its_flops_are_known(tmp_path):
    """Through the whole program: the file has 2 * 4 * 3 FLOPs a sample. When it has changed, it is another trial."""
    subprocess.run([interpreter("onnxruntime"), FILES, tmp_path], check=True, timeout=60)
    given = {"ASSAY_WORKERS": str(FOLDERS["onnxruntime"].parent), "ASSAY_STORE": str(tmp_path / "assay.db")}
    path = tmp_path / "open.onnx"
    argv = [
        BUILD / "assay", "run", path, "--worker", "onnxruntime", "--batch", "2", "--intra-op", "1", "--runs", "1",
        "--no-peak", "--host-lock", tmp_path / "lock", "--quiet", "--json",
    ]  # fmt: skip
    trials = []
    for _ in range(2):
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=300, check=False, env={**os.environ, **given}
        )
        assert done.returncode == 0, done.stdout + done.stderr
        result = json.loads(done.stdout)["results"][-1]
        assert result["trial"]["workload"]["graph"] == hashlib.sha256(path.read_bytes()).hexdigest()[:32]
        assert result["flops_per_second"] == pytest.approx(24 * result["samples_per_second"])
        trials.append(result["trial_id"])
        path.write_bytes((tmp_path / "unnamed.onnx").read_bytes())
    assert len(set(trials)) == 2
