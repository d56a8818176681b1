"""A disk whose power can be cut: an ext4 file system in a file below a loop device, and the processes that use it.

A cut stops the processes and copies the file. What was written and not synchronised is in the page cache of the mounted
file system and not in the file below it: the copy lacks it, as a disk would. The copy is mounted elsewhere, which
replays its journal.
"""

import os
import pathlib
import signal
import subprocess
import tempfile
import time

from parts import apart

LIMIT_SECONDS = 600


def why_not():
    """Why disks cannot be cut here; None where they can. To be asked in namespaces of our own."""
    if apart.why_not():
        return apart.why_not()
    with tempfile.TemporaryDirectory(prefix="assay-power-") as folder:
        try:
            with Disk(pathlib.Path(folder), "tried", 16):
                return None
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", b"") or b""
            return f"a file cannot be mounted here: {said.decode(errors='replace').strip() or error}"


def called(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, check=True).stdout


class Disk:
    """Mounted while it is entered. `of` is the image of a cut; otherwise it is made with so many mebibytes."""

    def __init__(self, folder, name, mebibytes=64, of=None):
        self.image = folder / f"{name}.image"
        self.path = folder / name
        self.path.mkdir(exist_ok=True)
        if of:
            of.rename(self.image)
            return
        with self.image.open("wb") as file:
            file.truncate(mebibytes << 20)
        called("mke2fs", "-q", "-F", "-t", "ext4", "-E", "lazy_itable_init=0,lazy_journal_init=0", self.image)

    def __enter__(self):
        called("mount", "-t", "ext4", "-o", "loop", self.image, self.path)
        source = next(words[0] for words in mounts() if words[1] == str(self.path))
        self.writes = pathlib.Path("/sys/block") / pathlib.Path(source).name / "stat"
        return self

    def __exit__(self, *_):
        # A process that has just been ended may still hold it.
        deadline = time.monotonic() + LIMIT_SECONDS
        while subprocess.run(["umount", str(self.path)], capture_output=True, check=False).returncode:
            if time.monotonic() > deadline:
                raise SystemExit(f"{self.path} cannot be unmounted")
            time.sleep(0.01)
        self.image.unlink()

    def written(self):
        """Requests to write and to flush that were completed, and those under way."""
        words = self.writes.read_text().split()
        return words[4], words[8], words[15:16]

    def cut(self, to):
        """Copies what is on the disk at one moment, to `to`. Its processes must be stopped: now and then the kernel
        itself writes, and then the copy is made again."""
        while True:
            before = self.written()
            called("cp", "--sparse=always", self.image, to)
            if before[1] == "0" and self.written() == before:
                return to


def mounts():
    return [line.split() for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()]


class Stopped:
    """All processes below `roots`, themselves among them, do nothing while this is entered."""

    def __init__(self, *roots):
        self.roots = {root.pid for root in roots}

    def __enter__(self):
        quiet = 0
        deadline = time.monotonic() + LIMIT_SECONDS
        while quiet < 2:  # a process may begin while the first look is taken
            running = [pid for pid in tree(self.roots) if not is_still(pid)]
            for pid in running:
                signal_to(pid, signal.SIGSTOP)
            quiet = 0 if running else quiet + 1
            if time.monotonic() > deadline:
                raise SystemExit(f"processes {running} do not stop")
        return self

    def __exit__(self, *_):
        for pid in tree(self.roots):
            signal_to(pid, signal.SIGCONT)


def signal_to(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def tree(roots):
    """Processes below these, and these."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
    found, new = set(), set(roots)
    while new:
        found |= new
        new = {pid for pid, parent in parents.items() if parent in found} - found
    return found


def is_still(pid):
    """Whether every thread of it is stopped, or it has ended."""
    try:
        tasks = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
        return all((task / "stat").read_text().rpartition(")")[2].split()[0] in "TtZX" for task in tasks)
    except OSError:
        return not pathlib.Path(f"/proc/{pid}").exists()
