"""Every point of points.txt fails with the program of an older build, and passes with this one.

ASSAY_OLD_BUILD names the folder of that build, as ASSAY_BUILD names this one's. Of a transcript only the commands count
whose text has the point's words, so that a point does not pass for another one's failure; of a test the whole function
that has them. At the end a table says for each point what became of it in both."""

import ast
import functools
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

import pytest
import test_cli
from test_cli import BUILD, File, read_transcript, run_step, wrong_with
from test_points import TESTS, points

OLD = os.environ.get("ASSAY_OLD_BUILD")
# What finds faults in a report is this build's for both.
AXE = BUILD / "lib/report/page/work/node_modules/axe-core/axe.min.js"
LIMIT_SECONDS = 900
pytestmark = [pytest.mark.full, pytest.mark.skipif(OLD is None, reason="ASSAY_OLD_BUILD names no older build")]


@functools.cache
def played(file, build):
    """What is wrong with each command of a transcript, by its line. All are run, also after one that went wrong."""
    found = {}
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as name:
        patch.setattr(test_cli, "BUILD", pathlib.Path(build).resolve())
        folder = pathlib.Path(name)
        for step in read_transcript((TESTS / file).read_text()):
            if isinstance(step, File):
                (folder / step.name).write_text("".join(line + "\n" for line in step.lines))
                continue
            try:
                found[step.line] = wrong_with(step, run_step(folder, step))
            except subprocess.TimeoutExpired:
                found[step.line] = "it does not end"
    return found


def lines_with(file, words):
    text = (TESTS / file).read_text().splitlines()
    return [number for number, line in enumerate(text, 1) if words in line]


def in_transcript(file, words, build):
    """(whether it passes, why not) for the commands of a transcript that have the words."""
    found = played(file, build)
    commands = {max((line for line in found if line <= number), default=min(found))
                for number in lines_with(file, words)}  # fmt: skip
    wrong = [f"line {line}: {found[line]}" for line in sorted(commands) if found[line] is not None]
    return not wrong, "; ".join(wrong)


def nodes_with(file, words):
    """Node ids of the test functions that have the words; of all, where the words are outside of any."""
    tests = [node for node in ast.parse((TESTS / file).read_text()).body
             if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]  # fmt: skip
    lines = lines_with(file, words)
    own = [test.name for test in tests if any(test.lineno <= line <= test.end_lineno for line in lines)]
    return tuple(f"{TESTS / file}::{name}" for name in own or [test.name for test in tests])


@functools.cache
def tried(nodes, build):
    """(whether they pass, why not) by a pytest of their own; None in place of the first where they were skipped."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.xml"
        call = [sys.executable, "-m", "pytest", "-p", "no:xdist", f"--junitxml={report}", *nodes]
        env = os.environ | {"ASSAY_BUILD": str(pathlib.Path(build).resolve()), "ASSAY_AXE": str(AXE)}
        subprocess.run(call, cwd=TESTS.parent, env=env, capture_output=True, timeout=LIMIT_SECONDS, check=False)
        cases = list(ET.parse(report).getroot().iter("testcase"))
    assert cases, f"pytest found nothing of {nodes}"
    wrong = [part.get("message") for case in cases for part in case if part.tag in ("failure", "error")]
    skipped = [part.get("message") for case in cases for part in case if part.tag == "skipped"]
    if wrong:
        return False, " ".join(wrong[0].split())[:120]
    return (None, skipped[0]) if len(skipped) == len(cases) else (True, "")


def transcripts_test(file):
    """The test that makes a machine for this transcript and follows it."""
    name = pathlib.Path(file).name
    [test] = [path for path in (TESTS / "cli").glob("test_*.py") if f'HERE / "{name}"' in path.read_text()]
    return nodes_with(test.relative_to(TESTS), name)


def outcome(file, words, build):
    if file.endswith(".test"):
        return in_transcript(file, words, build)
    nodes = transcripts_test(file) if file.endswith(".transcript") else nodes_with(file, words)
    return tried(nodes, build)


SAID = {True: "passes", False: "fails", None: "skipped"}


@pytest.fixture(scope="module")
def table(request):
    """Rows that are printed when all points were tried."""
    rows = []
    yield rows
    with request.config.pluginmanager.get_plugin("capturemanager").global_and_fixture_disabled():
        print("\npoint | held by | old build | this build | what the old one does")
        print("\n".join(" | ".join(row) for row in rows))


@pytest.mark.parametrize(("point", "file", "words"), points(), ids=lambda text: text[:40])
def test_a_point_fails_with_the_old_build_and_passes_with_this_one(table, point, file, words):
    before, why = outcome(file, words, OLD)
    now, wrong = outcome(file, words, str(BUILD))
    table.append((point, file, SAID[before], SAID[now], why))
    if before is None or now is None:
        pytest.skip(f"{file}: {why or wrong}")
    assert now, f"it does not pass now: {wrong}"
    assert not before, f"it passes with the old build too: {file}: {words}"


def test_only_commands_with_the_words_count():
    """The words of a table belong to the command above them."""
    [line] = lines_with("cli/list.test", "is now four")
    above = [step.line for step in read_transcript((TESTS / "cli/list.test").read_text()) if step.line <= line]
    assert "--rename three four" in (TESTS / "cli/list.test").read_text().splitlines()[above[-1] - 1]
