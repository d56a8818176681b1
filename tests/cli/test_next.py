"""Where a machine is in the way, the last line says what to type next: transcripts on machines that are made so."""

import contextlib
import os
import pathlib
import subprocess
import sys

import pytest
from test_cli import HERE, follow

GROUPS = pathlib.Path("/sys/fs/cgroup/cpu")


@contextlib.contextmanager
def on_one_busy_cpu():
    """What is started may use one CPU, and shares it with a busy program."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    busy = subprocess.Popen([sys.executable, "-c", "print(flush=True)\nwhile True: pass"], stdout=subprocess.PIPE)
    try:
        busy.stdout.readline()
        yield
    finally:
        os.sched_setaffinity(0, before)
        busy.kill()
        busy.communicate()


@contextlib.contextmanager
def under_a_quota(cpus):
    """What is started is in a control group that may use so many CPUs."""
    group = GROUPS / f"assay-next-{os.getpid()}"
    back = next((line.split(":")[2] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()
                 if "cpu" in line.split(":")[1].split(",")), None)  # fmt: skip
    try:
        group.mkdir()
        (group / "cpu.cfs_quota_us").write_text(str(100_000 * cpus))
    except OSError as error:
        pytest.skip(f"no control group of version 1 can be made in {GROUPS}: {error}")
    try:
        (group / "cgroup.procs").write_text(str(os.getpid()))
        yield
    finally:
        (GROUPS / back.lstrip("/") / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()


def test_after_disturbed_runs_the_doctor_is_next(tmp_path):
    with on_one_busy_cpu():
        follow(HERE / "disturbed.transcript", tmp_path)


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two CPUs are needed to pass a quota of one")
def test_under_a_quota_as_many_threads_are_next(tmp_path):
    with under_a_quota(1):
        follow(HERE / "quota.transcript", tmp_path)
