"""Fresh systems to install packages on: made by debootstrap once, kept beside the build, and entered by chroot."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
UBUNTU = "http://archive.ubuntu.com/ubuntu"
# Debian 12 does not have Ubuntu's keys. We looked at this package's: the archive's key of 2018 has the fingerprint
# F6ECB3762474EDA9D21B7022871920D1991BC93C.
KEYS = (
    f"{UBUNTU}/pool/main/u/ubuntu-keyring/ubuntu-keyring_2021.03.26_all.deb",
    "0d0e7ed6b112f5d03eabf3c7eb01ebdacf9c57714b279e90495cfc58c8c4520f",
)
SUITES = {"Debian 12": "bookworm", "Ubuntu 22.04": "jammy", "Ubuntu 24.04": "noble"}
# What a user's system has, and a minimal one lacks: answers are yes, and output is not drawn over.
APT = 'APT::Get::Assume-Yes "true";\nDpkg::Use-Pty "0";\nquiet "1";\n'


def debian_mirror():
    """The one that this machine uses."""
    sources = "".join(path.read_text() for path in pathlib.Path("/etc/apt").rglob("*.sources"))
    sources += "".join(path.read_text() for path in pathlib.Path("/etc/apt").rglob("*.list"))
    found = re.search(r"https?://\S*/debian(?=/?\s)", sources)
    return found.group(0) if found else "http://deb.debian.org/debian"


def ubuntu_keys(folder):
    """A file with the keys of Ubuntu's archive, or None where the archive is not reached."""
    address, digest = KEYS
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            package = answer.read()
    except OSError:
        return None
    assert hashlib.sha256(package).hexdigest() == digest
    (folder / "keys.deb").write_bytes(package)
    subprocess.run(["dpkg-deb", "-x", folder / "keys.deb", folder / "keys"], check=True)
    return folder / "keys/usr/share/keyrings/ubuntu-archive-keyring.gpg"


def debootstrap(system, target, folder):
    """Why it cannot be made here, or None."""
    argv = ["debootstrap", "--variant=minbase"]
    if system.startswith("Ubuntu"):
        keys = ubuntu_keys(folder)
        if keys is None:
            return f"{UBUNTU} cannot be reached"
        argv += [f"--keyring={keys}", "--components=main,universe", SUITES[system], target, UBUNTU]
        argv.append("/usr/share/debootstrap/scripts/gutsy")  # that of every Ubuntu; older tools do not know new names
    else:
        argv += [SUITES[system], target, debian_mirror()]
    made = subprocess.run(argv, capture_output=True, text=True, check=False)
    return f"debootstrap failed: {made.stdout[-300:]}{made.stderr[-300:]}" if made.returncode else None


def trust_as_here(target):
    """Where a proxy signs for pip's index, pip knows its certificate by a setting; it is made one of the system."""
    asked = [sys.executable, "-m", "pip", "config", "get", "global.cert"]
    cert = (
        os.environ.get("PIP_CERT") or subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    )
    if cert:
        shutil.copy(cert, target / "etc/pip-certificates.pem")
        (target / "etc/pip.conf").write_text("[global]\ncert = /etc/pip-certificates.pem\n")


def make(system, target, folder):
    """The system's files in the new folder `target`; skips the test where they cannot be had."""
    if shutil.which("debootstrap") is None or pathlib.Path("/proc/self/uid_map").read_text().split()[1] != "0":
        pytest.skip("needs debootstrap and root")
    kept = ROOT / "build" / f"{system.lower().replace(' ', '-')}.tar"
    if kept.exists():
        target.mkdir()
        subprocess.run(["tar", "-C", target, "-xf", kept], check=True)
    elif reason := debootstrap(system, target, folder):
        pytest.skip(reason)
    else:
        kept.parent.mkdir(exist_ok=True)
        subprocess.run(["tar", "-C", target, "-cf", kept.with_suffix(".part"), "."], check=True)
        kept.with_suffix(".part").rename(kept)
    shutil.copy("/etc/resolv.conf", target / "etc/resolv.conf")
    (target / "etc/apt/apt.conf.d/90assay").write_text(APT)
    trust_as_here(target)


def entering(root):
    """What runs a script, its last argument, in the system. Mounts and processes end with it."""
    mounts = (
        f"mount -t sysfs -o ro sysfs {root}/sys; mount -t tmpfs tmpfs {root}/dev/shm; "
        f"exec chroot {root} /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "
        'DEBIAN_FRONTEND=noninteractive bash -c "$0"'
    )
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", f"--mount-proc={root}/proc", "sh", "-c", mounts]
