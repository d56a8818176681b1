"""Folders such as /tmp belong to everybody: what others put in the place of our files is refused, not waited for."""

import os

import pytest

BRIEF = ["run", "toy", "--worker", "fake", "--runs", "1", "--retries", "0", "--warmup", "0", "--seconds", "1ms",
         "--max-samples", "1", "--quiet"]  # fmt: skip


def opened_by_a_reader(fifo):
    """Whether somebody waits in open(2) for a writer: only then can one open it without waiting."""
    try:
        os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


def test_a_fifo_in_place_of_the_host_lock_is_refused(place):
    os.mkfifo(place.path / "host.lock")
    ended = place.assay(*BRIEF, expect=1)
    assert f"{place.path}/host.lock: it is a FIFO, not a regular file. Remove it" in ended.stderr
    assert place.rows("SELECT state FROM run") == [(0,)], "the run is to be done when the lock is usable"
    (place.path / "host.lock").unlink()
    place.assay(*BRIEF)
    assert place.rows("SELECT state FROM run") == [(2,)]


def test_the_check_sees_a_program_that_waits_for_a_fifo(place):
    """With the planted bug the program is found waiting in open(2), as it never is without."""
    fifo = place.path / "host.lock"
    os.mkfifo(fifo)
    started = place.start(*BRIEF, planted="waits_for_fifos")
    seen = place.until(
        lambda: (opened_by_a_reader(fifo) and "waiting") or (not started.running() and "ended"), "it waits or ends"
    )
    assert seen == "waiting"
    started.kill()


def test_a_fifo_named_by_an_option_is_refused_too(place):
    os.mkfifo(place.path / "named.lock")
    ended = place.assay(*BRIEF, "--host-lock", place.path / "named.lock", expect=1)
    assert "named.lock: it is a FIFO" in ended.stderr


def test_the_doctor_does_not_wait_for_a_fifo(place):
    os.mkfifo(place.path / "host.lock")
    place.assay("doctor", "--json", expect=None)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_is_not_used_for_runs(place):
    folder = place.temporary / f"assay-{os.getuid()}"
    folder.mkdir()
    os.chown(folder, 65534, 65534)
    ended = place.assay(*BRIEF, expect=1)
    assert f"{folder} belongs to another user" in ended.stderr
    assert list(folder.iterdir()) == []
