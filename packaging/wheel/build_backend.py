"""Makes the wheel: what `cmake --install` gives, below one Python package, and a console entry that starts it.

A build backend as PEP 517 has it. It compiles nothing: ASSAY_BUILD names a build folder (default: build/release).
"""

import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TAG = "py3-none-linux_x86_64"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "release")).resolve()
    cache = build / "CMakeCache.txt"
    if not cache.exists():
        raise SystemExit(f"assay: {build} is no build folder. Build Assay there, or name another one by ASSAY_BUILD.")
    version = re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.*)$", cache.read_text(), re.MULTILINE).group(1)
    with tempfile.TemporaryDirectory() as folder:
        package = pathlib.Path(folder) / "assay"
        install = ["cmake", "--install", build, "--component", "program", "--strip", "--prefix", package / "prefix"]
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
        for source in sorted((HERE / "assay").glob("*.py")):
            (package / source.name).write_text(source.read_text())
        packages = debian_packages(package / "prefix")
        (package / "libraries.json").write_text(json.dumps(packages, indent=2) + "\n")
        write_metadata(pathlib.Path(folder) / f"assay-{version}.dist-info", version, packages)
        name = f"assay-{version}-{TAG}.whl"
        write_wheel(pathlib.Path(wheel_directory) / name, pathlib.Path(folder), f"assay-{version}.dist-info/RECORD")
    return name


def debian_packages(prefix):
    """Which Debian package has each shared library that the programs name; "" where that is not known."""
    files = sorted(path for path in prefix.rglob("*") if path.is_file())
    programs = [path for path in files if path.open("rb").read(4) == b"\x7fELF"]
    headers = subprocess.run(["objdump", "-p", *programs], capture_output=True, text=True, check=True).stdout
    loaded = subprocess.run(["ldd", *programs], capture_output=True, text=True, check=True).stdout
    paths = dict(re.findall(r"^\s*(\S+) => (/\S+)", loaded, re.MULTILINE))
    owners = owners_of(paths.values())
    needed = sorted(set(re.findall(r"^\s*NEEDED\s+(\S+)", headers, re.MULTILINE)))
    return {library: owners.get(os.path.basename(paths.get(library, "")), "") for library in needed}


def owners_of(paths):
    """Package by file name. dpkg knows a path with or without /usr before it, and is asked once: it is slow."""
    if shutil.which("dpkg-query") is None:
        return {}
    asked = [known for path in paths for known in (path, "/usr" + path)]
    said = subprocess.run(["dpkg-query", "-S", *asked], capture_output=True, text=True, check=False).stdout
    return {
        os.path.basename(path): package for package, path in re.findall(r"^([^:,\s]+)\S*: (/\S+)$", said, re.MULTILINE)
    }


def write_metadata(folder, version, packages):
    folder.mkdir()
    lines = ["Metadata-Version: 2.1", "Name: assay", f"Version: {version}", "License: Apache-2.0"]
    lines.append("Summary: Measure, model, tune and predict deep-learning workloads")
    lines += [f"Requires-External: {package}" for package in sorted(set(packages.values())) if package]
    (folder / "METADATA").write_text("\n".join(lines) + "\n")
    wheel = ["Wheel-Version: 1.0", "Generator: assay", "Root-Is-Purelib: false", f"Tag: {TAG}"]
    (folder / "WHEEL").write_text("\n".join(wheel) + "\n")
    (folder / "entry_points.txt").write_text("[console_scripts]\nassay = assay.__main__:main\n")


def write_wheel(target, folder, record):
    """The same content gives the same bytes."""
    lines = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:

        def add(name, content, mode):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)

        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            content = path.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            name = str(path.relative_to(folder))
            lines.append(f"{name},sha256={digest},{len(content)}\n")
            add(name, content, 0o755 if os.access(path, os.X_OK) else 0o644)
        add(record, "".join(lines) + f"{record},,\n", 0o644)
