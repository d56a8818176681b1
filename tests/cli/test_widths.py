"""Tables at 60, 80 and 120 columns, in a pipe, in LC_ALL=C and with NO_COLOR: nothing that tells rows apart is lost.

The fake worker's law gives every number. On a terminal of some columns no line is longer than that, a note names what
had no room, and each row still has what differs from the others: batch and settings. In a pipe a table is whole."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest
from test_cli import BUILD, environment

FAKE = ["--worker", "fake", "--option", "noise=0", "--seconds", "5ms", "--warmup", "0", "--retries", "0", "--quiet"]
# (what is printed, words of which every output has all: they tell its rows apart)
COMMANDS = {
    "show": (["show", "sweep"], ["b1", "b8", "intra_op=1", "intra_op=2", "300 us", "1 ms", "165 us", "550 us"]),
    "compare": (["compare", "intra_op=1", "intra_op=2"], ["b1", "b8", "45.0 %", "faster"]),
    "tune": (["tune", "--tuned", "best"], ["framework-default", "paper", "intra_op=4", "inter_op=2"]),
    "worker list": (["worker", "list"], ["fake", "command", "1.0.0", "bert_base", "bert_large", "conv1d", "conv2d"]),
    "report": (["report", "-o", "r.html"], ["r.html"]),
}
PLACES = {
    "60": ({}, 60),
    "80": ({}, 80),
    "120": ({}, 120),
    "no colour": ({"NO_COLOR": "1"}, 80),
    "C": ({"LC_ALL": "C"}, 80),
    "pipe": ({}, None),
    "pipe in C": ({"LC_ALL": "C"}, None),
}
# Some cells may be wide; columns that do not tell rows apart give way to them.
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def call(folder, argv, variables, columns):
    """What it printed; stdout is a terminal of so many columns where they are given."""
    env = environment(folder, **variables)
    env.pop("COLUMNS", None)  # pytest sets it
    if columns is None:
        whole = [BUILD / "assay", *argv]
        done = subprocess.run(whole, cwd=folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 3, 5), done.stderr
        return done.stdout + done.stderr
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen([BUILD / "assay", *argv], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=theirs,
                               stderr=subprocess.PIPE)  # fmt: skip
    os.close(theirs)
    seen = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        seen += chunk
    os.close(ours)
    said = process.stderr.read().decode()
    assert process.wait(60) in (0, 3, 5), said
    return seen.decode().replace("\r\n", "\n") + said


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A sweep over batch and settings, and a tuning. Two threads take .1 + .9 / 2 = .55 of the time of one."""
    folder = tmp_path_factory.mktemp("widths")
    both = ["--batch", "1,8"]
    for argv in (
        ["run", "toy", *FAKE, *both, "--intra-op", "1,2", "--runs", "6", "--name", "sweep", "--no-peak"],
        ["tune", "toy", *FAKE, "--intra-op", "1,4", "--inter-op", "1,2", "--allocator", "null", "--budget", "12",
         "--pairs", "2", "--name", "best"],
    ):  # fmt: skip
        call(folder, argv, {}, None)
    return folder


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_that_tells_rows_apart_is_lost(store, command, place):
    argv, words = COMMANDS[command]
    variables, columns = PLACES[place]
    text = call(store, argv, variables, columns)
    plain = ESCAPES.sub("", text)
    lost = [word for word in words if word not in plain]
    assert lost == [], plain
    if columns is None:
        assert text == plain and "No room for" not in plain, "a pipe has all columns and no escape codes"
    if variables.get("NO_COLOR"):
        assert not re.search(r"\x1b\[[0-9;]*m", text)
    if variables.get("LC_ALL") == "C":
        assert text.replace("\u2026", "").isascii(), plain  # no blocks; what was cut is marked all the same


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_rows_of_a_sweep_stay_distinct_and_fit(store, columns):
    """Four trials are four rows; a line that is too long would be broken by the terminal."""
    text = ESCAPES.sub("", call(store, ["show", "sweep"], {}, columns))
    rows = [line for line in text.splitlines() if " us" in line or " ms" in line]
    assert len(rows) == 4 and len({tuple(re.findall(r"\bb[18]\b|intra_op=\d", row)) for row in rows}) == 4, text
    assert max(map(len, rows)) <= columns, text
