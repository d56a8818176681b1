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
    "libtorch": "PyTorch",
    "mxnet": "MXNet",
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
    "pytorch": "PyTorch",
    "tensorflow": "TensorFlow",
}
NO_FRAMEWORKS = {"command", "fake", "mpi", "onednn"}


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


def test_the_table_of_commands_has_every_command_once(readme):
    table = readme.partition("\n## Commands\n")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `assay ")]
    named = []
    for cell in cells:
        first, *others = re.findall(r"`([^`]+)`", cell)
        words = first.split()[1:]
        named.append(words[0])
        if len(words) == 1:  # `assay tune`, `exec`; but `assay worker list`, `check`
            named += others
    assert set(named) == set(commands())
    assert len([name for name in named if name != "worker"]) == len(set(named) - {"worker"})


def networks():
    """Names of all networks, from the message that lists them."""
    words = [BUILD / "assay", "show", "--network", "nonsense"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    (listed,) = re.findall(r"Networks: ([^.]+)\.", done.stderr)
    return listed.split(", ")


def test_the_number_of_networks_is_that_of_the_program(readme):
    assert re.findall(r"(\w+) networks and your own file run on", readme) == [str(len(networks()))]


def test_the_page_of_networks_has_a_row_for_each():
    page = (pages.ROOT / "docs" / "networks.md").read_text()
    rows = set(re.findall(r"^\| `?([a-z0-9_]+)`? \|", page, re.MULTILINE))
    assert set(networks()) <= rows


def test_every_framework_is_named(readme):
    workers = {worker["name"] for worker in json.loads(assay("worker", "list", "--json"))}
    assert workers == set(FRAMEWORKS) | NO_FRAMEWORKS
    (sentence,) = re.findall(r"networks and your own file run on ([^.]*)", readme)
    for name in set(FRAMEWORKS.values()):
        assert name in sentence
