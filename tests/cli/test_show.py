"""`assay show` on a terminal, as wide as a window is, and as Markdown."""

import fcntl
import json
import os
import pathlib
import pty
import struct
import subprocess
import termios

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()


def on_terminal(folder, *argv, columns, **variables):
    """What assay prints on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_") and k != "COLUMNS"}
    env |= {"LC_ALL": "C.UTF-8", "NO_COLOR": "1"} | variables
    argv = [BUILD / "assay", *argv]
    with subprocess.Popen(argv, cwd=folder, env=env, stdout=theirs, stdin=subprocess.DEVNULL) as run:
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed: all is read
                break
            if not part:
                break
            text += part
    os.close(ours)
    assert run.returncode == 0, text
    return text.decode().replace("\r\n", "\n")


def measured(assay):
    sweep = ["--intra-op", "1,2", "--inter-op", "1,2", "--option", "noise=0"]
    assay("run", "toy", "--worker", "fake", *sweep, "--runs", 6, "--seconds", "20ms", "--warmup", "5ms", "--quiet")


def test_tables_fit_the_window_and_a_wide_one_shows_runs_in_time(assay, tmp_path):
    measured(assay)
    narrow = on_terminal(tmp_path, "show", columns=80)
    header, *rows = narrow.splitlines()[1:6]
    assert max(map(len, [header, *rows])) <= 80
    assert "median" in header and "p99" not in header
    assert "No room for: " in narrow
    wide = on_terminal(tmp_path, "show", columns=80, COLUMNS="160")
    assert wide.splitlines()[1].endswith("in time")
    assert "▁▁▁▁▁▁" in wide, "six runs of one time: the law has no noise here"
    assert "No room for" not in wide


def test_two_settings_are_a_heat_map(assay, tmp_path):
    """The law of workers/fake/README.md gives .1 + .9 / (p q) + .01 (q - 1), p intra_op and q inter_op:
    1 and .55 for q = 1, .56 and .335 for q = 2. Over the least that is 2.985, 1.642, 1.672 and 1."""
    measured(assay)
    lines = assay("show").stdout.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("instances"))
    cells = [line.split() for line in lines[begin + 1 : begin + 3]]
    assert cells == [["1", "1", "2.99", "1.64"], ["1", "2", "1.67", "1.00"]]


def test_markdown_has_every_trial_and_no_terminal(assay, tmp_path):
    measured(assay)
    assay("show", "--markdown", "results.md")
    text = (tmp_path / "results.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + 4
    assert "inter&#95;op=1 intra&#95;op=2" in text
    assert "\x1b" not in text
    fenced = text.split("```text\n")[1].split("```")[0].splitlines()
    assert [line.split()[2:] for line in fenced[1:]] == [["2.99", "1.64"], ["1.67", "1.00"]]


def test_a_trial_and_its_runs_as_markdown(assay, tmp_path):
    measured(assay)
    trial = json.loads(assay("show", "--json").stdout)["results"][0]["trial_id"]
    assay("show", "--trial", trial[:8], "--markdown", "trial.md")
    text = (tmp_path / "trial.md").read_text()
    assert f"trial {trial}" in text
    assert len([line for line in text.splitlines() if line.startswith("| ")]) == 2 + 6


def test_nothing_is_fastest_alone(assay):
    measured(assay)
    assert assay("show", "--fastest").stdout.startswith("No workload here has results of two workers or releases.")
    assert "give two answers" in assay("show", "--fastest", "--roofline", code=2).stderr
