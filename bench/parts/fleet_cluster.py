"""A fleet that Slurm starts on emulated nodes, for figures."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile

from parts import figure

sys.path.insert(0, str(figure.ROOT / "tests" / "live"))
from slurm_fleet import SlurmFleet, group_of, paced, why_not  # noqa: F401

STEP_NS = 50_000_000  # long, so that a paced step mostly sleeps


@contextlib.contextmanager
def slurm_fleet(nodes, program=None, **options):
    """Cluster, server and store, all gone at the end, also where the figure is ended by SIGTERM."""
    if why_not():
        sys.exit(f"{sys.argv[0]}: {why_not()}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = tempfile.mkdtemp(prefix="asf-")
    os.chmod(folder, 0o755)
    try:
        with SlurmFleet(folder, nodes, "max_connections=200", "fsync=on", program=program, cpus=1, **options) as fleet:
            yield fleet
    finally:
        subprocess.run(["rm", "-rf", folder], check=False)


def fake_runs(trials, runs, seconds, name="one"):
    """A plan of fake runs that really take `seconds` each, `runs` for each trial."""
    return ["toy", "--batch", f"1-{trials}+1", "--runs", runs, *paced(STEP_NS, seconds), "--name", name]
