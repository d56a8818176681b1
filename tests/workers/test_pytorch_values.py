"""What workers/pytorch computes, check by check: see pytorch_checks.py, which runs once beside torch."""

import json
import os
import pathlib
import re
import subprocess

import pytest
from conftest import BUILD, interpreter

CHECKS = pathlib.Path(__file__).with_name("pytorch_checks.py")
NAMES = [
    name
    for file in sorted(CHECKS.parent.glob("pytorch_*_checks.py"))
    for name in re.findall(r"^def (check_\w+)", file.read_text(), re.MULTILINE)
]


@pytest.fixture(scope="module")
def failures():
    """Name of each check that ran, with its traceback or None."""
    argv = [interpreter("pytorch"), "-W", "error::RuntimeWarning", str(CHECKS)]
    env = {**os.environ, "ASSAY_BUILD": str(BUILD)}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=False, env=env)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["check"]: line["failure"] for line in lines}


@pytest.mark.parametrize("name", NAMES)
def test_value(failures, name):
    assert failures[name] is None, failures[name]
