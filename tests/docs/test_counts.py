"""Counts and lists on pages are those of the program."""

import json
import os
import pathlib
import re
import subprocess

import pages
import pytest

BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", pages.ROOT / "build" / "dev")).resolve()
# As pages name them.
FRAMEWORKS = {
    "jax": "JAX",
    "libtorch": "PyTorch (from Python and C++)",
    "mxnet": "MXNet",
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
    "pytorch": "PyTorch (from Python and C++)",
    "tensorflow": "TensorFlow",
}
# They generate text.
ENGINES = {
    "llamacpp": "llama.cpp",
    "onnxruntime_genai": "ONNX Runtime GenAI",
    "openvino_genai": "OpenVINO GenAI",
    "vllm": "vLLM",
}
# What runs no network of Assay's: primitives, programs, ranks, and the fake.
NO_NETWORKS = {"blas", "command", "fake", "mpi", "onednn", "pools"}


def assay(*words):
    done = subprocess.run([BUILD / "assay", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def commands():
    """Names of all commands, as help lists them."""
    listed = assay("--help").partition("Subcommands:")[2]
    return re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)


@pytest.fixture(scope="module")
def readme():
    return (pages.ROOT / "README.md").read_text()


def test_the_reference_has_every_command():
    page = (pages.ROOT / "docs" / "reference" / "commands.md").read_text()
    assert re.findall(r"^## assay ([a-z]+)$", page, re.MULTILINE) == commands()


def test_the_reference_is_as_the_program_would_write_it():
    script = [pages.ROOT / "scripts" / "write-reference", "--check", BUILD]
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, f"scripts/write-reference writes again:\n{done.stdout}{done.stderr}"


def networks():
    """Names of all networks, from the message that lists them."""
    words = [BUILD / "assay", "show", "--network", "nonsense"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    (listed,) = re.findall(r"Networks: ([^.]+)\.", done.stderr)
    return listed.split(", ")


def test_the_number_of_networks_is_that_of_the_program(readme):
    assert re.findall(r"(\w+) networks and your own file run on", readme) == [str(len(networks()))]


def parts(sentence):
    """The names of an enumeration: "a, b and c"."""
    return set(re.split(r", | and (?![^(]*\))", sentence))


def test_every_framework_and_engine_is_named(readme):
    workers = {worker["name"] for worker in json.loads(assay("worker", "list", "--json"))}
    assert workers == set(FRAMEWORKS) | set(ENGINES) | NO_NETWORKS
    readme = " ".join(readme.split())
    (networks_on,) = re.findall(r"networks and your own file run on (.*?), side by side", readme)
    assert parts(networks_on) == set(FRAMEWORKS.values())
    (models_on,) = re.findall(r"language models run on (.*?)\. Every raw sample", readme)
    assert parts(models_on) == set(ENGINES.values())
