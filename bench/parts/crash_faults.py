"""The faults of the figure `crash`: where a campaign can be killed, and how its disk can fail."""

import collections
import ctypes
import dataclasses
import itertools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable

from parts import figure
from parts.crash_campaign import Ended, Subject, end

RANK = figure.BUILD / "libexec" / "assay-rank"

# Calls that change what survives a kill: the store's files, the run directory, and the start of an assay-rank.
STORE_CALLS = ["pwrite64", "write", "fdatasync", "fsync", "ftruncate", "unlink"]
PROGRAM_CALLS = [*STORE_CALLS, "mkdir", "unlinkat", "rmdir", "rename", "openat", "clone"]
# In assay-rank also the talk with the worker, so that it dies before, between and after all that a worker does.
RANK_CALLS = ["write", "ftruncate", "rename", "openat", "clone", "pipe2", "ppoll", "wait4", "kill"]

# The cause that a message must name. A limit on file size is told as a kind of full disk.
CAUSES = {
    "ENOSPC": r"is full|No space left",
    "EDQUOT": r"is full|[Qq]uota",
    "EFBIG": r"limit on file size|File too large",
    "EIO": r"refused to keep|Input/output error",
}
OPPOSITES = {"ENOSPC": "EIO", "EDQUOT": "EIO", "EFBIG": "EIO", "EIO": "ENOSPC"}


@dataclasses.dataclass
class Point:
    """One fault. `disturb` runs the campaign with it; `errno` is the cause to be named, for a fault of the disk."""

    label: str
    disturb: Callable[[Subject], tuple[bool, Ended]]  # whether the fault came to pass, and how the command ended
    errno: str = ""
    setup: Callable[[Subject], None] = lambda _: None
    mend: Callable[[Subject], None] = lambda _: None  # the fault goes away
    cleanup: Callable[[Subject], None] = lambda _: None


def strace(call, inject, output="/dev/null"):
    """Without -f: only the program itself is meant, never its children."""
    return ["/usr/bin/strace", "-qq", "-o", output, "-e", f"trace={call}", "-e", f"inject={call}:{inject}"]


def traced(program, runs, calls):
    """The calls of an undisturbed campaign, a line each with the paths behind descriptors; and the Workplace's path."""
    with Subject(program, runs) as subject:
        output = subject.path / "trace"
        ended = subject.run(["/usr/bin/strace", "-y", "-qq", "-o", output, "-e", f"trace={','.join(calls)}"])
        if ended.code != 0:
            raise SystemExit(f"the traced campaign ended with {ended.code}: {ended.stderr}")
        return output.read_text(errors="replace").splitlines(), str(subject.path)


def traced_rank(program, calls):
    """The same of one assay-rank."""
    with Subject(program, 1) as subject:
        output = subject.path / "trace"
        tracer = ["/usr/bin/strace", "-y", "-qq", "-o", output, "-e", f"trace={','.join(calls)}"]
        subject.run(ASSAY_LIBEXEC=rank_behind(subject, tracer))
        return output.read_text(errors="replace").splitlines(), str(subject.path)


def numbered(lines, call, wanted=lambda line: True):
    """Which of the calls of one name are wanted, numbered from 1 as strace's `when` does."""
    of_call = [line for line in lines if line.startswith(f"{call}(")]
    return [number for number, line in enumerate(of_call, 1) if wanted(line)]


def rank_behind(subject, prefix, invocation=None):
    """A folder for ASSAY_LIBEXEC whose assay-rank runs behind `prefix`: always, or at one invocation only.

    assay-rank starts with an empty environment, so all paths are absolute. The file that an invocation could rename
    tells which one it is.
    """
    folder = subject.path / "libexec"
    folder.mkdir()
    tracer = " ".join(map(str, prefix))
    lines = ["#!/bin/sh"]
    if invocation is None:
        lines += [f'exec {tracer} {RANK} "$@"']
    else:
        for number in range(1, invocation + 1):
            (folder / f"turn-{number}").touch()
            command = f"{tracer} {RANK}" if number == invocation else RANK
            lines += [f'/bin/mv {folder}/turn-{number} {folder}/taken-{number} 2>/dev/null && exec {command} "$@"']
        lines += [f'exec {RANK} "$@"']
    script = folder / "assay-rank"
    script.write_text("\n".join(lines) + "\n")
    script.chmod(0o755)
    return folder


# --- kills ---


def program_kills(program, runs):
    """`assay` killed before each of its durable calls takes effect."""
    lines, place = traced(program, runs, PROGRAM_CALLS)

    def kill_at(call, number):
        def disturb(subject):
            ended = subject.run(strace(call, f"signal=KILL:when={number}"))
            return ended.code == -signal.SIGKILL, ended

        return Point(f"{call} {number}", disturb)

    points = []
    for call in PROGRAM_CALLS:
        # Opening a library or /proc leaves nothing behind.
        touched = numbered(lines, call, lambda line, call=call: call != "openat" or f'"{place}' in line)
        points += [kill_at(call, number) for number in touched]
    return points


def rank_kills(program, invocations):
    """One assay-rank of a campaign killed before each of its calls; the program itself must go on."""
    lines, place = traced_rank(program, RANK_CALLS)

    def kill_at(call, number, invocation):
        def disturb(subject):
            trace = subject.path / "rank.trace"
            tracer = strace(call, f"signal=KILL:when={number}", trace)
            ended = subject.run(ASSAY_LIBEXEC=rank_behind(subject, tracer, invocation))
            return trace.exists() and "killed by SIGKILL" in trace.read_text(), ended

        return Point(f"{call} {number} of assay-rank {invocation}", disturb)

    points = []
    for invocation in invocations:
        for call in RANK_CALLS:
            touched = numbered(lines, call, lambda line, call=call: call != "openat" or f'"{place}' in line)
            points += [kill_at(call, number, invocation) for number in touched]
    return points


def children(pid):
    try:
        return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def kill_rank_of(process, within_seconds):
    """Kills the assay-rank that lives now, or the next to come."""
    until = time.monotonic() + within_seconds
    while time.monotonic() < until and process.poll() is None:
        ranks = children(process.pid)
        for pid in ranks:
            end(pid)
        if ranks:
            return True
    return False


def random_kills(count, seconds, choice):
    """kill -9 of the program, its assay-rank, or both, at moments spread evenly over a campaign of `seconds`."""

    def kill_at(victim, moment, number):
        def disturb(subject):
            process = subject.start()
            time.sleep(moment)
            hit = False
            if victim != "assay":
                hit = kill_rank_of(process, 0.05)
            if victim != "assay-rank" and process.poll() is None:
                process.kill()
                hit = True
            return hit, subject.wait(process)

        return Point(f"number {number}: {victim} after {moment * 1000:.1f} ms", disturb)

    victims = ("assay", "assay-rank", "both")
    return [kill_at(choice.choice(victims), choice.uniform(0, 1.1 * seconds), number) for number in range(count)]


# --- faults of the disk ---


def disk_errors(program, runs, errno):
    """The disk fails from a call on, for good."""
    calls = ("pwrite64", "fdatasync", "ftruncate", "mkdir", "openat", "write")
    lines, place = traced(program, runs, calls)

    def fail_at(call, when):
        def disturb(subject):
            ended = subject.run(strace(call, f"error={errno}:when={when}"))
            return ended.code != 0, ended

        return Point(f"{errno} at {call} {when}", disturb, errno)

    points = []
    for call in calls:
        made = numbered(lines, call, lambda line, call=call: call != "openat" or ("O_CREAT" in line and place in line))
        # After one failed `write` the next must succeed, or the message on stderr could not be written either.
        points += [fail_at(call, number if call == "write" else f"{number}+") for number in made]
    return points


def rank_disk_errors(program):
    """assay-rank cannot leave its result: in one invocation, or in all. Neither may use up a run."""
    lines, place = traced_rank(program, ("write", "ftruncate", "rename", "openat"))

    def fail_at(errno, call, number, invocation):
        def disturb(subject):
            folder = rank_behind(subject, strace(call, f"error={errno}:when={number}"), invocation)
            ended = subject.run(ASSAY_LIBEXEC=folder)
            return ended.code != 0 or "assay-rank: cannot" in ended.stderr, ended

        return Point(f"{errno} at {call} {number} of assay-rank {invocation or 'always'}", disturb, errno)

    def of_disk(line):
        return place in line and (not line.startswith("openat") or "O_CREAT" in line)

    return [
        fail_at(errno, call, number, invocation)
        for errno in ("ENOSPC", "EDQUOT", "EIO")
        for invocation in (2, None)
        for call in ("write", "ftruncate", "rename", "openat")
        for number in numbered(lines, call, of_disk)
    ]


def short_writes(program, runs, count):
    """A limit on file size: the kernel cuts the write that crosses it short and refuses the next."""
    lines, _ = traced(program, runs, ("pwrite64",))
    ends = [re.search(r", (\d+), (\d+)\) *= ", line) for line in lines]
    largest = max(int(found[1]) + int(found[2]) for found in ends if found)

    def limit_to(size):
        def disturb(subject):
            ended = subject.run(["/usr/bin/prlimit", f"--fsize={size}"])
            return ended.code != 0, ended

        return Point(f"files of at most {size} bytes", disturb, "EFBIG")

    # Odd sizes, so that the cut falls inside pages and inside the headers of frames.
    return [limit_to(0), *(limit_to(largest * i // count | 1) for i in range(count))]


def private_mounts():
    """Mounts of this process are its own from now on; else the reason why that is not possible."""
    libc = ctypes.CDLL(None, use_errno=True)
    clone_newns = 0x20000
    if libc.unshare(clone_newns) != 0:
        return os.strerror(ctypes.get_errno())
    done = subprocess.run(["mount", "--make-rprivate", "/"], capture_output=True, text=True, check=False)
    return done.stderr.strip()


def full_disks(amounts, below, fill):
    """A disk with so much left: a tmpfs over the whole Workplace (`below` empty), or over its run directories."""

    def filled_to(left):
        def setup(subject):
            disk = subject.path / below
            mount = ["mount", "-t", "tmpfs", "-o", "size=2m,nr_inodes=100", "tmpfs", str(disk)]
            subprocess.run(mount, capture_output=True, check=True)
            (subject.path / "tmp").mkdir(exist_ok=True)
            (disk / "filler").mkdir()
            fill(disk / "filler", left)

        def disturb(subject):
            ended = subject.run()
            return ended.code != 0, ended

        return Point(
            f"{left} left",
            disturb,
            "ENOSPC",
            setup=setup,
            mend=lambda subject: shutil.rmtree(subject.path / below / "filler"),
            cleanup=lambda subject: subprocess.run(["umount", str(subject.path / below)], check=False),
        )

    return [filled_to(left) for left in amounts]


def all_but_kilobytes(folder, left):
    """Fills a disk with one large file, but for some KB."""
    block = bytes(4096)
    with open(folder / "large", "wb", buffering=0) as file:
        try:
            while True:
                file.write(block)
        except OSError:
            file.truncate(max(0, file.tell() - left * 1024))


def all_but_files(folder, left):
    """Fills a disk with empty files, until only so many more can be made."""
    for number in itertools.count():
        try:
            (folder / str(number)).touch()
        except OSError:
            break
    for gone in range(number - left, number):
        (folder / str(gone)).unlink()


def judge_fault(point, ended, complete):
    """Whether the disturbed command itself ended as it should: counts as of Baseline.judge, and notes."""
    wrong, notes = collections.Counter(), []
    # A fault that the program could work around is none, if everything is stored.
    if point.errno == "" or ended.code == 0:
        allowed = ended.code in (0, -signal.SIGKILL) and (point.errno == "" or complete)
        if not allowed:
            wrong["exit"] = 1
            notes.append(f"ended with {ended.code}, all stored: {complete}: {ended.stderr[-300:]}")
        return wrong, notes
    if ended.code != 1:
        wrong["exit"] = 1
        notes.append(f"ended with {ended.code} in place of 1: {ended.stderr[-300:]}")
    # What the program itself says last; assay-rank's own words do not count.
    message = ([line for line in ended.stderr.splitlines() if line.startswith("assay: ")] or [""])[-1]
    if not re.search(CAUSES[point.errno], message) or re.search(CAUSES[OPPOSITES[point.errno]], message):
        wrong["message"] = 1
        notes.append(f"does not name the cause: {message or ended.stderr[-300:]}")
    return wrong, notes


def tools_missing():
    return [tool for tool in ("/usr/bin/strace", "/usr/bin/prlimit", "/bin/mv") if not shutil.which(tool)]
