"""A fresh system, a release folder and README: commands and seconds to a first number, a tuned program, a gate and a
prediction. Nothing else is known: commands are README's blocks, in order.

What was typed and printed is in tests/packages/first_steps. ASSAY_WRITE_TRANSCRIPTS=1 with -m full writes it again."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import pytest
import userland

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import pages

KEPT = pathlib.Path(__file__).parent / "first_steps"
# What a reader has: a program whose settings are looked for.
SERVE = 'import os\nprint(f"served on {len(os.sched_getaffinity(0))} CPUs")\n'
MARK = "@@"
MOST_LINES = 40  # of one command
# By system and package: what is typed before README's commands, and what these call Python 3.11 or newer.
SYSTEMS = {
    "debian_12_deb": ("Debian 12", "deb", [], "python3"),
    "debian_12_wheel": ("Debian 12", "wheel", ["apt install python3-venv"], "python3"),
    "ubuntu_22.04_wheel": ("Ubuntu 22.04", "wheel", ["apt install python3.11-venv"], "python3.11"),
    "ubuntu_24.04_wheel": ("Ubuntu 24.04", "wheel", ["apt install python3-venv"], "python3"),
}


def readme():
    """Commands of README's blocks by what a reader wants."""
    blocks = [block.text.splitlines() for block in pages.blocks_of("README.md") if block.language == "sh"]
    deb, wheel, worker, number, tuned, gate, prediction = (
        [re.sub(r"\s+#.*", "", line) for line in block] for block in blocks
    )
    assert "apt" in deb[0] and "pip" in wheel[1], "README's blocks have another order"
    return {"deb": deb, "wheel": wheel}, worker + number, {"tuned": tuned, "gate": gate, "prediction": prediction}


def steps_of(name):
    """Of a system, by step: commands as they are typed there."""
    _, package, before, python = SYSTEMS[name]
    install, first, others = readme()
    ways = [command.replace("python3 -m venv", f"{python} -m venv") for command in install[package]]
    return {"number": before + ways + first, **others}


def script_of(commands):
    lines = ["cd /root/release", f'echo "{MARK} 0 $EPOCHREALTIME"']
    for command in commands:
        lines += [command, f'echo "{MARK} $? $EPOCHREALTIME"']
    return "\n".join(lines)


def outcomes(said, commands):
    """Of each command: exit code, seconds, and what it printed."""
    parts = re.split(rf"^{MARK} (\d+) (\d+[.,]\d+)\n", said, flags=re.MULTILINE)
    assert len(parts) == 3 * len(commands) + 4, said[-3000:]
    times = [float(one.replace(",", ".")) for one in parts[2::3]]
    return [
        (int(code), end - begin, text)
        for code, begin, end, text in zip(parts[4::3], times, times[1:], parts[3::3], strict=False)
    ]


def shown(text):
    """Without addresses and what a line overwrote; the last lines of many."""
    lines = [line.rpartition("\r")[2].rstrip() for line in text.replace("\r\n", "\n").splitlines()]
    lines = [line for line in lines if line and "://" not in line]
    return ["…", *lines[-MOST_LINES:]] if len(lines) > MOST_LINES else lines


def transcript(system, package, steps, results):
    """Seconds of each step are those of its own commands."""
    lines, done = [f"{system}, {package}, {time.strftime('%Y-%m-%d')}"], iter(results)
    for step, commands in steps.items():
        mine = [next(done) for _ in commands]
        lines += ["", f"== {step}: {len(commands)} commands, {sum(one[1] for one in mine):.0f} s"]
        for command, (code, seconds, text) in zip(commands, mine, strict=True):
            lines += [f"$ {command}", *shown(text), f"[exit code {code}, {seconds:.1f} s]"]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def packages(run, build, wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    run(build, "cpack", "-G", "DEB", "--config", "CPackConfig.cmake", "-B", folder)
    shutil.rmtree(folder / "_CPack_Packages")
    shutil.copy(wheel, folder)
    return folder


@pytest.fixture
def release(packages, request, tmp_path):
    """A fresh system with a release folder in it; its root."""
    root = tmp_path / "root"
    userland.make(SYSTEMS[request.param][0], root, tmp_path)
    shutil.copytree(packages, root / "root/release")
    (root / "root/release/serve.py").write_text(SERVE)
    # A system of today has its lists of packages; the kept one is older.
    subprocess.run([*userland.entering(root), "apt-get update"], check=True, capture_output=True, timeout=300)
    yield request.param, root
    shutil.rmtree(root)


@pytest.mark.full
@pytest.mark.parametrize("release", SYSTEMS, indirect=True)
def test_readme_alone_leads_from_nothing_to_a_prediction(release):
    name, root = release
    steps = steps_of(name)
    commands = [command for step in steps.values() for command in step]
    argv = [*userland.entering(root), script_of(commands)]
    together = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
    done = subprocess.run(argv, **together, text=True, timeout=3000, check=False)
    results = outcomes(done.stdout, commands)
    text = transcript(*SYSTEMS[name][:2], steps, results)
    print(text)
    if os.environ.get("ASSAY_WRITE_TRANSCRIPTS"):
        KEPT.mkdir(exist_ok=True)
        (KEPT / f"{name}.txt").write_text(text)
    for command, (code, _, said) in zip(commands, results, strict=True):
        # The releases differ: a gate may pass, fail, or need more runs.
        assert code in ((0, 3, 5) if "--gate" in command else (0,)), f"{command}: exit code {code}\n{said}"
    for sign in ("6 of 6 runs done", "mobilenet_v2 infer b1  onnxruntime", "served on ", "Gate: ", "llama3-70b  h100"):
        assert sign in done.stdout, sign


def test_a_first_number_takes_three_commands():
    assert len(steps_of("debian_12_deb")["number"]) == 3


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.txt")), ids=lambda path: path.stem)
def test_transcripts_are_of_what_readme_says_now(path):
    typed = re.findall(r"^\$ (.*)$", path.read_text(), re.MULTILINE)
    assert typed == [command for step in steps_of(path.stem).values() for command in step]


def test_outputs_are_told_apart_by_command():
    said = "@@ 0 1.5\na\nb\n@@ 0 2.5\n@@ 3 4.0\n"
    assert outcomes(said, ["one", "two"]) == [(0, 1.0, "a\nb\n"), (3, 1.5, "")]
