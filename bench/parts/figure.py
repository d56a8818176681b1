"""What every figure shares: where the build is, a private place to work, and the line of JSON that ends it."""

import importlib.util
import json
import math
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
ASSAY = BUILD / "assay"
PARTS = ROOT / "bench" / "parts"
PROGRAMS = BUILD / "bench"


class Workplace:
    """A folder of its own for stores, run directories and the host lock: nothing else on the host is touched."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="assay-bench-"))
        (self.path / "tmp").mkdir()

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended and removed
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def environment(self, **more):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
        env["TMPDIR"] = str(self.path / "tmp")
        env["ASSAY_HOST_LOCK"] = str(self.path / "host.lock")
        env.update({k: str(v) for k, v in more.items()})
        return env

    def framework_environment(self, **more):
        """The same, with the frameworks that are installed for the caller."""
        kept = {k: os.environ[k] for k in ("ASSAY_ENVIRONMENTS",) if k in os.environ}
        return self.environment(**kept, **more)


def use_python_with(module):
    """Goes on in the project's own environment, where this Python does not have the module."""
    python = ROOT / ".venv" / "bin" / "python"
    if importlib.util.find_spec(module) is None and python.exists() and pathlib.Path(sys.prefix) != python.parents[1]:
        os.execv(python, [str(python), *sys.argv])


def run(argv, env, check=True, timeout=600):
    """Runs a program to its end; its output as text."""
    done = subprocess.run([str(a) for a in argv], env=env, capture_output=True, text=True, timeout=timeout, check=False)
    if check and done.returncode != 0:
        sys.exit(f"{' '.join(map(str, argv))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def published_folder(given):
    """Folder of tables that others published: the option, else ASSAY_PUBLISHED. Ends the program where there is none: a
    figure that needs them is then skipped, and says so."""
    folder = pathlib.Path(given or os.environ.get("ASSAY_PUBLISHED") or "nowhere")
    if not folder.is_dir():
        why = "name the folder of published tables: --published or ASSAY_PUBLISHED"
        why = f"{folder} is not a folder" if given else why
        print(json.dumps({"figure": pathlib.Path(sys.argv[0]).name, "skipped": why}))
        sys.exit(2 if given else 0)
    return folder


def installed_worker(env, name):
    """What `assay worker list` says of the newest release that is installed; ends the program where there is none."""
    listed = json.loads(run([ASSAY, "worker", "list", "--json"], env).stdout)
    workers = [w for w in listed if w["name"] == name and w["installed"]]
    if not workers:
        sys.exit(f"{sys.argv[0]}: the worker {name} is not installed; run `assay worker install {name}`")
    return workers[-1]


def median_interval(values):
    """Median, and its 95 % interval from order statistics (none below 6 values)."""
    ordered = sorted(values)
    n = len(ordered)
    below, rank = 0.0, 0
    while (below := below + math.comb(n, rank) / 2**n) <= 0.025:
        rank += 1
    low, high = (ordered[rank - 1], ordered[n - rank]) if rank > 0 else (None, None)
    return statistics.median(ordered), low, high


def finish(figure, value, goal, holds, low=None, high=None, detail=None):
    """Prints the figure as the last line and ends the program: 0 only where the goal holds. `detail` holds more."""
    line = {"figure": figure, "value": value, "low": low, "high": high, "goal": goal, "holds": bool(holds)}
    print(json.dumps(line if detail is None else line | {"detail": detail}))
    sys.exit(0 if holds else 1)
