"""docs/reference/networks.md has every network with the parameters and the options that the program has."""

import json
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
PAGE = (ROOT / "docs" / "reference" / "networks.md").read_text()
ROWS = {
    name: (int(parameters.replace(",", "")), options.split(", "))
    for name, parameters, options in re.findall(r"^\| (\w+) \| ([\d,]+) \| ([\w, ]+) \|", PAGE, re.MULTILINE)
}


def show(*words):
    return subprocess.run([BUILD / "assay", "show", *words], capture_output=True, text=True, check=False, timeout=60)


def test_every_network_has_a_row_with_its_parameters():
    listed = json.loads(show("--networks", "--json").stdout)
    assert {one["network"]: one["parameters"] for one in listed} == {name: row[0] for name, row in ROWS.items()}


@pytest.mark.parametrize("name", ROWS)
def test_its_options_are_those_it_has(name):
    refused = show("--network", name, "--option", "nothing=1").stderr
    assert re.search(r"It has: ([\w, ]+)\.", refused)[1].split(", ") == ROWS[name][1]
