"""Namespaces of a figure's own: its mounts and processes end with it, however it ends."""

import os
import shutil
import subprocess
import sys

APART = "ASSAY_BENCH_APART"  # set where go_apart() has taken effect


def go_apart():
    """Goes on as the first process of namespaces of its own: mounts and processes end with it, however it ends."""
    if os.environ.get(APART) or os.geteuid() != 0 or not shutil.which("unshare"):
        return
    words = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
        sys.stdout.flush()
        os.execvpe("unshare", [*words, sys.executable, *sys.argv], os.environ | {APART: "1"})


def why_not():
    """To be asked after go_apart(): why it had no effect; None where it had."""
    if os.geteuid() != 0:
        return "mounts need root"
    return None if os.environ.get(APART) else "namespaces cannot be made here (unshare)"
