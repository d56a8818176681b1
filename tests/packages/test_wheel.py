"""The wheel in a fresh virtual environment: it works, says what it lacks, and goes without a trace."""

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

VARIABLES = {
    "PATH": "/usr/bin:/bin",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INDEX": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}
PIP = [sys.executable, "-m", "pip", "--quiet"]


@pytest.fixture(scope="module")
def wheel(run, build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    source = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "wheel"
    env = dict(VARIABLES, ASSAY_BUILD=str(build), HOME=str(folder))
    run(folder, *PIP, "wheel", "--no-build-isolation", "--no-deps", "-w", folder, source, env=env)
    (found,) = folder.glob("assay-*-py3-none-linux_x86_64.whl")
    return found


@pytest.fixture
def environment(run, tmp_path):
    """Without a pip of its own, which takes longer to make than all the rest: ours installs into it."""
    run(tmp_path, "/usr/bin/python3", "-m", "venv", "--without-pip", "venv", env=VARIABLES)
    return tmp_path / "venv"


def listed(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_it_works_and_goes_without_a_trace(run, wheel, environment, use, tmp_path):
    before = listed(environment)
    pip = [*PIP, "--python", environment / "bin/python"]
    run(tmp_path, *pip, "install", wheel, env=VARIABLES)
    use(environment / "bin/assay")
    run(tmp_path, *pip, "uninstall", "-y", "assay", env=VARIABLES)
    assert listed(environment) == before


def test_it_says_which_libraries_are_missing(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    program = tmp_path / "assay/prefix/bin/assay"
    # A name of the same length for fmt's library stands for a machine that lacks it.
    lacking = program.read_bytes().replace(b"libfmt.so.9", b"libfmt.so.0")
    program.write_bytes(lacking)
    program.chmod(0o755)
    known = tmp_path / "assay/libraries.json"
    known.write_text(known.read_text().replace("libfmt.so.9", "libfmt.so.0"))
    env = dict(os.environ, PYTHONPATH=str(tmp_path))
    argv = [sys.executable, "-m", "assay", "doctor"]
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "assay: shared libraries are missing here: libfmt.so.0. On Debian 12: apt-get install libfmt9\n"
    )
