"""`assay show --network FILE.onnx` on networks of Assay's, written as ONNX by workers/onnxruntime: what the reader in
C++ finds must be what the graph says, though it reads nothing of the graph."""

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


def test_a_file_is_planned_measured_and_its_flops_are_known(start, tmp_path):
    """Through the whole program. 2 * 4 * 3 FLOPs a sample; a changed file is another trial."""
    interpreter("onnxruntime")
    files = tmp_path / "files"
    files.mkdir()
    writer = pathlib.Path(__file__).with_name("onnx_files.py")
    subprocess.run([interpreter("onnxruntime"), writer, files], check=True, timeout=60)
    env = {**os.environ, "ASSAY_WORKERS": str(FOLDERS["onnxruntime"].parent), "ASSAY_STORE": str(tmp_path / "a.db")}
    argv = [
        BUILD / "assay", "run", str(files / "open.onnx"), "--worker", "onnxruntime", "--batch", "2", "--intra-op", "1",
        "--runs", "1", "--no-peak", "--no-host-lock", "--host-lock", str(tmp_path / "lock"), "--quiet", "--json",
    ]  # fmt: skip
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    text = json.dumps(result)
    assert '"parameters": 15' in text or '"step_flops"' in text, text[:3000]
