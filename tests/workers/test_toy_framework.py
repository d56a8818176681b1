"""A framework is added by one folder that nothing else knows of: it is listed, checked, run, and equal to PyTorch."""

import json
import os
import subprocess

import graphs
import pytest
import value_files
from conftest import BUILD, FOLDERS, environment

FOLDER = FOLDERS["toy_framework"]
LIMIT_SECONDS = 300
SMALL = ["--option", "image=32"]


@pytest.fixture
def assay(tmp_path):
    if not (BUILD / "assay").exists():
        pytest.skip("assay is not built")

    def run(*arguments):
        env = {**os.environ, "ASSAY_WORKERS": str(FOLDER.parent), "ASSAY_HOST_LOCK": str(tmp_path / "host.lock")}
        done = subprocess.run([BUILD / "assay", *arguments], cwd=tmp_path, env=env, capture_output=True, text=True,
                              timeout=LIMIT_SECONDS, check=False)  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_it_is_one_folder_of_at_most_150_lines():
    files = [path for path in FOLDER.iterdir() if path.is_file()]
    assert {path.name for path in files} == {"worker.json", "worker.py"}
    assert sum(len(path.read_text().splitlines()) for path in files) <= 150


def test_it_is_listed_with_what_its_operators_allow(assay):
    [worker] = [w for w in json.loads(assay("worker", "list", "--json")) if w["name"] == "toy_framework"]
    # ResNet and the others also need pools, MobileNetV2 and the perceptron nothing that is not there.
    alike = {"modes": ["infer"], "ranks": False}
    assert worker["workloads"] == [{"workload": name, **alike} for name in ("mlp", "mobilenet_v2")]


def test_it_keeps_the_protocol(assay):
    assert "FAILED" not in assay("worker", "check", "toy_framework")


def test_it_is_measured(assay):
    quick = ["--runs", "1", "--seconds", "1ms", "--warmup", "0", "--retries", "0", "--quiet"]
    assay("run", "mobilenet_v2", "--worker", "toy_framework", *SMALL, *quick)
    [record] = json.loads(assay("export", "--format", "json"))["records"]
    assert record["outcome"]["kind"] == "ok" and len(record["ranks"][0]["samples_ns"]) >= 1


def test_it_computes_what_pytorch_computes(assay):
    environment("pytorch")
    assay("worker", "equal", "pytorch", "toy_framework", "--network", "mobilenet_v2", *SMALL)  # exit code 0: equal


def test_what_it_computes_is_derived_by_hand(start, tmp_path):
    """A 3 x 3 convolution of ones over the image 1..4 sums all four pixels everywhere: 10. With bias 1 it is 11; relu6
    makes it 6; the norm with mean 2, variance 4, weight 1 and bias 3 (6 - 2) / 2 + 3 = 5."""
    graph = graphs.graph(
        [graphs.image([1, 2, 2])],
        [
            graphs.convolution("conv", "image", [1, 2, 2], 1),
            graphs.node("cut", "relu6", "conv", [1, 2, 2]),
            graphs.norm("norm", "batch_norm", "cut", [1, 2, 2], 1, epsilon=0),
            graphs.node("sum", "add", ["norm", "image"], [1, 2, 2]),
            graphs.node("flat", "flatten", "sum", [4]),
        ],
    )
    values = {
        "conv/weight": ([1, 1, 3, 3], [1.0] * 9),
        "conv/bias": ([1], [1.0]),
        "norm/weight": ([1], [1.0]),
        "norm/bias": ([1], [3.0]),
        "norm/mean": ([1], [2.0]),
        "norm/variance": ([1], [4.0]),
        "input/image": ([1, 1, 2, 2], [1.0, 2.0, 3.0, 4.0]),
    }
    worker = start("toy_framework")
    file = value_files.write(tmp_path / "values.safetensors", values)
    assert worker.prepare(network="small", graph=graph, batch=1, values=file)["parameters"] == 9 + 1 + 2
    output = tmp_path / "output.safetensors"
    worker.send({"type": "evaluate", "output": str(output), "updates": 0, "learning_rate": 0.01, "momentum": 0.9})
    assert worker.read()["type"] == "evaluated"
    assert value_files.read(output) == {"output": ([1, 4], [6.0, 7.0, 8.0, 9.0])}
