"""Last lines of figures as data: docs/evidence/NAME.json at full size, NAME.short.json at the short one, and what has
changed since. A short run leaves the evidence of a full one alone."""

import datetime
import json
import os
import pathlib
import re
import socket
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "evidence"
SIZES = {"full": "", "short": ".short"}  # in the order of the page
SHORTHANDS = {
    "@core": ["assay/core", "assay/stats"],
    "@run": ["assay/core", "assay/stats", "assay/platform", "assay/process", "assay/measure"],
}


def rows(path):
    return [line.split() for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]


def figures(root=ROOT):
    """Every figure, in the order of bench/ci.txt."""
    return [row[1] for row in rows(root / "bench" / "ci.txt")]


def measured_paths(root=ROOT):
    """By figure: the paths whose change makes its number an old one. Its own program is always among them."""
    found = {}
    for name, *paths in rows(root / "bench" / "measures.txt"):
        whole = [real for path in paths for real in SHORTHANDS.get(path, [path])]
        found[name] = sorted({*whole, f"bench/{name}"})
    return found


def git(*argv, root=ROOT):
    done = subprocess.run(["git", *argv], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def commit(root=ROOT):
    """The commit that is checked out; None where files differ from it, since then no commit has what is measured."""
    changed = git("status", "--porcelain", "--untracked-files=no", root=root)
    return git("rev-parse", "HEAD", root=root) if changed == "" else None


def changed_since(kept, paths, root=ROOT):
    """Which of `paths` have changed since that commit, committed or not; None where the commit is not known here."""
    diff = git("diff", "--name-only", kept, "--", *paths, root=root)
    if diff is None:
        return None
    return sorted({path for path in paths for name in diff.split() if name == path or name.startswith(path + "/")})


def last_line(text):
    """The JSON object that a figure ended with; None where it ended otherwise."""
    lines = text.strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else None
    except json.JSONDecodeError:
        return None
    return found if isinstance(found, dict) and "figure" in found else None


def without_host(document):
    """The same without the name of this host, whatever a figure put into its line."""
    name = re.compile(rf"\b{re.escape(socket.gethostname())}\b")

    def clean(value):
        if isinstance(value, dict):
            return {key: clean(one) for key, one in value.items()}
        if isinstance(value, list):
            return [clean(one) for one in value]
        return name.sub("HOST", value) if isinstance(value, str) else value

    return clean(document)


def load():
    return round(os.getloadavg()[0], 2)


def now():
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def path_of(name, size, folder=FOLDER):
    return folder / f"{name}{SIZES[size]}.json"


def read(name, size, folder=FOLDER):
    path = path_of(name, size, folder)
    return json.loads(path.read_text()) if path.exists() else None


def read_all(root=ROOT):
    """What is kept of every figure, in the order of bench/ci.txt, the full size before the short one."""
    kept = [read(name, size, root / "docs" / "evidence") for name in figures(root) for size in SIZES]
    return [one for one in kept if one]


def write(document, folder=FOLDER):
    """All of it or nothing, so that a stop at any moment leaves the last evidence whole."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{document['figure']}.draft"
    draft.write_text(json.dumps(without_host(document), indent=2) + "\n")
    draft.rename(path_of(document["figure"], document["size"], folder))
