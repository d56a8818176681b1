"""The Debian package: what is in it, and what it does on a clean Debian 12."""

import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
INSTALL = "export DEBIAN_FRONTEND=noninteractive; apt-get -qq update && apt-get -y -qq install /tmp/assay.deb"
USE = """
set -e
cd /root
assay doctor
assay run toy --worker fake --option noise=0 --batch 8 --runs 2 --seconds 50ms --warmup 10ms --quiet
assay report -o report.html
grep -c '<!DOCTYPE html>' report.html
"""


@pytest.fixture(scope="module")
def package(run, build, tmp_path_factory):
    folder = tmp_path_factory.mktemp("deb")
    run(build, "cpack", "-G", "DEB", "--config", "CPackConfig.cmake", "-B", folder)
    (found,) = folder.glob("assay_*_amd64.deb")
    return found


def test_it_holds_what_users_run(run, package):
    names = set(re.findall(r" \./(\S+)$", run("/", "dpkg-deb", "--contents", package), re.MULTILINE))
    assert {"usr/bin/assay", "usr/libexec/assay/assay-rank", "usr/libexec/assay/assay-fit"} <= names
    assert {"usr/libexec/assay/workers/fake/assay-worker-fake", "usr/libexec/assay/workers/pytorch/worker.py"} <= names
    assert {"usr/share/man/man1/assay.1.gz", "usr/share/bash-completion/completions/assay"} <= names
    assert {"usr/share/assay/report.html", "usr/share/doc/assay/copyright"} <= names
    # Libraries and headers are for who builds on Assay; tests and planted bugs for nobody.
    assert not [name for name in names if name.startswith(("usr/lib/", "usr/include/", "usr/etc", "usr/var"))]
    assert not [name for name in names if "test" in name or "planted" in name or name.endswith(".a")]


def test_it_asks_for_what_its_programs_load(run, package):
    depends = run("/", "dpkg-deb", "--field", package, "Depends")
    asked = {part.split()[0] for part in depends.split(",")}
    # Each is linked by one of the programs; Debian 12 calls them so.
    assert {"libc6", "libfmt9", "libhwloc15", "libmd0", "libsqlite3-0", "libyaml-cpp0.7", "libpagmo8"} <= asked
    assert "python3-venv" in run("/", "dpkg-deb", "--field", package, "Recommends")


def made_root(target):
    """A clean Debian 12, kept beside the build for the next time."""
    kept = ROOT / "build" / "debian-12.tar"
    if not kept.exists():
        sources = "".join(path.read_text() for path in pathlib.Path("/etc/apt").rglob("*.sources"))
        sources += "".join(path.read_text() for path in pathlib.Path("/etc/apt").rglob("*.list"))
        found = re.search(r"https?://\S*/debian(?=/?\s)", sources)
        mirror = found.group(0) if found else "http://deb.debian.org/debian"
        made = subprocess.run(
            ["debootstrap", "--variant=minbase", "bookworm", target, mirror],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode != 0:
            pytest.skip(f"debootstrap failed: {made.stdout[-300:]}{made.stderr[-300:]}")
        kept.parent.mkdir(exist_ok=True)
        subprocess.run(["tar", "-C", target, "-cf", kept.with_suffix(".part"), "."], check=True)
        kept.with_suffix(".part").rename(kept)
        return
    target.mkdir()
    subprocess.run(["tar", "-C", target, "-xf", kept], check=True)


@pytest.fixture
def root(tmp_path):
    if shutil.which("debootstrap") is None or pathlib.Path("/proc/self/uid_map").read_text().split()[1] != "0":
        pytest.skip("needs debootstrap and root")
    folder = tmp_path / "root"
    made_root(folder)
    shutil.copy("/etc/resolv.conf", folder / "etc/resolv.conf")
    yield folder
    shutil.rmtree(folder)


def listed(root):
    """All of /usr, and what packages keep elsewhere. Caches of apt and the linker are not ours."""
    found = set()
    for below in ("usr", "etc", "opt", "srv", "var/lib"):
        found |= {str(path.relative_to(root)) for path in (root / below).rglob("*")}
    return {name for name in found if not name.startswith(("var/lib/apt", "var/lib/dpkg"))}


@pytest.mark.full
def test_it_installs_runs_and_goes_from_a_clean_debian(run, package, root):
    def inside(script):
        # Mounts and processes end with the command.
        mounts = f'mount -t sysfs -o ro sysfs {root}/sys; exec chroot {root} sh -c "$0"'
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={root}/proc"]
        return run("/", *unshare, "sh", "-c", mounts, script, timeout=480)

    shutil.copy(package, root / "tmp/assay.deb")
    before = listed(root)
    inside(INSTALL)
    said = inside(USE)
    assert "fake 1.0.0" in said and "2 of 2 runs done" in said and said.endswith("1\n")
    # Root's own runs of workers in Python leave compiled files beside them.
    inside("python3 -m compileall -q /usr/libexec/assay/workers/common")
    assert (root / "usr/libexec/assay/workers/common/__pycache__").is_dir()
    # Else apt keeps what its own package recommends, and we do not.
    inside("apt-get -y -qq -o APT::AutoRemove::RecommendsImportant=false purge --auto-remove assay")
    left = listed(root) - before
    assert not [name for name in left if name.startswith(("usr/", "opt/", "srv/")) or "assay" in name], left
