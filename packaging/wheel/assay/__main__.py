"""Starts the program in place of Python, or says which shared libraries it lacks."""

import json
import os
import pathlib
import re
import subprocess
import sys

PACKAGE = pathlib.Path(__file__).resolve().parent
PROGRAM = PACKAGE / "prefix" / "bin" / "assay"


def missing_libraries():
    """As ldd does: the loader lists what it would load, and starts nothing."""
    traced = subprocess.run(
        [PROGRAM], env=dict(os.environ, LD_TRACE_LOADED_OBJECTS="1"), capture_output=True, text=True, check=False
    )
    return re.findall(r"^\s*(\S+) => not found", traced.stdout, re.MULTILINE)


def main():
    missing = missing_libraries()
    if missing:
        known = json.loads((PACKAGE / "libraries.json").read_text())
        packages = [known[name] for name in missing if known.get(name)]
        advice = f" On Debian 12: apt-get install {' '.join(packages)}" if packages else ""
        print(f"assay: shared libraries are missing here: {', '.join(missing)}.{advice}", file=sys.stderr)
        return 1
    os.execv(PROGRAM, [str(PROGRAM), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
