"""A dry run counts what is measured once for a store besides: three sizes of a gemm and a triad, two runs of .7 s each.

Apart from dry_run.test, because sanitized builds have no worker that measures a peak."""

import subprocess

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
