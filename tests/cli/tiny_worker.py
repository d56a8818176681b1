"""A worker on a framework of one line, and a folder that serves it: `assay worker install tiny` without network.

Whoever wants to interrupt an installation, or cut the power under it, makes a User in a folder; `environments` may be
on another file system.
"""

import contextlib
import hashlib
import io
import json
import os
import pathlib
import subprocess
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
LIMIT_SECONDS = 120

WORKER = {
    "name": "tiny",
    "release": "1.0",
    "protocol": 1,
    "description": "A framework of one line",
    "argv": ["{environment}/bin/python", "{folder}/worker.py"],
    "networks": ["toy"],
    "modes": ["infer"],
    "precisions": ["fp32"],
    "devices": ["cpu"],
    "details": ["step"],
    "environment": {"package": "Tiny_Framework", "requirements": "requirements.txt"},
    "operators": ["convolution", "linear"],
    "files": ["py"],
}
PROGRAM = """
import os, sys
sys.path.insert(0, {common!r})
import assay_worker

class Tiny(assay_worker.Framework):
    def prepare(self, prepare):
        if prepare.workload["network"] != "toy":
            raise assay_worker.Refused("network '%s': there is only toy" % prepare.workload["network"])
        if prepare.workload["precision"] != "fp32":
            raise assay_worker.Refused("precision '%s': there is only fp32" % prepare.workload["precision"])
        import tiny_framework
        leaked = sorted(name for name in os.environ if name.startswith("PIP_"))
        return assay_worker.Prepared(versions={{"tiny_framework": tiny_framework.RELEASE, "leaked": " ".join(leaked)}})

    def step(self):
        sum(range(1000))  # longer than the microsecond in which the conformance suite expects one step

if __name__ == "__main__":
    sys.exit(assay_worker.serve(Tiny))
"""


def make_wheel(folder, release, name="tiny_framework", requires=(), files=None):
    """The least that pip takes for a package: a module that knows its release. Equal arguments give equal bytes."""
    info = f"{name}-{release}.dist-info"
    needs = "".join(f"Requires-Dist: {one}\n" for one in requires)
    contents = {
        f"{name}.py": f"RELEASE = {release!r}\n",
        **(files or {}),
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {release}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    file = folder / f"{name}-{release}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as wheel:
        for path, text in contents.items():
            wheel.writestr(zipfile.ZipInfo(path), text)
    return file


def make_source(folder, release, ran, name="tiny_framework"):
    """A source distribution whose own program makes the file `ran` when pip builds it, and needs nothing for that."""
    files = {
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {release}\n",
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n',
        "own.py": f"import pathlib\npathlib.Path({str(ran)!r}).touch()\n",
    }
    with tarfile.open(folder / f"{name}-{release}.tar.gz", "w:gz") as archive:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{name}-{release}/{path}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))


class User:
    """A folder with workers, packages and environments of its own, and a configuration file of pip's that names the
    packages. Every variable of pip's that is set here would spoil an installation."""

    def __init__(self, path, environments=None):
        self.path = path
        self.environments = environments or path / "environments"
        self.wheels = path / "wheels"
        self.folder = path / "workers" / "tiny"
        for folder in (self.folder, path / "tmp", self.wheels, path / "config" / "pip"):
            folder.mkdir(parents=True)
        for release in ("1.0", "1.1", "1.10rc1"):
            make_wheel(self.wheels, release)
        self.serve(self.wheels)
        self.write_worker()
        self.write_lock()

    def serve(self, *folders):
        """The folders that pip looks for packages in."""
        text = "[global]\nno-index = true\nfind-links =\n" + "".join(f"    {folder}\n" for folder in folders)
        (self.path / "config" / "pip" / "pip.conf").write_text(text)

    def write_worker(self, pin="1.0", **changes):
        (self.folder / "worker.json").write_text(json.dumps({**WORKER, **changes}))
        (self.folder / "worker.py").write_text(PROGRAM.format(common=str(ROOT / "workers" / "common")))
        (self.folder / "requirements.txt").write_text(f"# what it needs\ntiny-framework=={pin}\n")

    def write_lock(self, release="1.0"):
        """With the hash of the wheel that is there now."""
        wheel = (self.wheels / f"tiny_framework-{release}-py3-none-any.whl").read_bytes()
        line = f"tiny-framework=={release} \\\n    --hash=sha256:{hashlib.sha256(wheel).hexdigest()}\n"
        (self.folder / "requirements.lock").write_text("# every package, with hashes\n" + line)

    def environment(self, **more):
        """For Assay; of `more`, a variable that is None is left out."""
        env = {key: value for key, value in os.environ.items() if not key.startswith(("ASSAY_", "PIP_", "XDG_"))}
        env |= {"ASSAY_WORKERS": str(self.path / "workers"), "ASSAY_ENVIRONMENTS": str(self.environments),
                "ASSAY_HOST_LOCK": str(self.path / "host.lock"), "TMPDIR": str(self.path / "tmp"),
                "XDG_CONFIG_HOME": str(self.path / "config"), "PIP_CONFIG_FILE": os.devnull,
                "PIP_TARGET": str(self.path / "elsewhere"), **more}  # fmt: skip
        return {key: value for key, value in env.items() if value is not None}

    def start(self, *arguments, program="assay", under=(), **more):
        """`under` is a program, with its arguments, that runs Assay."""
        return subprocess.Popen([*under, BUILD / program, *map(str, arguments)], cwd=self.path,
                                env=self.environment(**more), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)  # fmt: skip

    def assay(self, *arguments, expect=0, **more):
        process = self.start(*arguments, **more)
        try:
            stdout, stderr = process.communicate(timeout=LIMIT_SECONDS)
        finally:
            process.kill()
            process.wait()
        assert process.returncode == expect, f"exit code {process.returncode} in place of {expect}:\n{stdout}{stderr}"
        return stdout, stderr

    def listed(self):
        """The releases of the worker: whether each is installed."""
        workers = json.loads(self.assay("worker", "list", "--json")[0])
        return {worker["release"]: worker["installed"] for worker in workers if worker["name"] == "tiny"}

    def left(self):
        """Processes that an installation has left."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and f"={self.environments}/".encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
        return found
