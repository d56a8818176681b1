"""What a function is compared with: the folder of a baseline, and proof that it is other code."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from assay._program import AssayError

Function = Callable[[], Any]

STORED = "stored"
_RELEASE = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9][A-Za-z0-9.+!_-]*$")

# In a fresh process: imports a file as the worker does, calls the function, and prints where modules came from.
_PROBE = """
import importlib.util, json, os, sys
sys.path.append(os.path.dirname(sys.argv[1]))
spec = importlib.util.spec_from_file_location("assay_probe", sys.argv[1])
probe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(probe)
getattr(probe, sys.argv[2])()
print("\\n" + json.dumps([m.__file__ for m in list(sys.modules.values()) if getattr(m, "__file__", None)]))
"""


@dataclass(frozen=True)
class Target:
    """A function that a fresh process can import: a file and a name in it."""

    path: pathlib.Path
    name: str

    @classmethod
    def of(cls, function: Function) -> Target:
        name = getattr(function, "__qualname__", "")
        file = inspect.getsourcefile(function) if inspect.isfunction(function) else None
        if file is None or not name.isidentifier():
            raise AssayError(
                f"{name or function!r} cannot be measured: fresh processes import it by file and name. Write a "
                "function without arguments at the top level of the test file, and pass that."
            )
        needed = [
            one.name
            for one in inspect.signature(function).parameters.values()
            if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        ]
        if needed:
            raise AssayError(f"{name} needs the arguments {', '.join(needed)}. Write a function that takes none.")
        return cls(pathlib.Path(file).resolve(), name)

    def __str__(self) -> str:
        return f"{self.path}:{self.name}"


def import_path(target: Target) -> list[str]:
    """What this process can import from and a fresh one of the same interpreter would not; the file's folder last."""
    fresh = subprocess.run(
        [sys.executable, "-c", "import json, sys; print(json.dumps(sys.path[1:]))"],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=True,
    )
    known = set(json.loads(fresh.stdout))
    here = [os.path.abspath(entry) for entry in sys.path if entry != ""]
    here.append(str(target.path.parent))
    return [entry for entry in dict.fromkeys(here) if entry not in known and os.path.isdir(entry)]


def baseline_folder(baseline: str) -> pathlib.Path:
    """A folder that modules are imported from, or package==release, which pip installs into a folder of its own."""
    if _RELEASE.match(baseline):
        return _installed(baseline)
    folder = pathlib.Path(baseline).expanduser().resolve()
    if not folder.is_dir():
        raise AssayError(
            f"baseline: {baseline!r} is neither a folder, nor package==release, nor '{STORED}'. Name the folder that "
            "the modules to compare with are imported from."
        )
    return folder


def _installed(release: str) -> pathlib.Path:
    """Without what it depends on: only the package itself is to differ."""
    root = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "assay" / "baselines"
    python = hashlib.sha256(sys.version.encode()).hexdigest()[:8]
    folder = root / f"{release.replace('==', '-')}-{python}"
    if folder.is_dir():
        return folder
    part = folder.with_name(f"{folder.name}.{os.getpid()}.part")
    argv = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run(
        [*argv, "--target", str(part), release], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["pip ended with an error"]
        raise AssayError(f"baseline: {release} cannot be installed: {said[-1]}")
    try:
        part.rename(folder)
    except OSError:  # another process was first
        pass
    return folder


def check_differs(target: Target, function: Function, folder: pathlib.Path) -> None:
    """Otherwise both sides would be the same code, and the gate would always pass."""
    if target.path.is_relative_to(folder):
        raise AssayError(f"{target} is part of the baseline {folder}. Pass a function of the test file.")
    top = (getattr(function, "__module__", "") or "").partition(".")[0]
    if top and ((folder / f"{top}.py").exists() or (folder / top / "__init__.py").exists()):
        raise AssayError(
            f"{target.name} is defined in {top}, which the baseline has too: both sides would run the new code. Write "
            "a function in the test file that calls it, and pass that."
        )
    path = os.pathsep.join([str(folder), *import_path(target)])
    probed = subprocess.run(
        [sys.executable, "-c", _PROBE, str(target.path), target.name],
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if probed.returncode != 0:
        said = probed.stderr.strip().splitlines() or ["it ended without a word"]
        raise AssayError(f"{target.name} does not run with the baseline {folder}: {said[-1]}")
    files = json.loads(probed.stdout.splitlines()[-1])
    if not any(pathlib.Path(file).resolve().is_relative_to(folder) for file in files):
        raise AssayError(
            f"{target.name} imports nothing from the baseline {folder}: both sides would run the same code. Name the "
            "folder that holds the modules themselves."
        )
