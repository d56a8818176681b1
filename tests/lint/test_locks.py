"""Every worker that pip installs packages for has a lock that fits its requirements (scripts/lock-workers)."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOCKED = sorted(file.parent for file in (ROOT / "workers").glob("*/requirements.txt"))
PIN = re.compile(r"(?P<name>[a-z0-9][a-z0-9.-]*)==(?P<release>[^\s;,*]+)(?: ; (?P<marker>[^\\]+?))?")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def entries(lock):
    """The lines of a lock, each with its hashes, which stand on lines that a backslash continues."""
    text = "".join(line for line in lock.read_text().splitlines(keepends=True) if not line.startswith("#"))
    return [[part.strip() for part in line.split("\\\n")] for line in re.split(r"(?<!\\)\n", text) if line.strip()]


@pytest.mark.parametrize("worker", LOCKED, ids=lambda worker: worker.name)
def test_every_line_is_one_release_with_hashes(worker):
    lines = entries(worker / "requirements.lock")
    assert lines
    for pin, *hashes in lines:
        assert PIN.fullmatch(pin), pin  # so no options, addresses or ranges either
        assert hashes, f"{pin} has no hash"
        assert all(HASH.fullmatch(one) for one in hashes), pin
        assert len(set(hashes)) == len(hashes), pin


@pytest.mark.parametrize("worker", LOCKED, ids=lambda worker: worker.name)
def test_a_lock_has_the_releases_of_its_requirements(worker):
    """The same release, or a build of it (2.13.0+cpu of 2.13.0). Renew it with scripts/lock-workers."""
    locked = [PIN.fullmatch(pin) for pin, *_ in entries(worker / "requirements.lock")]
    for line in (worker / "requirements.txt").read_text().split():
        name, release = line.split("==")
        found = [pin["release"] for pin in locked if pin["name"] == name]
        assert [one.split("+")[0] for one in found] == [release], f"{line}: the lock has {found}"


@pytest.mark.parametrize("worker", LOCKED, ids=lambda worker: worker.name)
def test_a_package_is_there_twice_only_for_different_pythons(worker):
    pins = [PIN.fullmatch(pin) for pin, *_ in entries(worker / "requirements.lock")]
    names = [pin["name"] for pin in pins]
    assert all(pin["marker"] for pin in pins if names.count(pin["name"]) > 1)


def test_the_tool_that_writes_locks_is_locked_itself():
    for pin, *hashes in entries(ROOT / "scripts" / "requirements-lock.txt"):
        assert PIN.fullmatch(pin) and hashes and all(HASH.fullmatch(one) for one in hashes)
