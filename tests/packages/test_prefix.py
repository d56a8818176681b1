"""`cmake --install`: a prefix that may be moved, libraries for find_package(assay), man page and completion."""

import gzip
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONSUMER = """
cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES CXX)
find_package(assay 1.0 REQUIRED)
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE assay::report)
"""

# assay::report stands on all the others; what is called lies at the bottom of them.
CONSUMER_MAIN = """
#include <cstdio>
#include "assay/core/text/units.hpp"
#include "assay/stats/quantile.hpp"
int main() {
  const std::vector<double> values{3, 1, 2};
  std::printf("%s %g\\n", assay::format_duration(1.5e6).c_str(), assay::stats::quantile(values, 0.5));
}
"""


@pytest.fixture(scope="module")
def prefix(run, build, tmp_path_factory):
    """Installed at one place, then moved to another."""
    folder = tmp_path_factory.mktemp("prefix")
    run(folder, "cmake", "--install", build, "--strip", "--prefix", folder / "first")
    (folder / "first").rename(folder / "moved")
    return folder / "moved"


def test_a_moved_prefix_works(prefix, use):
    use(prefix / "bin/assay")


def test_a_link_to_the_program_works(prefix, use, tmp_path):
    link = tmp_path / "bin" / "assay"
    link.parent.mkdir()
    link.symlink_to(prefix / "bin/assay")
    use(link)


def test_a_project_finds_the_libraries(run, prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(CONSUMER)
    (tmp_path / "main.cpp").write_text(CONSUMER_MAIN)
    configure = ["cmake", "-S", ".", "-B", "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}"]
    run(tmp_path, *configure, "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
    run(tmp_path, "cmake", "--build", "build", "-j1")
    assert run(tmp_path, "build/consumer") == "1.5 ms 2\n"


def test_no_installed_text_names_the_source_or_the_build(build, prefix):
    texts = [path for path in prefix.rglob("*") if path.suffix in {".cmake", ".json", ".py"}]
    assert len(texts) > 20
    for path in texts:
        text = path.read_text()
        assert str(build) not in text and str(build.parents[1]) not in text, path


def commands_of(run, program, clean, path=()):
    """Each command with the flags that its help lists: our oracle, since it is what users read."""
    text = run("/", program, *path, "--help", env=clean)
    head, _, below = text.partition("\nSubcommands:\n")
    first = re.findall(r"^  (-\S+)", head, re.MULTILINE)  # as in -o,--out PATH or --phases,--no-phases{false}
    yield path, {name for names in first for name in re.findall(r"--[a-z][\w-]*", names)}
    for name in re.findall(r"^  (\w+)  ", below, re.MULTILINE):
        yield from commands_of(run, program, clean, (*path, name))


@pytest.fixture(scope="module")
def commands(run, prefix):
    return dict(commands_of(run, prefix / "bin/assay", {"PATH": "/usr/bin:/bin"}))


def completed(prefix, *words):
    """What bash offers for the last word."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _assay; printf "%s\\n" "${COMPREPLY[@]}"'
    script = f"complete() {{ :; }}; {script}"
    path = prefix / "share/bash-completion/completions/assay"
    argv = ["bash", "-c", script, "bash", path, "assay", *words]
    return set(subprocess.run(argv, capture_output=True, text=True, check=True).stdout.split())


def test_completion_offers_what_the_help_lists(prefix, commands):
    assert len(commands) > 15
    for path, flags in commands.items():
        assert completed(prefix, *path, "--") == flags, path
    assert completed(prefix, "") == {path[0] for path in commands if len(path) == 1}
    for parent in ("worker", "store"):
        assert completed(prefix, parent, "") == {path[1] for path in commands if len(path) == 2 and path[0] == parent}


def test_completion_offers_values_that_are_allowed(prefix):
    assert completed(prefix, "export", "--format", "js") == {"json", "jsonl"}
    assert completed(prefix, "run", "--store", "") == set()  # bash offers files then
    assert completed(prefix, "exec", "--", "--") == set()


def test_the_man_page_has_all_commands_and_flags(prefix, commands):
    page = gzip.open(prefix / "share/man/man1/assay.1.gz", "rt").read().replace("\\-", "-")
    for path, flags in commands.items():
        if not path:
            continue
        begin = page.index(f'.SS "assay {" ".join(path)}')
        section = page[begin : page.find("\n.S", begin + 1)]
        assert set(re.findall(r"\\fB(--[\w-]+)\\fR", section)) == flags - {"--help"}, path


@pytest.mark.skipif(shutil.which("man") is None, reason="no man here")
def test_the_man_page_is_read_without_warnings(prefix):
    argv = ["man", "--warnings", "-l", prefix / "share/man/man1/assay.1.gz"]
    done = subprocess.run(
        argv, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", "MANWIDTH": "200"}, check=True
    )
    assert done.stderr == ""
    assert "--max-samples" in done.stdout


def test_the_page_lists_the_libraries_that_are_installed():
    """Those of cmake/install.cmake, each once and no other."""
    listed = re.search(r"set\(ASSAY_LIBRARIES ([^)]*)\)", (ROOT / "cmake" / "install.cmake").read_text())[1].split()
    page = (ROOT / "docs" / "packages.md").read_text()
    (sentence,) = re.findall(r"(?s)One library for each stage of .*?, with what it stands on: (.*?)\. They are", page)
    assert sorted(re.findall(r"`(\w+)`", sentence)) == sorted(listed)
