"""What tests of packages share: the build that is packaged, a clean environment, and a first user's work."""

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
VARIABLES = {
    "PATH": "/usr/bin:/bin",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INDEX": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
PIP = [sys.executable, "-m", "pip", "--quiet"]


def run_in(folder, *argv, env=None, timeout=300):
    done = subprocess.run(
        list(map(str, argv)), cwd=folder, env=env, capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == 0, f"{argv}: exit {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def run():
    """Runs a command in a folder, expects exit code 0, and gives what it printed."""
    return run_in


@pytest.fixture(scope="session")
def build():
    return pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()


@pytest.fixture
def clean(tmp_path):
    """Variables of a user who knows nothing of this source tree."""
    home = tmp_path / "home"
    home.mkdir()
    return {"HOME": str(home), "PATH": "/usr/bin:/bin", "ASSAY_HOST_LOCK": str(tmp_path / "host.lock")}


@pytest.fixture
def use(tmp_path, clean):
    """Uses an installed program as a first user would: doctor, a campaign, a report."""

    def work(*program):
        folder = tmp_path / "work"
        folder.mkdir()
        assert "fake 1.0.0" in run_in(folder, *program, "doctor", env=clean)
        measure = ["--option", "noise=0", "--batch", "8", "--runs", "2", "--seconds", "50ms", "--warmup", "10ms"]
        said = run_in(folder, *program, "run", "toy", "--worker", "fake", *measure, "--quiet", env=clean)
        assert "2 of 2 runs done" in said and "1 ms" in said  # the fake's published law: 0.2 ms and 0.1 ms a sample
        run_in(folder, *program, "report", "-o", "report.html", env=clean)
        assert (folder / "report.html").read_text().startswith("<!DOCTYPE html>")
        return folder

    return work


@pytest.fixture(scope="session")
def wheel(build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source = ROOT / "packaging" / "wheel"
    env = dict(VARIABLES, ASSAY_BUILD=str(build), HOME=str(folder))
    run_in(folder, *PIP, "wheel", "--no-build-isolation", "--no-deps", "-w", folder, source, env=env)
    (found,) = folder.glob("assay-*-py3-none-manylinux_2_*_x86_64.whl")
    return found


@pytest.fixture(scope="session")
def pip():
    """Installs without an index; and the variables that go with it."""
    return PIP, VARIABLES
