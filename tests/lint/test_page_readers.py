"""scripts/check-readers finds pages that do not say whom they are for."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAYS = "# Title\n\n*For anyone.*\n"


def check(tree, name, text):
    (tree / "docs" / "deep").mkdir(parents=True)
    for one in ("ARCHITECTURE.md", "CONTRIBUTING.md", "docs/deep/page.md"):
        (tree / one).write_text(SAYS)
    (tree / name).write_text(text)
    script = [sys.executable, ROOT / "scripts/check-readers", tree]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "text",
    [SAYS, "# Title\n\nFor those who measure.\n", "<!-- written\nby a script -->\n# Title\n\n*For authors: how.*\n"],
)
def test_a_page_that_says_it_passes(tmp_path, text):
    assert check(tmp_path, "docs/deep/page.md", text) == (0, "")


@pytest.mark.parametrize("name", ["docs/deep/page.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])
@pytest.mark.parametrize(
    "text",
    ["# Title\n", "# Title\n\nText.\n\n*For anyone.*\n", "# Title\n\nFormats.\n", "# Title\n\n<!-- For -->\nText\n"],
)
def test_a_page_that_does_not_is_named(tmp_path, name, text):
    code, said = check(tmp_path, name, text)
    assert code == 1 and said.startswith(f"{name}: ") and said.count("\n") == 1


def test_our_own_pages_say_it():
    done = subprocess.run([ROOT / "scripts/check-readers"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
