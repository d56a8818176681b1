"""The fixture assay_bench: finds what is slower, passes what is not, and refuses to compare code with itself.

What runs in continuous integration differs by a factor of ten, so that no noise decides. The size that says how well
5 % is found is marked `full`.
"""

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLEEPS = "import time\n\n\ndef work():\n    time.sleep({})\n"
# Some 0.5 ms of arithmetic: 5 % more rounds are 5 % more time, but for what a call costs.
COMPUTES = "def work():\n    t = 0\n    for i in range({}):\n        t += i * i\n    return t\n"
TEST = """
import mine

def step():
    mine.work()

def test_speed(assay_bench):
    assay_bench(step)
"""


class Project:
    """A test file, and two folders with a module each."""

    def __init__(self, folder, program):
        self.folder = folder
        self.program = program
        self.write("test_speed.py", TEST)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def modules(self, before, after):
        self.write("before/mine.py", before)
        self.write("after/mine.py", after)

    def run(self, *argv, **variables):
        env = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "PYTEST_"))}
        env |= {"ASSAY_PROGRAM": str(self.program), "ASSAY_HOST_LOCK": str(self.folder / "host.lock")}
        env |= {"PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(self.folder / "after")]), **variables}
        plugins = ["-p", "assay.pytest_plugin", "-p", "no:cacheprovider", "-p", "no:xdist"]
        short = ["--rootdir", str(self.folder), "-c", os.devnull, "-q"]
        return subprocess.run(
            [sys.executable, "-m", "pytest", *plugins, *short, *argv, str(self.folder)],
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def project(place):
    return Project(place, pathlib.Path(os.environ["ASSAY_PROGRAM"]))


QUICK = ["--assay-runs", "6", "--assay-seconds", "60ms"]


def test_a_slow_down_fails_and_a_gain_passes(project):
    project.modules(SLEEPS.format(0.002), SLEEPS.format(0.02))
    slower = project.run("--assay-baseline", "before", *QUICK)
    assert slower.returncode == 1 and "more time" in slower.stdout and "lock-step pairs" in slower.stdout
    project.modules(SLEEPS.format(0.02), SLEEPS.format(0.002))
    faster = project.run("--assay-baseline", "before", *QUICK)
    assert faster.returncode == 0, faster.stdout
    assert "1 passed" in faster.stdout and "less time" in faster.stdout
    assert (project.folder / ".assay/pytest.db").exists()


def test_a_stored_measurement_is_a_baseline(project):
    project.modules("", SLEEPS.format(0.002))
    stored = ["--assay-baseline", "stored", *QUICK]
    first = project.run(*stored)
    assert first.returncode == 0 and "the baseline of the next" in first.stdout, first.stdout
    project.modules("", SLEEPS.format(0.02))
    second = project.run(*stored)
    assert second.returncode == 1 and "more time" in second.stdout, second.stdout


def test_without_a_baseline_it_measures_only(project):
    project.modules("", SLEEPS.format(0.002))
    done = project.run(*QUICK)
    assert done.returncode == 0 and "ms a call" in done.stdout, done.stdout


def test_a_gate_that_cannot_decide_is_no_pass(project):
    """Below 6 runs nothing is said, whatever they are."""
    project.modules(SLEEPS.format(0.002), SLEEPS.format(0.002))
    few = ["--assay-baseline", "before", "--assay-runs", "2", "--assay-most-runs", "2", "--assay-seconds", "20ms"]
    skipped = project.run(*few, "-rs")
    assert skipped.returncode == 0 and "1 skipped" in skipped.stdout and "cannot decide" in skipped.stdout
    assert project.run(*few, "--assay-undecided", "fail").returncode == 1
    assert "1 passed" in project.run(*few, "--assay-undecided", "pass").stdout
    wrong = project.run(*few, "--assay-undecided", "maybe")
    assert wrong.returncode != 0 and "'maybe' is not valid" in wrong.stdout + wrong.stderr


def wheel_of(folder, release, text):
    """The least that pip installs."""
    name = f"mine-{release}"
    with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as archive:
        archive.writestr("mine.py", text)
        archive.writestr(f"{name}.dist-info/METADATA", f"Metadata-Version: 2.1\nName: mine\nVersion: {release}\n")
        archive.writestr(f"{name}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{name}.dist-info/RECORD", "")


def test_a_release_is_a_baseline(project):
    project.modules("", SLEEPS.format(0.02))
    wheel_of(project.folder, "1.2.0", SLEEPS.format(0.002))
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(project.folder), "XDG_CACHE_HOME": str(project.folder / "c")}
    done = project.run("--assay-baseline", "mine==1.2.0", *QUICK, **offline)
    assert done.returncode == 1 and "more time" in done.stdout, done.stdout
    missing = project.run("--assay-baseline", "mine==9", *QUICK, **offline)
    assert missing.returncode == 1 and "mine==9 cannot be installed" in missing.stdout


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("assay_bench(lambda: 1)", "cannot be measured"),
        ("assay_bench(with_argument)", "needs the arguments size"),
        ("assay_bench(mine.work)", "both sides would run the new code"),
        ("assay_bench(nothing)", "both sides would run the same code"),
        ("assay_bench(step, baseline='nowhere')", "'nowhere' is neither a folder"),
        ("assay_bench(new_only)", "does not run with the baseline"),
        ("assay_bench(raises)", "ZeroDivisionError"),
        ("assay_bench(step, gate='much')", "much"),
    ],
)
def test_what_would_say_nothing_is_refused(project, call, message):
    project.modules(SLEEPS.format(0.001), SLEEPS.format(0.001) + "\n\ndef new():\n    pass\n")
    helpers = "def with_argument(size): pass\ndef new_only(): mine.new()\ndef raises(): mine.work(); 1 / 0\n"
    project.write("test_speed.py", TEST.replace("assay_bench(step)", call) + helpers)
    project.write("apart/test_apart.py", "")
    if "nothing" in call:
        project.write("test_speed.py", f"def nothing(): sum(range(100))\ndef test_speed(assay_bench): {call}\n")
    done = project.run("--assay-baseline", "before", *QUICK)
    assert done.returncode == 1 and message in done.stdout, done.stdout


def test_options_are_in_the_help(project):
    done = project.run("--help")
    for name in ("baseline", "gate", "runs", "most-runs", "seconds", "store", "undecided"):
        assert f"--assay-{name}" in done.stdout


def tries(project, more):
    """20 of each outcome's count: passed, failed, skipped."""
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for _ in range(20):
        project.modules(COMPUTES.format(10_000), COMPUTES.format(round(10_000 * more)))
        done = project.run("--assay-baseline", "before", "--assay-gate", "3%")
        (word,) = [word for word in counts if f"1 {word}" in done.stdout.splitlines()[-1]]
        counts[word] += 1
        print(word, [line for line in done.stdout.splitlines() if "::test_speed:" in line][:1], flush=True)
    return counts


@pytest.mark.full
def test_5_percent_is_found(project):
    """A machine that others use may leave a try open, but none may pass."""
    counts = tries(project, 1.05)
    assert counts["failed"] >= 18 and counts["passed"] == 0, counts


@pytest.mark.full
def test_the_same_code_passes(project):
    """By chance at most 1 of 100 verdicts is wrong, and it would have to be as large as the gate."""
    counts = tries(project, 1)
    assert counts["passed"] >= 18 and counts["failed"] <= 1, counts
