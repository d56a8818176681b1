"""What is measured once for a store besides: three sizes of a gemm and a triad, two runs of .7 s each. A dry run counts
it, and no share of it is shown before all of it is there.

Apart from dry_run.test, because sanitized builds have no worker that measures a peak."""

import json
import signal
import sqlite3
import subprocess
import time

import pytest
from test_cli import BUILD, environment

PEAK = "Then 8 runs of the best gemm and triad here, 6 s, once for this store (--no-peak)"


LOCKSTEP = ["--batch", "1,2", "--lockstep"]


@pytest.mark.parametrize(("flags", "counted"), [([], True), (["--no-peak"], False), (LOCKSTEP, True)])
def test_a_dry_run_counts_peaks(tmp_path, flags, counted):
    if not (BUILD / "workers" / "onednn").is_dir():
        pytest.skip("this build has no worker onednn")
    argv = ["run", "conv2d", "--worker", "onednn", "--runs", "2", "--retries", "0", "--dry-run", *flags]
    done = subprocess.run([BUILD / "assay", *argv], cwd=tmp_path, env=environment(tmp_path), text=True,
                          capture_output=True, timeout=60, check=True)  # fmt: skip
    assert " x 2 runs = " in done.stdout
    assert (PEAK in done.stdout) == counted


SHORT = ["--worker", "onednn", "--runs", "1", "--retries", "0", "--seconds", "20ms", "--warmup", "0", "--no-phases"]
CONV = ["run", "conv2d", *SHORT, "--json"]


def runs_of_peak(folder):
    """Finished runs of the peak and all of them; None where it is not planned yet."""
    found = sqlite3.connect(f"file:{folder}/assay.db?mode=ro", uri=True, timeout=30).execute(
        "SELECT SUM(state = 2), COUNT(*) FROM run JOIN campaign ON campaign.key = run.campaign"
        " WHERE campaign.name = 'peak fp32 memory'").fetchone()  # fmt: skip
    return found if found[1] else None


# Neighbours may disturb every run of a peak, which is then not known. roofline_test holds the rule in CI.
@pytest.mark.timing
def test_no_share_is_shown_before_the_peak_is_whole(tmp_path):
    """Neither of a user's own small gemm nor of a peak that was stopped, which the next command finishes."""
    if not (BUILD / "workers" / "onednn").is_dir():
        pytest.skip("this build has no worker onednn")
    shared = {"cwd": tmp_path, "env": environment(tmp_path), "text": True}

    def assay(*argv):
        argv = [BUILD / "assay", *argv, "--quiet"]
        return subprocess.run(argv, capture_output=True, timeout=120, check=True, **shared).stdout

    def conv():
        [result] = json.loads(subprocess.run([BUILD / "assay", "show", "conv2d", "--json"], capture_output=True,
                                             timeout=60, check=True, **shared).stdout)["results"]  # fmt: skip
        return result

    sizes = [word for name in "mnk" for word in ("--option", f"{name}=64")]
    assay("run", "gemm", *sizes, *SHORT)
    stopped = subprocess.Popen([BUILD / "assay", *CONV], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **shared)
    deadline = time.monotonic() + 120
    while not (runs := runs_of_peak(tmp_path)) or runs[0] == 0:
        assert time.monotonic() < deadline and stopped.poll() is None, f"no peak was measured: {stopped.stderr.read()}"
        time.sleep(0.05)  # between two looks
    stopped.send_signal(signal.SIGINT)
    stopped.communicate(timeout=60)
    assert stopped.returncode == 130
    done, planned = runs_of_peak(tmp_path)
    assert 0 < done < planned == 8
    unfinished = conv()
    assert unfinished["share_of_peak"] is None and "no gemm of each size" in unfinished["share_reason"]
    assert unfinished["share_of_roofline"] is None

    assay(*CONV)
    assert runs_of_peak(tmp_path) == (8, 8), "it is finished as it was planned"
    assert conv()["share_of_peak"] > 0
    assert conv()["share_of_roofline"] > 0
    names = (
        sqlite3.connect(tmp_path / "assay.db").execute("SELECT name FROM campaign WHERE name LIKE 'peak%'").fetchall()
    )
    assert names == [("peak fp32 memory",)]
