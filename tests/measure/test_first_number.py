"""How long a person waits: for the first number, for a command at its defaults, and for one that was given a time."""

import os
import pathlib
import pty
import subprocess
import time

import pytest

BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", "build/dev")).resolve()
WORKER = pathlib.Path(os.environ.get("ASSAY_ENVIRONMENTS", "nowhere"))
pytestmark = [
    pytest.mark.timing,
    pytest.mark.skipif(not list(WORKER.glob("onnxruntime-*")), reason="onnxruntime is not installed"),
]


def watched(folder, *more):
    """Runs it on a terminal; seconds until the first number was shown, and until it ended."""
    env = {**os.environ, "ASSAY_HOST_LOCK": str(folder / "host.lock")}
    ours, theirs = pty.openpty()
    began = time.monotonic()
    argv = [BUILD / "assay", "run", "mobilenet_v2", "--worker", "onnxruntime", *more]
    process = subprocess.Popen(argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    first, seen = None, b""
    try:
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            seen += chunk
            if first is None and b" so far" in seen:
                first = time.monotonic() - began
        assert process.wait(60) == 0, seen.decode()
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return first, time.monotonic() - began


def test_a_first_number_within_5_s_and_all_within_a_minute(tmp_path):
    first, whole = watched(tmp_path)
    assert first <= 5
    assert whole <= 60


def test_a_time_is_kept_within_2_s(tmp_path):
    assert watched(tmp_path, "--time", "20s")[1] <= 22
