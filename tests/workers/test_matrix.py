"""Every filled cell of the matrix that `assay worker list` prints is run here once, at the smallest size there is.

A network of Assay's must have the parameters of its graph. Continuous integration takes one network here, alone and on
several ranks (bench/equality has all workers infer on others there), and of frameworks, which take seconds to start,
one primitive (their own tests have all of them, and the collectives); the rest is marked `full`.
"""

import functools
import hashlib
import json
import subprocess
import textwrap

import graphs
import pytest
from conftest import BUILD, FOLDERS, argv_of, info, interpreter
from ranks import Ranks, under_mpirun

PREPARE_SECONDS = 300
SMALLEST = {
    "alexnet": {"classes": 10},
    "bert_base": {"sequence": 8},
    "bert_large": {"sequence": 8, "layers": 2, "features": 128},
    "cosmoflow": {"size": 32, "channels": 2},
    "deeplabv3": {"image": 64},
    "deit": {"image": 32, "layers": 2, "features": 128},
    "densenet121": {"image": 32},
    "dlrm": {"rows": 100},
    "googlenet": {"image": 32},
    "gpt2": {"sequence": 8},
    "gru": {"sequence": 4, "features": 16, "tokens": 50},
    "inception_v3": {"image": 75},
    "lenet": {},
    "llama": {"sequence": 8, "layers": 2, "heads": 4, "key_heads": 2, "features": 64, "hidden": 96, "tokens": 100},
    "lstm": {"sequence": 4, "features": 16, "tokens": 50},
    "mlp": {},
    "mobilenet_v2": {"image": 32},
    "ncf": {"users": 100, "items": 50},
    "resnet50": {"image": 32},
    "roberta": {"sequence": 8, "layers": 2, "features": 128},
    "squeezenet": {"image": 32},
    "ssd300": {"classes": 2},
    "transformer": {"sequence": 8, "layers": 1, "heads": 2, "features": 32, "hidden": 64, "tokens": 100},
    "unet": {"image": 32, "channels": 8},
    "vgg16": {"classes": 10},
    "vgg19": {"image": 32, "classes": 10},
    "vit_b16": {"image": 32, "layers": 2, "features": 128},
    "xception": {"image": 71, "blocks": 1},
}
LARGE = {"vgg19", "alexnet", "bert_base", "gpt2", "vgg16"}  # 57 to 134 million parameters at any size
BRIEF = {"mobilenet_v2", "gemm"}
PRIMITIVES = {
    "gemm": {"m": 16, "n": 16, "k": 16},
    "batched_gemm": {"m": 16, "n": 16, "k": 16},
    "conv1d": {"width": 16},
    "conv2d": {"height": 8, "width": 8},
    "conv3d": {"depth": 2, "height": 4, "width": 4},
    "attention": {"sequence": 8},
    "rnn": {"features": 8, "hidden": 8, "sequence": 2},
    "embedding": {"rows": 100},
    "layer_norm": {"sequence": 2},
    "copy": {"elements": 1024},
    "triad": {"elements": 1024},
    "tasks": {"tasks": 100},
}
LANGUAGE_MODELS = {"llama_9m", "llama_60m", "llama_300m", "tinyllama_1b"}
GENERATE = {"prompt_tokens": 8, "output_tokens": 4, "sequences": 2}
NEEDS_A_DEVICE = {"host_to_device"}
COLLECTIVES = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "ping_pong"}
OWN_FILES = {
    "pytorch": """
        import torch

        def net():
            return torch.nn.Linear(4, 3), lambda batch: torch.randn(batch, 4)
        """,
    "tensorflow": """
        import keras
        import numpy

        def net():
            layers = [keras.Input((4,)), keras.layers.Dense(3)]
            return keras.Sequential(layers), lambda batch: numpy.ones((batch, 4), "float32")
        """,
    "jax": """
        import numpy

        def net():
            parameters = numpy.ones((4, 3)), numpy.zeros(3)
            return (lambda p, x: x @ p[0] + p[1]), parameters, lambda batch: numpy.ones((batch, 4))
        """,
}
OWN_PARAMETERS = 4 * 3 + 3  # of these files, and of the ONNX and TorchScript files below


def cells():
    """(worker, workload, mode, ranks) as the program lists them, each worker once whatever releases there are."""
    if not (BUILD / "assay").exists():
        return []
    done = subprocess.run([BUILD / "assay", "worker", "list", "--json"], capture_output=True, check=True, timeout=60)
    found = {}
    for worker in json.loads(done.stdout):
        if worker["name"] in FOLDERS:
            for can in worker["workloads"]:
                for mode in can["modes"]:
                    found[worker["name"], can["workload"], mode] = can["ranks"]
    return [(*cell, ranks) for cell, ranks in found.items()]


def parameter(*cell, full):
    return pytest.param(*cell, id="-".join(cell).replace(" ", ""), marks=[pytest.mark.full] if full else [])


def is_brief(name, workload):
    """Whether continuous integration tries it."""
    return workload in BRIEF or (workload not in SMALLEST and "environment" not in info(name)) or workload[0] == "*"


CELLS = cells()
ALONE = [
    parameter(name, workload, mode, full=not is_brief(name, workload))
    for name, workload, mode, _ in CELLS
    if workload not in COLLECTIVES | NEEDS_A_DEVICE
]
TOGETHER = [
    parameter(name, workload, mode, full=not is_brief(name, workload) or (workload in SMALLEST and mode == "infer"))
    for name, workload, mode, ranks in CELLS
    if ranks
]


@functools.cache
def graph_of(network):
    options = [word for key, value in SMALLEST[network].items() for word in ("--option", "%s=%s" % (key, value))]
    done = subprocess.run([BUILD / "assay", "show", "--network", network, *options, "--json"], capture_output=True,
                          check=True, timeout=60)  # fmt: skip
    return json.loads(done.stdout)["graph"]


def own_file(path, function):
    return {"path": str(path), "function": function, "hash": hashlib.sha256(path.read_bytes()).hexdigest()[:32]}


def onnx_file(folder):
    """Written by the interpreter of an environment that has the package onnx."""
    writer = FOLDERS["toy_python"].parent / "onnx_files.py"
    subprocess.run([interpreter("onnxruntime"), writer, folder], check=True, timeout=60)
    return own_file(folder / "open.onnx", None)


def torchscript_file(folder):
    """A layer, written by the interpreter of an environment that has torch."""
    writer = FOLDERS["toy_python"].parent / "torchscript_files.py"
    subprocess.run([interpreter("libtorch"), writer, folder], check=True, timeout=60)
    return own_file(folder / "linear.pt", None)


def generating(network, precision):
    return {"network": network, "precision": precision, "generate": GENERATE}


def asked_for(name, workload, folder, mode=None):
    """What to prepare, and the parameters that it must have."""
    if workload in SMALLEST:
        graph = graph_of(workload)
        batch = 1 if workload in LARGE else 2  # a batch norm over one value has no variance to train with
        return {"network": workload, "graph": graph, "batch": batch}, graph["parameters"]
    if workload in PRIMITIVES:
        return {"network": workload, "options": PRIMITIVES[workload], "batch": 1}, None
    if workload in COLLECTIVES:
        return {"network": workload, "options": {"bytes": 4096}, "batch": 1}, None
    if workload in LANGUAGE_MODELS:
        return generating(workload, "fp32" if name in ("pytorch", "onnxruntime_genai") else "fp16"), None
    if workload == "*.gguf":
        path = folder / "small.gguf"
        writer = FOLDERS[name].parent / "common" / "assay_llama.py"
        subprocess.run([interpreter(name), writer, "llama_9m", path], check=True, timeout=60)
        return {**generating("small.gguf", "file"), "file": own_file(path, None)}, 8_737_536
    if workload == "*.py":
        path = folder / "own.py"
        path.write_text(textwrap.dedent(OWN_FILES[name]))
        return {"network": "own.py:net", "file": own_file(path, "net"), "batch": 2}, OWN_PARAMETERS
    if workload == "*.onnx":
        counted = OWN_PARAMETERS if name == "onnxruntime" else None  # OpenVINO does not count those of a user's file
        return {"network": "open.onnx", "file": onnx_file(folder), "batch": 2}, counted
    if workload == "*.pt":
        asked = {"network": "linear.pt", "file": torchscript_file(folder), "options": {"input": 4}, "batch": 2}
        return asked, OWN_PARAMETERS
    if workload == "*.replay":
        path, bucket = folder / "step.replay", {"ready_seconds": 0.002, "bytes": 400}
        times = {"forward_seconds": 0.001, "backward_seconds": 0.001}
        path.write_text(json.dumps({"network": "own", "batch": 2, **times, "buckets": [bucket]}))
        return {"network": "step.replay", "file": own_file(path, None), "batch": 2}, None
    assert workload in ("toy", "-- PROGRAM"), "there is a new workload: say here how it is run at a small size"
    if mode == "generate":
        return generating("toy", "fp32"), None
    return {"command": ["true"], "network": "true"} if workload == "-- PROGRAM" else {}, None


def test_the_matrix_has_every_network():
    """So that a new network cannot be forgotten here."""
    networks = {workload for _, workload, _, _ in CELLS} - PRIMITIVES.keys() - COLLECTIVES - NEEDS_A_DEVICE
    networks -= LANGUAGE_MODELS
    assert {name for name in networks if name[0] not in "*-"} - {"toy"} == SMALLEST.keys()


@pytest.mark.parametrize("name, workload, mode", ALONE)
def test_one_runs(start, tmp_path, name, workload, mode):
    argv_of(name)  # skips what is not installed
    asked, parameters = asked_for(name, workload, tmp_path, mode)
    worker = start(name)
    prepared = worker.prepare(mode=mode, seconds=PREPARE_SECONDS, **asked)
    assert prepared["type"] == "prepared", prepared
    assert parameters is None or prepared["parameters"] == parameters
    measured = worker.measure(max_samples=1, wait=PREPARE_SECONDS)
    assert len(measured["ns"]) == 1 and measured["ns"][0] > 0
    assert worker.close() == 0


@pytest.mark.parametrize("name, workload, mode", TOGETHER)
def test_two_ranks_work_together(start, tmp_path, name, workload, mode):
    argv_of(name)
    asked, parameters = asked_for(name, workload, tmp_path)
    if name == "mpi":
        for prepared, measured, code in under_mpirun(tmp_path, 2, {"mode": mode, **asked}, [{"max_samples": 2}]):
            assert prepared["type"] == "prepared" and len(measured["ns"]) == 2 and code == 0
        return
    pair = Ranks(start, name)
    settings = {} if workload in COLLECTIVES | {"*.replay"} else {"intra_op": 1}  # two ranks on few CPUs
    for prepared in pair.prepare(mode=mode, seconds=PREPARE_SECONDS, settings=settings, **asked):
        assert prepared["type"] == "prepared", prepared
        assert parameters is None or prepared["parameters"] == parameters
    for measured in pair.measure(max_samples=2, seconds=1000, wait=PREPARE_SECONDS):
        assert len(measured["ns"]) == 2, measured
    assert pair.close() == [0, 0]


def test_a_cell_that_is_not_filled_is_refused(start):
    """A graph with an operator that a worker does not list."""
    graph = graphs.graph([graphs.image([1, 4, 4])], [graphs.pool("pool", "max_pool", "image", [1, 2, 2], kernel=2)])
    answer = start("toy_framework").prepare(network="small", graph=graph)
    assert (answer["type"], answer["kind"]) == ("error", "refused") and "max_pool" in answer["message"]
