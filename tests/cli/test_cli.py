"""The command line as a person sees it: every *.test here is a transcript that must come true.

A transcript is read line by line:
    $ command             is run, without a shell; NAME=value in front of `assay` sets a variable. COLUMNS=60 puts its
                          stdout on a terminal that wide; what is drawn in colour is then read without it
    text                  is what it must print to stdout
    ! text                is what it must print to stderr
    [exit N]              is its exit code, 0 where nothing is said
    @ name, then | text   writes a file
    # text                is a remark, and empty lines are free
`…` stands for anything within a line, and alone on a line for any number of lines. Spaces count as one.
All commands of a file run in one fresh folder.
"""

import contextlib
import fcntl
import os
import pathlib
import pty
import re
import shlex
import signal
import sqlite3
import struct
import subprocess
import termios
import time
from dataclasses import dataclass, field

import pytest

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", HERE.parents[1] / "build" / "dev")).resolve()
LIMIT_SECONDS = 60
ANYTHING = "…"


@dataclass
class Step:
    """One command and what it must do."""

    line: int
    command: list
    variables: dict
    stdout: list = field(default_factory=list)
    stderr: list = field(default_factory=list)
    code: int = 0


@dataclass
class File:
    name: str
    lines: list = field(default_factory=list)


def read_command(line, text):
    words = shlex.split(text)
    variables = {}
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    assert words[0] == "assay", f"line {line}: only assay is run here"
    return Step(line, words[1:], variables)


def read_transcript(text):
    """Steps and files in order."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith("$ "):
            found.append(read_command(number, line[2:]))
        elif line.startswith("@ "):
            found.append(File(line[2:].strip()))
        elif line.startswith("| "):
            found[-1].lines.append(line[2:])
        elif told := re.fullmatch(r"\[exit (\d+)\]", line.strip()):
            found[-1].code = int(told[1])
        elif line.startswith("! "):
            found[-1].stderr.append(line[2:])
        else:
            found[-1].stdout.append(line)
    return found


def pattern(lines):
    """A regular expression for the expected lines, spaces squeezed."""
    parts = []
    for line in lines:
        if line.strip() == ANYTHING:
            parts.append(r"(?:[^\n]*\n)*?")
        else:
            parts.append(r"[^\n]*".join(re.escape(piece) for piece in squeezed(line).split(ANYTHING)) + r"\n")
    return "".join(parts)


def squeezed(line):
    return re.sub(r"[ \t]+", " ", line).strip()


def matches(lines, text):
    real = "".join(squeezed(line) + "\n" for line in text.splitlines() if line.strip())
    return re.fullmatch(pattern(lines), real) is not None


def environment(folder, **more):
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    env = {key: value for key, value in os.environ.items() if not key.startswith("ASSAY_")}
    return {**env, "TMPDIR": str(temporary), "ASSAY_HOST_LOCK": str(temporary / "host.lock"), **more}


def assay(folder, *arguments, **variables):
    env = environment(folder, **variables)
    return subprocess.run([BUILD / "assay", *arguments], cwd=folder, env=env, stdin=subprocess.DEVNULL, check=False,
                          capture_output=True, text=True, timeout=LIMIT_SECONDS)  # fmt: skip


COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def read_all(descriptor):
    """What comes from a terminal until its other end is closed."""
    seen = b""
    with contextlib.suppress(OSError):
        while chunk := os.read(descriptor, 65536):
            seen += chunk
    os.close(descriptor)
    return seen.decode().replace("\r\n", "\n")


def assay_on_terminal(folder, columns, *arguments, **variables):
    """The same with stdout on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    env = environment(folder, **variables)
    env.pop("COLUMNS", None)  # pytest sets it
    process = subprocess.Popen([BUILD / "assay", *arguments], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                               stdout=theirs, stderr=subprocess.PIPE, text=True)  # fmt: skip
    os.close(theirs)
    seen = read_all(ours)
    stderr = process.stderr.read()
    process.stderr.close()
    return subprocess.CompletedProcess(arguments, process.wait(LIMIT_SECONDS), seen, stderr)


def run_step(folder, step):
    """As the transcript says: in a pipe, or on a terminal."""
    columns = step.variables.get("COLUMNS")
    if columns is None:
        done = assay(folder, *step.command, **step.variables)
        assert "\x1b" not in done.stdout + done.stderr, f"escape codes where no terminal is: {done.stdout}{done.stderr}"
        return done
    others = {name: value for name, value in step.variables.items() if name != "COLUMNS"}
    done = assay_on_terminal(folder, int(columns), *step.command, **others)
    assert "NO_COLOR" not in others or not COLOUR.search(done.stdout), f"colour in spite of NO_COLOR: {done.stdout!r}"
    done.stdout = COLOUR.sub("", done.stdout)
    return done


def has_tables(store):
    """Whether the store is there and holds a record."""
    if not store.exists():
        return False
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=20)) as database:
        try:
            return database.execute("SELECT count(*) FROM record").fetchone()[0] > 0
        except sqlite3.OperationalError:
            return False


def until(condition, what, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.005)


# What a build with sanitizers cannot do.
UNSANITIZED = {
    "completion": "tcmalloc is preloaded, which does not live with the sanitizer's allocator",
    "first_minute": "six seconds do not hold the runs that a verdict needs",
    "first_run": "the report's page is not built",
    "widths": "tcmalloc is preloaded, which does not live with the sanitizer's allocator",
}


@pytest.mark.parametrize("transcript", sorted(HERE.glob("*.test")), ids=lambda path: path.stem)
def test_the_transcript_comes_true(transcript, tmp_path):
    if BUILD.name == "asan" and transcript.stem in UNSANITIZED:
        pytest.skip(UNSANITIZED[transcript.stem])
    follow(transcript, tmp_path)


def wrong_with(step, done):
    """What is not as the transcript says; None where all is."""
    if done.returncode != step.code:
        return f"exit code {done.returncode} in place of {step.code}"
    if not matches(step.stdout, done.stdout):
        return "stdout is another"
    return None if matches(step.stderr, done.stderr) else "stderr is another"


def follow(transcript, folder, **variables):
    """Does what the transcript says in that folder, with these variables for every command."""
    for step in read_transcript(transcript.read_text()):
        if isinstance(step, File):
            (folder / step.name).write_text("".join(line + "\n" for line in step.lines))
            continue
        step.variables = variables | step.variables
        done = run_step(folder, step)
        place = f"{transcript.name}:{step.line}: assay {shlex.join(step.command)}"
        whole = f"{place}\n--- stdout\n{done.stdout}--- stderr\n{done.stderr}--- exit {done.returncode}"
        wrong = wrong_with(step, done)
        assert wrong is None, f"{wrong}: {whole}"


def test_a_transcript_that_does_not_come_true_is_seen():
    assert matches(["a … c", "…", "z"], "a  b c\n\nx\ny\nz\n")
    assert matches(["…"], "")
    assert matches([], "")
    assert not matches([], "a\n")
    assert not matches(["a"], "")
    assert not matches(["a"], "a\nb\n")
    assert not matches(["a.c"], "abc\n")
    [step] = read_transcript("$ A=1 assay x 'y z'\nout\n! err\n[exit 3]\n")
    assert (step.command, step.variables, step.stdout, step.stderr, step.code) == (
        ["x", "y z"], {"A": "1"}, ["out"], ["err"], 3)  # fmt: skip


SLOW = ["run", "toy", "--worker", "fake", "--option", "noise=0", "--option", "pace=1", "--option", "base_ns=10000000",
        "--runs", "4", "--seconds", "300ms", "--warmup", "0", "--retries", "0"]  # fmt: skip


def processes_of(folder):
    """Live processes that were started for this folder."""
    mark = f"TMPDIR={folder / 'tmp'}\0".encode()
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
    return found


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_ctrl_c_stops_cleanly_and_the_same_command_goes_on(tmp_path, name):
    first = subprocess.Popen([BUILD / "assay", *SLOW], cwd=tmp_path, env=environment(tmp_path), text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    try:
        until(lambda: has_tables(tmp_path / "assay.db"), "the first run is done")
        first.send_signal(getattr(signal, name))
        stdout, stderr = first.communicate(timeout=10)
    finally:
        first.kill()
        first.wait()
    assert first.returncode == 130
    stopped = re.search(r"assay: stopped with (\d) of 4 runs done; the same command goes on from here\n", stderr)
    assert stopped, stderr
    done = int(stopped[1])
    assert 1 <= done <= 3
    assert f"{done} of 4 runs done" in stdout, "what is there so far is shown"
    assert processes_of(tmp_path) == []

    second = assay(tmp_path, *SLOW)
    assert second.returncode == 0
    assert f"{done} of 4 runs are done" in second.stderr
    assert "4 of 4 runs done" in second.stdout
    lines = assay(tmp_path, "export", "--format", "csv", "--all-attempts").stdout.splitlines()
    assert len(lines) == 1 + 4, "every run is there once, and the stopped one left no attempt"


def in_a_terminal(folder, *arguments, **variables):
    """Runs it with stdout and stderr on a terminal; what the terminal was sent."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([BUILD / "assay", *arguments], cwd=folder, env=environment(folder, **variables),
                               stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)  # fmt: skip
    os.close(theirs)
    seen = b""
    try:
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not chunk:
                break
            seen += chunk
        assert process.wait(LIMIT_SECONDS) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return seen.decode()


def test_a_number_is_there_within_the_first_run_and_refined_in_place(tmp_path):
    """By the law 10 ms and 100 us for the sample: a step takes 10.1 ms. Each slice of .5 s has a number, in place."""
    command = ["run", "toy", "--worker", "fake", "--option", "noise=0", "--option", "pace=1", "--option",
               "base_ns=10000000", "--runs", "2", "--seconds", "2s", "--warmup", "0", "--retries", "0"]  # fmt: skip
    seen = in_a_terminal(tmp_path, *command)
    first = seen[: seen.index("[1/2]")]
    told = re.findall(r"\r\x1b\[K\[0/2\]: (\S+ ms) so far, toy infer b1", first)
    assert len(told) >= 2 and set(told) == {"10.1 ms"}, repr(seen)
    later = seen[seen.index("[1/2]") : seen.index("[2/2]")]
    assert "median 10.1 ms so far, now 10.1 ms, toy infer b1" in later, repr(seen)


def test_no_color_means_no_colour_on_a_terminal_too(tmp_path):
    seen = in_a_terminal(tmp_path, *SLOW, "--batch", "1,2", NO_COLOR="1")
    assert "8 of 8 runs done" in seen
    assert re.search(r"\x1b\[[0-9;]*m", seen) is None


def test_progress_on_a_terminal_stays_on_one_line_and_is_gone_at_the_end(tmp_path):
    seen = in_a_terminal(tmp_path, *SLOW)
    progress, _, report = seen.rpartition("\x1b[K")
    assert "[" in progress and "/4]" in progress
    assert "\n" not in progress.replace("\r\n", "\n")
    assert report.lstrip("\r").startswith("toy (campaign ")


def test_what_is_read_by_a_program_that_has_seen_enough_is_no_error(tmp_path):
    assay(tmp_path, "run", "toy", "--worker", "fake", "--runs", "30", "--seconds", "50ms", "--retries", "0")
    process = subprocess.Popen([BUILD / "assay", "export"], cwd=tmp_path, env=environment(tmp_path),
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(LIMIT_SECONDS) == 0
    process.stderr.close()


def test_a_full_disk_under_stdout_is_an_error(tmp_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run([BUILD / "assay", "worker", "list"], cwd=tmp_path, env=environment(tmp_path), stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=LIMIT_SECONDS, check=False)  # fmt: skip
    assert done.returncode == 1
    assert "cannot write to standard output" in done.stderr
