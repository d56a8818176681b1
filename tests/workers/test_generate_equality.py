"""llama.cpp held to PyTorch on the smallest model: what bench/generate_equality does with all engines and formats.

Logits over the whole vocabulary of forced tokens, from the same file in fp32. What may differ is measured first, by
PyTorch alone: fp32 against fp64. A wrong rotary base and a missing norm are planted, and must be found.
"""

import hashlib
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import numpy
import pytest
from conftest import ROOT, Worker
from value_files import read

sys.path.append(str(ROOT / "bench"))
sys.path.append(str(ROOT / "workers" / "common"))
import assay_gguf
import assay_llama


def figure():
    """The figure's own tolerance and places, so that both hold the same."""
    loader = SourceFileLoader("generate_equality", str(ROOT / "bench" / "generate_equality"))
    module = module_from_spec(spec_from_loader("generate_equality", loader))
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = written
    return module


FIGURE = figure()
SHAPE = assay_llama.SHAPES["llama_9m"]
METADATA = assay_llama.metadata_of("llama_9m", SHAPE, "F32")


def tensors():
    return assay_llama.tensors_of(SHAPE, "F32", 0)


def without_norm(tensor):
    """The gain of one norm is 1 everywhere."""
    if tensor.name != "blk.1.ffn_norm.weight":
        return tensor
    return tensor._replace(make=lambda: [numpy.ones((1, SHAPE.hidden), "f4")])


FILES = {
    "plain": (METADATA, tensors),
    "rotary base": ({**METADATA, "llama.rope.freq_base": 10500.0}, tensors),
    "missing norm": (METADATA, lambda: [without_norm(one) for one in tensors()]),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("equality")
    for name, (metadata, made) in FILES.items():
        with open(path / (name + ".gguf"), "wb") as file:
            assay_gguf.write(file, metadata, made())
    return path


def logits(folder, engine, name, precision):
    """What the engine computes after FIGURE.AFTER tokens, as (sequence, place, token of the vocabulary)."""
    model, output = folder / (name + ".gguf"), folder / f"{engine}-{name}-{precision}"
    worker = Worker(engine)
    try:
        prepared = worker.prepare(
            network=str(model),
            file={"path": str(model), "function": None, "hash": hashlib.sha256(model.read_bytes()).hexdigest()[:32]},
            precision=precision,
            generate={**FIGURE.ASKED, "cache_precision": FIGURE.CACHE["fp32"]} if precision == "file" else FIGURE.ASKED,
            settings={"intra_op": 1},
            seconds=300,
        )
        assert prepared["type"] == "prepared", prepared
        worker.send({"type": "evaluate", "output": str(output), "updates": 0, "learning_rate": 0, "momentum": 0})
        assert worker.read(300)["type"] == "evaluated"
    finally:
        worker.kill()
    shape, flat = read(output)["logits"]
    return numpy.array(flat, "f8").reshape(shape)[:, FIGURE.AFTER, :]


def distance(true, said):
    """Relative L2 norm, the worst over the places."""
    norm = numpy.linalg.norm
    return max(norm(true[:, i] - said[:, i]) / norm(true[:, i]) for i in range(true.shape[1]))


@pytest.fixture(scope="module")
def reference(folder):
    """PyTorch in fp32, and how far an engine may be from it."""
    true = logits(folder, "pytorch", "plain", "fp32")
    return true, FIGURE.FACTOR["fp32"] * distance(true, logits(folder, "pytorch", "plain", "fp64"))


def test_llamacpp_computes_what_pytorch_does(folder, reference):
    true, allowed = reference
    off = distance(true, logits(folder, "llamacpp", "plain", "file"))
    assert 0 < off <= allowed


@pytest.mark.parametrize("mistake", ["rotary base", "missing norm"])
def test_a_planted_mistake_is_found(folder, reference, mistake):
    true, allowed = reference
    assert distance(true, logits(folder, "llamacpp", mistake, "file")) > allowed
