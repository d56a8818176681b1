"""What is tried by cutting its disk off: each kind makes a disk, has it written, cuts it, and counts what is lost."""

import collections
import contextlib
import filecmp
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

from parts import figure
from parts.fleet_campaign import PostgresServer
from parts.fleet_campaign import why_not as why_no_server
from parts.power_disk import LIMIT_SECONDS, Disk, Stopped

sys.path.insert(0, str(figure.ROOT / "tests" / "cli"))
import tiny_worker

PROGRAM = figure.BUILD / "bench" / "power"
WITHOUT_SYNC = figure.BUILD / "planted" / "synchronous_off" / "power"
NAMED_TOO_EARLY = "assay-planted-named_before_on_disk"
CUTS_OF_LIFE = 25  # then the next agent goes on with the disk of the last cut
MOST_BETWEEN = 60  # results between two cuts


def wait_for(condition, what):
    deadline = time.monotonic() + LIMIT_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"bench/power: {what} in {LIMIT_SECONDS} s")
        time.sleep(0.001)


class Counts(collections.Counter):
    """Of all cuts of a disk, and notes on what was lost."""

    def __init__(self):
        super().__init__()
        self.noted = []

    def note(self, words):
        if len(self.noted) < 5:
            self.noted.append(words)

    def result(self):
        return {**self, "notes": self.noted}


class Promises:
    """The numbers that an agent was promised to have kept. Its file is not on the disk that is cut."""

    def __init__(self, file):
        self.file = file
        self.file.touch()

    def numbers(self):
        """Of whole lines: the last may be cut."""
        return [int(line) for line in self.file.read_text().split("\n")[:-1]]

    def count(self):
        return self.file.stat().st_size // len("1000000\n")  # numbers have 7 digits


class Sqlite:
    """A store in a file, and the spool beside it."""

    held = 0
    mebibytes = 64

    def __init__(self, folder, choose, planted):
        self.folder = folder
        self.choose = choose
        self.program = WITHOUT_SYNC if planted else PROGRAM
        self.promises = Promises(folder / "promises")
        self.counts = Counts()
        self.lives = 0

    @staticmethod
    def why_not():
        return None

    def cut(self, cuts):
        disk = Disk(self.folder, "disk0", self.mebibytes)
        while cuts > 0:
            last = self.live(disk, min(cuts, CUTS_OF_LIFE))
            cuts -= CUTS_OF_LIFE
            self.lives += 1
            if cuts > 0:
                disk = Disk(self.folder, f"disk{self.lives}", of=last)
        self.counts["promised"] = len(self.promises.numbers())
        return self.counts.result()

    def live(self, disk, cuts):
        """One agent, from its start to its last cut: the image of that."""
        with disk, self.at_work(disk.path) as processes:
            for _ in range(cuts):
                self.wait(processes[0])
                with Stopped(*processes):
                    last = disk.cut(self.folder / "cut.image")
                    self.judge(last, self.promises.numbers())
                    if self.counts["cuts"] % CUTS_OF_LIFE == 0:
                        processes[0].kill()  # so that nothing more is promised of this disk
        return last

    @contextlib.contextmanager
    def at_work(self, path):
        """The agent, and what it needs, on a disk that is mounted there."""
        agent = self.start(self.program, path)
        try:
            yield [agent]
        finally:
            agent.kill()
            agent.wait()

    def words(self, path):
        return [path / "assay.db", path / "spool"]

    def start(self, program, path):
        first = 1_000_000 + 100_000 * self.lives
        words = [program, "drive", *self.words(path), self.promises.file, first, self.held]
        with (self.folder / "agent.log").open("w") as log:
            return subprocess.Popen([str(word) for word in words], env=self.environment(), stderr=log)

    def environment(self):
        return {"PATH": os.environ["PATH"], "HOME": str(self.folder)}

    def wait(self, agent):
        """Until some more results are promised, chosen so that cuts fall everywhere."""
        wanted = self.promises.count() + self.choose.randint(1, MOST_BETWEEN)

        def is_there():
            if agent.poll() is not None:
                raise SystemExit(f"{self.program} ended: {(self.folder / 'agent.log').read_text()}")
            return self.promises.count() >= wanted

        wait_for(is_there, "too few results were finished")
        time.sleep(self.choose.random() * 0.002)  # no promise has just been made

    def judge(self, image, promised):
        """Opens the cut and counts. The next agent goes on with what this has left."""
        with Mounted(self.folder, image) as path:
            left = self.look(path)
        self.counts["cuts"] += 1
        if isinstance(left, str):
            self.counts["lost"] += len(promised)
            self.counts.note(f"cannot be opened: {left}")
            return
        lost = sorted(set(promised) - set(left["numbers"]))
        self.counts["lost"] += len(lost)
        self.counts["twice"] += len(left["twice"])
        self.counts["wrong"] += left["findings"] + left["waiting"]
        if lost or left["twice"] or left["findings"] or left["waiting"]:
            rest = {name: value for name, value in left.items() if name != "numbers"}
            self.counts.note(f"{len(lost)} of {len(promised)} lost, from {lost[:1]} on; {rest}")

    def look(self, path):
        """What a program without the bug finds; a text where it finds nothing."""
        return self.found(*self.words(path))

    def found(self, location, spool):
        words = [PROGRAM, "look", location, spool]
        done = subprocess.run(
            [str(word) for word in words], env=self.environment(), capture_output=True, text=True, check=False
        )
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()


class Mounted(Disk):
    """A cut, while it is looked at; its image stays."""

    def __init__(self, folder, image):
        self.image = image
        self.path = folder / "cut"
        self.path.mkdir(exist_ok=True)

    def __enter__(self):
        super().__enter__()
        return self.path

    def __exit__(self, *_):
        kept = self.image.with_suffix(".kept")
        os.link(self.image, kept)
        super().__exit__()
        kept.rename(self.image)


class Spool(Sqlite):
    """The store is away for 8 results, which the spool delivers when it is back; both are on the disk."""

    held = 8


class ServerOnDisk(PostgresServer):
    """Its data are on a disk that may be cut off, its socket and log are not. Data that are there already are used."""

    def __init__(self, folder, disk, *settings):
        self.data = disk / "data"
        super().__init__(folder, *settings)

    def _make_data(self):
        (self.folder / "data").symlink_to(self.data)
        if self.data.exists():
            (self.data / "postmaster.pid").unlink(missing_ok=True)  # names a process that lives, but only here
            return
        self.data.mkdir(mode=0o700)
        self.give_away(self.data)
        super()._make_data()


class Postgres(Sqlite):
    """A server whose data are on the disk. The agent is elsewhere, and its spool is not there any more at the look."""

    mebibytes = 256

    def __init__(self, folder, choose, planted):
        super().__init__(folder, choose, planted)
        self.program = PROGRAM
        self.fsync = "fsync=off" if planted else "fsync=on"
        self.looks = 0

    @staticmethod
    def why_not():
        return why_no_server()

    @contextlib.contextmanager
    def at_work(self, path):
        server = ServerOnDisk(self.folder / f"server{self.lives}", path, self.fsync)
        os.sync()  # initdb was told not to wait for the disk
        try:
            server.start()
            with super().at_work(server.url()) as processes:
                yield [*processes, server.process]
        finally:
            server.stop()

    def words(self, path):
        return [path, self.folder / "spool"]

    def look(self, path):
        self.looks += 1
        server = ServerOnDisk(self.folder / f"look{self.looks}", path)
        try:
            server.start()
            return self.found(server.url(), self.folder / f"nothing{self.looks}")
        except AssertionError as error:
            return str(error)[-300:]
        finally:
            server.stop()


class Install:
    """`assay worker install` of a framework of one line, into a folder on the disk."""

    def __init__(self, folder, choose, planted):
        self.folder = folder
        self.choose = choose
        self.program = NAMED_TOO_EARLY if planted else "assay"
        self.counts = Counts()

    @staticmethod
    def why_not():
        return None if shutil.which("strace") else "there is no strace here (Debian: strace)"

    def cut(self, cuts):
        """Installs again and again, until there were so many; with the planted bug, until it is caught. On a machine so
        busy that an installation takes minutes, the kernel has written the files by itself, and nothing is lost."""
        while self.counts["cuts"] < cuts and not (self.program == NAMED_TOO_EARLY and self.counts["lost"]):
            number = self.counts["promised"]
            with Disk(self.folder, f"disk{number}", 128) as disk:
                user = tiny_worker.User(self.folder / f"user{number}", disk.path / "environments")
                self.install(user, disk)
        return self.counts.result()

    def install(self, user, disk):
        """Cut at two moments, after each call by which it has the disk written or gives a name, and at its end."""
        watch = self.folder / "trace"
        calls = "fsync,fdatasync,syncfs,rename"
        words = ["strace", "-qq", "-o", watch, f"--trace={calls}", f"--inject={calls}:signal=SIGSTOP"]
        watch.write_text("")
        strace = user.start("worker", "install", "tiny", program=self.program, under=words)
        moments = sorted(time.monotonic() + self.choose.uniform(0.2, 4) for _ in range(2))
        seen = 0
        try:
            while strace.poll() is None:
                lines = watch.read_text().splitlines()
                made = sum(re.match(r"\w+\(.* = ", line) is not None for line in lines)
                if made > seen and lines[-1].startswith("--- stopped"):
                    seen = made
                elif moments and time.monotonic() > moments[0]:
                    moments.pop(0)
                else:
                    time.sleep(0.01)
                    continue
                with Stopped(strace):
                    self.judge(user, disk.cut(self.folder / "cut.image"), promised=False)
            said, errors = strace.communicate()
        finally:
            strace.kill()
            strace.wait()
        if strace.returncode != 0 or "tiny 1.0 is installed" not in said:
            raise SystemExit(f"{self.program} worker install failed: {said}{errors}")
        self.counts["promised"] += 1
        self.judge(user, disk.cut(self.folder / "cut.image"), promised=True)

    def judge(self, user, image, promised):
        """Where it counts as installed, or was said to be, each file is as it was before the cut."""
        there = user.environments
        with Mounted(self.folder, image) as path:
            user.environments = path / "environments"
            try:
                installed = user.environments.exists() and user.listed()["1.0"]
                spoiled = differing(there, user.environments) if installed else []
            finally:
                user.environments = there
        self.counts["cuts"] += 1
        self.counts["installed"] += installed
        if (promised and not installed) or spoiled:
            self.counts["lost"] += 1
            self.counts.note(f"installed: {installed}; not whole: {len(spoiled)} files, as {spoiled[:1]}")


def differing(before, after):
    """Files and links that are not the same below both folders."""
    out = []
    for root, folders, files in os.walk(before):
        for name in [*folders, *files]:
            one = pathlib.Path(root) / name
            other = after / one.relative_to(before)
            if one.is_symlink():
                same = other.is_symlink() and one.readlink() == other.readlink()
            elif one.is_dir():
                same = other.is_dir()
            else:
                same = other.is_file() and filecmp.cmp(one, other, shallow=False)
            if not same:
                out.append(str(one.relative_to(before)))
    return out


KINDS = {"sqlite": Sqlite, "spool": Spool, "postgres": Postgres, "install": Install}
