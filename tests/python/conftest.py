"""What tests of the Python module share: the module of this source tree, calling the program of this build."""

import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
sys.path.insert(0, str(ROOT / "python"))
# A run of the fake takes no real time at pace 0; these cut what is measured short. noise=0: every step is the law's.
SHORT = {"seconds": "50ms", "warmup": "10ms", "retries": 0}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of the test, in which the module finds the program of this build."""
    for name in [name for name in os.environ if name.startswith("ASSAY_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ASSAY_PROGRAM", str(BUILD / "assay"))
    monkeypatch.setenv("ASSAY_HOST_LOCK", str(tmp_path / "host.lock"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def short():
    return SHORT
