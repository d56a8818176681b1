"""scripts/check-prose finds planted phrases, and is silent on plain English and on code."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def check(tree, text):
    (tree / "docs" / "deep").mkdir(parents=True)
    (tree / "README.md").write_text("# Plain\n")
    (tree / "docs" / "deep" / "page.md").write_text(text)
    script = [sys.executable, ROOT / "scripts/check-prose", tree]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize(
    ("sentence", "phrase"),
    [
        ("A quota is no error.", "is no"),
        ("These are no errors.", "are no"),
        ("The rest is told below.", "is told"),
        ("Workers are told their settings.", "are told"),
        ("It lies in the store.", "lies in"),
        ("Files lie in a folder.", "lie in"),
        ("This is none of them.", "is none"),
        ("It is made anew.", "anew"),
        ("Everything behind the warm-up counts.", "behind"),
        ("Inside of a node it is fast.", "Inside of"),
    ],
)
def test_a_planted_phrase_fails_with_its_line(tmp_path, sentence, phrase):
    code, lines = check(tmp_path, f"# Page\n\n```sh\nfirst\n```\n{sentence}\n")
    assert code == 1
    assert len(lines) == 1
    assert lines[0].startswith(f'docs/deep/page.md:6: "{phrase}"; write instead: ')


@pytest.mark.parametrize(
    "text",
    [
        "There is no store, there are none, and it is no longer needed.\n",
        "What was left behind is ended.\n",
        "Run `is no` in a shell.\n",
        "```text\nThis is no page.\n```\n",
        "<!-- test: untried it is no\ncommand -->\n",
        "He told me so.\n",
    ],
)
def test_plain_english_and_code_pass(tmp_path, text):
    assert check(tmp_path, text) == (0, [])


def test_help_is_looked_at_too(tmp_path):
    words = tmp_path / "tests" / "cli" / "words"
    words.mkdir(parents=True)
    (words / "help.txt").write_text("$ assay --help\nThis is no option.\n")
    code, lines = check(tmp_path, "# Page\n")
    assert (code, len(lines)) == (1, 1)
    assert lines[0].startswith("tests/cli/words/help.txt:2: ")


def test_our_pages_pass():
    done = subprocess.run([ROOT / "scripts/check-prose"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


CPP = r"""// This is no error.
#include "behind.hpp"
const char quote = '"';  /* it is told */
const auto many = 1'000;
const auto a = f("A quota is not an error.",
                 "the rate is "
                 "no rate \"here\"");
const auto raw = R"sql(
it lies in a table
)sql";
"""


def test_strings_of_cpp_are_looked_at_and_comments_are_not(tmp_path):
    (tmp_path / "cli").mkdir()
    (tmp_path / "cli" / "a.cpp").write_text(CPP)
    code, lines = check(tmp_path, "# Page\n")
    assert code == 1
    assert [line.partition(";")[0] for line in lines] == ['cli/a.cpp:6: "is no"', 'cli/a.cpp:8: "lies in"']


PYTHON = '''"""What this is told."""


def f(path):
    """It lies in a folder."""
    # It is made anew.
    return "Made " "anew.", f"{path} is none"
'''


@pytest.mark.parametrize("name", ["scripts/a", "workers/a.py"])
def test_strings_of_python_are_looked_at_and_comments_are_not(tmp_path, name):
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text("#!/usr/bin/env python3\n" + PYTHON)
    code, lines = check(tmp_path, "# Page\n")
    assert code == 1
    assert sorted(line.partition(";")[0] for line in lines) == [f'{name}:8: "anew"', f'{name}:8: "is none"']


@pytest.mark.parametrize("name", ["ARCHITECTURE.md", "CONTRIBUTING.md", "workers/a/README.md"])
def test_pages_of_engineers_are_looked_at_too(tmp_path, name):
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("It lies in a folder.\n")
    code, lines = check(tmp_path, "# Page\n")
    assert (code, len(lines)) == (1, 1)
    assert lines[0].startswith(f"{name}:1: ")
