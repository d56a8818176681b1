"""The wheel in a fresh virtual environment: it works, brings what it needs, and goes without a trace."""

import os
import re
import zipfile

import pytest


@pytest.fixture
def environment(run, tmp_path, pip):
    """Without a pip of its own, which takes longer to make than all the rest: ours installs into it."""
    run(tmp_path, "/usr/bin/python3", "-m", "venv", "--without-pip", "venv", env=pip[1])
    return tmp_path / "venv"


def listed(folder):
    """Files: pip leaves empty folders of what is not a Python module."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def test_it_works_and_goes_without_a_trace(run, wheel, environment, use, tmp_path, pip):
    before = listed(environment)
    install = [*pip[0], "--python", environment / "bin/python"]
    run(tmp_path, *install, "install", wheel, env=pip[1])
    use(environment / "bin/assay")
    run(tmp_path, *install, "uninstall", "-y", "assay", env=pip[1])
    assert listed(environment) == before


def test_the_program_is_among_the_scripts_and_brings_its_libraries(run, wheel, environment, tmp_path, pip):
    """No Python starts before it, and it loads nothing of the system but the C and C++ libraries and zlib, which every
    manylinux system has."""
    run(tmp_path, *pip[0], "--python", environment / "bin/python", "install", wheel, env=pip[1])
    program = environment / "bin/assay"
    assert program.read_bytes()[:4] == b"\x7fELF"
    loaded = dict(re.findall(r"^\s*(\S+) => (/\S+)", run("/", "ldd", program), re.MULTILINE))
    outside = {name for name, path in loaded.items() if not os.path.realpath(path).startswith(str(environment))}
    assert outside <= {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libz.so.1"}, loaded
    assert {"libfmt.so.9", "libsqlite3.so.0"} <= set(loaded) - outside


def test_the_tag_names_the_newest_c_library_asked_for(run, wheel, tmp_path):
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    named = int(re.search(r"manylinux_2_(\d+)_", wheel.name)[1])
    found = [path for path in tmp_path.rglob("*") if path.is_file() and path.open("rb").read(4) == b"\x7fELF"]
    # readelf is the oracle: the tag was made from what objdump says.
    symbols = run("/", "readelf", "--version-info", "--wide", *found)
    assert max(map(int, re.findall(r"Name: GLIBC_2\.(\d+)", symbols))) == named


def test_the_module_calls_the_program_beside_it(run, wheel, environment, clean, tmp_path, pip):
    """As a user does: import, measure with the fake and with a function of Python's."""
    run(tmp_path, *pip[0], "--python", environment / "bin/python", "install", wheel, env=pip[1])
    script = (
        "import assay, sys\n"
        "assert str(assay.program()) == sys.argv[1], assay.program()\n"
        "found = assay.run('toy', worker='fake', batch=8, option={'noise': 0}, runs=2, seconds='50ms', warmup='10ms')\n"
        "assert found[0].median_ns == 1_000_000, found\n"  # 0.2 ms and 8 x 0.1 ms
        "from assay._bench import Plan, bench\n"
        "import timed\n"
        "plan = Plan(store='python.db', sides='sides', runs=1, seconds='20ms', warmup='0ms')\n"
        "assert bench(timed.step, plan, 'timed').seconds_a_call > 0\n"
    )
    (tmp_path / "timed.py").write_text("def step():\n    sum(range(1000))\n")
    env = dict(clean, PYTHONPATH=str(tmp_path))
    run(tmp_path, environment / "bin/python", "-c", script, environment / "bin/assay", env=env)
    assert run(tmp_path, environment / "bin/python", "-m", "assay", "--version", env=clean).startswith("assay ")
