"""Numbers of figures as data: what is kept, what goes on after a stop, and what the page says of it."""

import json
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from parts import evidence  # noqa: E402

PAGE = """# Figures
<!-- evidence -->
<!-- /evidence -->
Lost: <!-- =quick detail.lost -->?<!-- / --> of <!-- =quick value .1f -->?<!-- / -->.
"""
FIGURE = """#!/usr/bin/env python3
import json, pathlib, socket, sys
log = pathlib.Path(__file__).with_name("log")
log.write_text((log.read_text() if log.exists() else "") + f"{' '.join(sys.argv[1:])}\\n")
line = {"figure": "quick", "value": 1234.56, "goal": 2000, "holds": True, "detail": {"lost": 0}}
print("a table for people")
print(json.dumps(line | {"where": "on " + socket.gethostname()}))
"""


class Place:
    """A repository with one figure, `quick`, which measures the folder `code`; and one, `broken`, without a line."""

    def __init__(self, path):
        self.path = path
        for folder in ("bench", "scripts", "docs", "code", "build"):
            (path / folder).mkdir()
        shutil.copytree(ROOT / "bench" / "parts", path / "bench" / "parts")
        for tool in ("bench/all", "scripts/write-figures"):
            shutil.copy(ROOT / tool, path / tool)
        self.write("bench/quick", FIGURE).chmod(0o755)
        self.write("bench/broken", "#!/bin/sh\necho no JSON\nexit 1\n").chmod(0o755)
        self.write("bench/ci.txt", "# remark\ngate quick counts\nhand broken never\n")
        self.write("bench/measures.txt", "quick code\nbroken code\n")
        self.write("docs/figures.md", PAGE)
        self.write("code/a.cpp", "1\n")
        self.write(".gitignore", "build\nbench/log\n")
        doctor = self.write("build/assay", '#!/bin/sh\necho \'{"platform": "0123456789abcdef"}\'\n')
        doctor.chmod(0o755)
        self.git("init", "-q")
        self.commit()

    def write(self, name, text):
        (self.path / name).write_text(text)
        return self.path / name

    def git(self, *argv):
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        argv = ["git", *identity, *argv]
        return subprocess.run(argv, cwd=self.path, capture_output=True, text=True, check=True).stdout

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "x", "--allow-empty")

    def call(self, tool, *argv, code=0):
        env = {"PATH": "/usr/bin:/bin", "ASSAY_BUILD": str(self.path / "build"), "PYTHONDONTWRITEBYTECODE": "1"}
        argv = [sys.executable, self.path / tool, *argv]
        done = subprocess.run(argv, cwd=self.path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def kept(self, file="quick.short.json"):
        return json.loads((self.path / "docs/evidence" / file).read_text())

    def times(self):
        return len((self.path / "bench/log").read_text().splitlines())


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def test_a_last_line_is_kept_with_what_it_was_measured_on(place):
    place.call("bench/all", "quick")
    kept = place.kept()
    assert kept["commit"] == place.git("rev-parse", "HEAD").strip()
    assert (kept["size"], kept["platform"], kept["exit_code"]) == ("short", "01234567", 0)
    assert kept["line"]["value"] == 1234.56 and kept["load_before"] >= 0 and kept["date"].endswith("Z")
    assert kept["line"]["where"] == "on HOST", "no host names"


def test_it_goes_on_where_it_was_stopped_and_measures_again_what_changed(place):
    place.call("bench/all", "quick")
    place.commit()
    assert "quick: kept" in place.call("bench/all", "quick").stdout and place.times() == 1
    place.call("bench/all", "quick", "--full")  # another size
    place.commit()
    assert place.times() == 2 and place.kept("quick.json")["size"] == "full"
    place.write("code/a.cpp", "2\n")
    assert "Commit first" in place.call("bench/all", "quick", code=1).stderr
    place.commit()
    place.call("bench/all", "quick", "--full")
    assert place.times() == 3


def test_a_short_run_leaves_what_is_kept_at_full_size_and_the_page_has_both(place):
    place.call("bench/all", "quick", "--full")
    place.commit()
    full = place.kept("quick.json")
    place.write("bench/quick", FIGURE.replace("1234.56", "7"))
    place.commit()
    place.call("bench/all", "quick")
    assert place.kept("quick.json") == full and place.kept()["line"]["value"] == 7
    place.commit()
    assert "quick: kept" in place.call("bench/all", "quick").stdout
    place.call("scripts/write-figures", place.path / "docs/figures.md")
    page = (place.path / "docs/figures.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| quick")]
    assert ["| 1235 | 2,000 | yes | full |" in rows[0], "| 7 | 2,000 | yes | short |" in rows[1], len(rows)] == [
        True,
        True,
        2,
    ]
    assert "of <!-- =quick value .1f -->1234.6<!-- / -->." in page, "numbers in the text are of the full size"


def test_the_page_says_where_a_commit_is_not_known(place):
    place.call("bench/all", "quick")
    place.write("docs/evidence/quick.short.json", json.dumps(place.kept() | {"commit": "0" * 40}))
    place.commit()
    place.call("scripts/write-figures", place.path / "docs/figures.md")
    [row] = [line for line in (place.path / "docs/figures.md").read_text().splitlines() if line.startswith("| quick")]
    assert row.endswith("| not known: this repository does not have its commit |")
    place.commit()
    assert place.times() == 1
    place.call("bench/all", "quick")
    assert place.times() == 2, "nobody can say what has changed since"


def test_a_figure_without_a_line_is_named_and_leaves_no_evidence(place):
    told = place.call("bench/all", code=2).stdout
    assert "broken: ended with 1 and without a line of JSON" in told
    assert json.loads(told.splitlines()[-1])["broken"] == ["broken"]
    assert not (place.path / "docs/evidence/broken.json").exists() and place.kept()["line"]["holds"]


def test_the_page_is_written_from_it_and_marks_what_changed_since(place):
    place.call("bench/all", "quick")
    place.commit()
    place.call("scripts/write-figures", "--check", place.path / "docs/figures.md", code=1)
    place.call("scripts/write-figures", place.path / "docs/figures.md")
    page = (place.path / "docs/figures.md").read_text()
    assert "Lost: <!-- =quick detail.lost -->0<!-- / --> of <!-- =quick value .1f -->1234.6<!-- / -->." in page
    row = next(line for line in page.splitlines() if line.startswith("| quick"))
    assert "| 1235 | 2,000 | yes | short |" in row and row.endswith("|  |")
    place.call("scripts/write-figures", "--check", place.path / "docs/figures.md")
    place.write("code/a.cpp", "2\n")
    place.commit()
    place.call("scripts/write-figures", "--check", place.path / "docs/figures.md")  # a mark is not a number
    place.call("scripts/write-figures", place.path / "docs/figures.md")
    assert "| code |" in (place.path / "docs/figures.md").read_text()
    place.write("docs/evidence/quick.short.json", json.dumps(place.kept() | {"line": {"figure": "quick", "value": 2}}))
    told = place.call("scripts/write-figures", "--check", place.path / "docs/figures.md", code=1)
    assert "detail.lost of quick" in told.stderr


def test_every_figure_names_what_it_measures():
    paths = evidence.measured_paths()
    assert sorted(paths) == sorted(evidence.figures())
    assert [path for whole in paths.values() for path in whole if not (ROOT / path).exists()] == []


def test_the_page_has_the_numbers_that_are_kept():
    subprocess.run([sys.executable, ROOT / "scripts" / "write-figures", "--check"], check=True)
