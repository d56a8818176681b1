"""Every command of README and docs/ is run, page by page. CONTRIBUTING.md says by what rules.

Durations are cut short by variables, so that a page shows what a user types and yet takes seconds here."""

import os
import pathlib
import shutil
import subprocess
import sys

import pages
import pytest

BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", pages.ROOT / "build" / "dev")).resolve()
CGROUPS = pathlib.Path("/sys/fs/cgroup/cpu")
# Flags that a page gives win over these.
SHORT = {
    "ASSAY_SECONDS": "100ms",
    "ASSAY_WARMUP": "20ms",
    "ASSAY_RETRIES": "0",
    "ASSAY_NO_PEAK": "1",
}
ENTER = "import os, sys; open(sys.argv[1], 'w').write('0'); os.execvp(sys.argv[2], sys.argv[2:])"


def environment_of(need):
    """Where a framework is installed: pytorch, or onnxruntime==1.24.4. None where it is not."""
    name, _, release = need.partition("==")
    root = os.environ.get("ASSAY_ENVIRONMENTS")
    found = sorted(pathlib.Path(root).glob(f"{name}-{release or '*'}")) if root else []
    return found[-1] if found else None


def missing(block):
    """Why this block cannot run here, or None."""
    for need in block.needs:
        if need.startswith("program:"):
            if shutil.which(need.removeprefix("program:")) is None:
                return f"needs the program {need.removeprefix('program:')}"
        elif environment_of(need) is None:
            return f"needs {need}"
    if block.quota and not (os.access(CGROUPS, os.W_OK) and (CGROUPS / "cpu.cfs_quota_us").exists()):
        return f"needs control groups of version 1 in {CGROUPS}"
    return None


class Place:
    """A temporary folder in which the blocks of one page run, as if it were a clone that has been built."""

    def __init__(self, folder):
        self.folder = folder
        for name in ("bench", "examples", "docs", "workers", "tests"):
            (folder / name).symlink_to(pages.ROOT / name)
        (folder / "build").mkdir()
        (folder / "build" / "release").symlink_to(BUILD)

    def variables(self, block):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_") or k == "ASSAY_ENVIRONMENTS"}
        env |= SHORT | {"ASSAY_HOST_LOCK": str(self.folder / "host.lock"), "PYTHONDONTWRITEBYTECODE": "1"}
        path = [str(BUILD)]
        path += [str(environment_of(need) / "bin") for need in block.needs if not need.startswith("program:")]
        env["PATH"] = os.pathsep.join([*path, env["PATH"]])
        return env

    def run(self, block, script, codes):
        argv = ["bash", "-euo", "pipefail", "-c", script]
        group = CGROUPS / f"assay-docs-{os.getpid()}"
        if block.quota:
            group.mkdir()
            (group / "cpu.cfs_quota_us").write_text(str(int(100000 * block.quota)))
            argv = [sys.executable, "-c", ENTER, str(group / "cgroup.procs"), *argv]
        try:
            done = subprocess.run(
                argv,
                cwd=self.folder,
                env=self.variables(block),
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=1800,
                check=False,
            )
        finally:
            if block.quota:
                group.rmdir()
        wanted = " or ".join(map(str, codes))
        said = done.stdout[-2000:] + done.stderr[-2000:]
        assert done.returncode in codes, f"{block.place}: exit {done.returncode}, not {wanted}:\n{script}\n{said}"


def run_page(page, folder, with_full):
    """What was left out, and why."""
    place, left_out = Place(folder), []
    for block in pages.blocks_of(page):
        if block.file:
            (folder / block.file).write_text(block.text)
            (folder / block.file).chmod(0o755)
        if not block.is_run or (block.full and not with_full):
            continue
        if reason := missing(block):
            left_out.append(f"{block.place} {reason}")
            continue
        if block.setup:
            place.run(block, block.setup, (0,))
        place.run(block, block.text, block.exit_codes)
    return left_out


def pages_with(full):
    found = []
    for page in pages.pages():
        try:
            blocks = [block for block in pages.blocks_of(page) if block.is_run]
        except pages.Wrong:
            blocks = []  # test_every_block_is_known tells
        if any(block.full for block in blocks) if full else any(not block.full for block in blocks):
            found.append(page)
    return found


@pytest.mark.parametrize("page", pages.pages())
def test_every_block_is_known(page):
    pages.blocks_of(page)


@pytest.mark.parametrize("page", pages_with(full=False))
def test_commands(page, tmp_path):
    if left_out := run_page(page, tmp_path, with_full=False):
        pytest.skip("the others ran; left out: " + "; ".join(left_out))


@pytest.mark.full
@pytest.mark.parametrize("page", pages_with(full=True))
def test_long_commands(page, tmp_path):
    if left_out := run_page(page, tmp_path, with_full=True):
        pytest.skip("the others ran; left out: " + "; ".join(left_out))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```\nassay doctor\n```", "language ''"),
        ("```bash\nassay doctor\n```", "language 'bash'"),
        ("```text\n$ assay doctor\n```", "a command inside of output"),
        ("Say:\n\n    assay doctor\n", "an indented block"),
        ("```sh\nassay doctor\n", "has no end"),
        ("<!-- test: skip -->\n```sh\nassay doctor\n```", "no mark 'skip'"),
        ("<!-- test: untried no GPU here -->\n```sh\nassay doctor\n```", "readers do not see"),
        ("<!-- test: full -->\n```text\nx\n```", "only blocks of commands"),
    ],
)
def test_a_page_that_breaks_the_rules_is_told(text, message):
    with pytest.raises(pages.Wrong, match=message):
        pages.blocks_of("page.md", text)


def test_marks_are_read():
    marks = "needs pytorch\nfull\nexit 0 3\nsetup echo a\nsetup echo b"
    text = f"No GPU here.\n<!-- test: {marks} -->\n\n```sh\nassay doctor\n```\n"
    (block,) = pages.blocks_of("page.md", text)
    assert (block.needs, block.full, block.exit_codes, block.setup) == (["pytorch"], True, (0, 3), "echo a\necho b\n")
    (block,) = pages.blocks_of("page.md", text.replace("full", "untried No GPU here."))
    assert not block.is_run
