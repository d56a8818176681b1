"""The Debian package: what is in it, and what it does on a clean Debian 12."""

import re
import shutil

import pytest
import userland

INSTALL = "apt-get update && apt-get install /tmp/assay.deb"
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


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    userland.make("Debian 12", folder, tmp_path)
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
        return run("/", *userland.entering(root), script, timeout=480)

    shutil.copy(package, root / "tmp/assay.deb")
    before = listed(root)
    inside(INSTALL)
    said = inside(USE)
    assert "fake 1.0.0" in said and "2 of 2 runs done" in said and said.endswith("1\n")
    # Root's own runs of workers in Python leave compiled files beside them.
    inside("python3 -m compileall -q /usr/libexec/assay/workers/common")
    assert (root / "usr/libexec/assay/workers/common/__pycache__").is_dir()
    # Else apt keeps what its own package recommends, and we do not.
    inside("apt-get -o APT::AutoRemove::RecommendsImportant=false purge --auto-remove assay")
    left = listed(root) - before
    assert not [name for name in left if name.startswith(("usr/", "opt/", "srv/")) or "assay" in name], left
