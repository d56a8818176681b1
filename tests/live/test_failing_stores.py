"""A real agent finishes a run while its store cannot take the result: a full disk, a locked file, a closed database, a
full tablespace. When the store is well again, the result is in it, once, whoever carried it there."""

import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import time

import pytest
from postgres_server import PostgresServer, why_not

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", HERE.parents[1] / "build" / "dev")).resolve()
LIMIT_SECONDS = 120
RUN = ["run", "toy", "--worker", "fake", "--option", "noise=0", "--option", "pace=1", "--option", "base_ns=50000000"]
LENGTH = ["--seconds", "2s", "--warmup", "0", "--retries", "0", "--runs", "1", "--name", "one", "--quiet"]


def why_no_disk():
    """Why no small disk can be mounted here; None where one can."""
    if os.geteuid() != 0:
        return "only root mounts a small disk"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return f"no disk can be mounted here: {done.stderr.strip()}"
        subprocess.run(["umount", folder], check=True)
    return None


WHY_NO_DISK = why_no_disk()
needs_disk = pytest.mark.skipif(bool(WHY_NO_DISK), reason=str(WHY_NO_DISK))
needs_server = pytest.mark.skipif(bool(why_not()), reason=str(why_not()))


class Scene:
    """A store with one run of 2 s, and an agent that takes it."""

    def __init__(self, folder, store, program="assay"):
        self.folder, self.store, self.program = folder, store, BUILD / program
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("ASSAY_", "PG"))}
        self.env |= {"TMPDIR": str(folder), "HOME": str(folder), "ASSAY_HOST_LOCK": str(folder / "lock")}
        self.log = folder / "agent.log"
        self.assay(*RUN, *LENGTH, "--plan-only")

    def assay(self, *words):
        argv = [self.program, *words, "--store", self.store]
        done = subprocess.run(argv, cwd=self.folder, env=self.env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start_agent(self):
        argv = [self.program, "agent", "--store", self.store, "--patience", "100", "--lease", "6"]
        argv += ["--spool", self.folder / "spool.db"]
        with self.log.open("ab") as log:
            return subprocess.Popen(argv, cwd=self.folder, env=self.env, stdout=log, stderr=log)

    def wait(self, what, condition):
        deadline = time.monotonic() + LIMIT_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"{what}: not within {LIMIT_SECONDS} s\n{self.log.read_text()}"
            time.sleep(0.05)

    def records(self):
        return self.assay("export", "--format", "jsonl", "--all-attempts").splitlines()

    def play(self, failing):
        """The store fails from when the run is at work until the agent has met that. Then: the agent's exit code, how
        many records there are, and how often the run was measured."""
        agent = self.start_agent()
        try:
            shown = ["show", "one", "--fleet", "--json"]
            self.wait("the run is taken", lambda: json.loads(self.assay(*shown))["at_work"])
            with failing:
                self.wait("the agent meets it", lambda: agent.poll() is not None or self.has_met_it())
            code = agent.wait(LIMIT_SECONDS)
        finally:
            agent.kill()
            agent.wait()
        next_one = self.start_agent()  # what the first could not carry, the next of this host does
        assert next_one.wait(LIMIT_SECONDS) == 0, self.log.read_text()
        return code, len(self.records()), self.log.read_text().count("assay agent: run 0 of")

    def has_met_it(self):
        """It says that it waits, or that it kept a result."""
        text = self.log.read_text()
        return "kept" in text or "wait" in text


@contextlib.contextmanager
def small_disk(folder, kilobytes, owner=None):
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)], check=True)
    try:
        if owner is not None:
            os.chown(folder, owner, owner)
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextlib.contextmanager
def full(disk):
    """Nothing of the disk is left, not even the last block."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"\0" * 4096)
    try:
        yield
    finally:
        ballast.unlink()


@contextlib.contextmanager
def locked(path, seconds):
    """As a program does that writes to the file for that long."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as other:
        other.execute("BEGIN EXCLUSIVE")
        began = time.monotonic()
        yield
        time.sleep(max(0.0, began + seconds - time.monotonic()))  # how long it takes is the fault itself
        other.execute("ROLLBACK")


@contextlib.contextmanager
def closed(server, database):
    server.ask(f"ALTER DATABASE {database} ALLOW_CONNECTIONS false", "template1")
    server.ask(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'", "template1")
    try:
        yield
        time.sleep(4)  # as long as it was when results were lost
    finally:
        server.ask(f"ALTER DATABASE {database} ALLOW_CONNECTIONS true", "template1")


@pytest.fixture
def folder():
    with tempfile.TemporaryDirectory(prefix="failing-") as name:  # of pytest's are too long for a socket
        pathlib.Path(name).chmod(0o755)
        yield pathlib.Path(name)


@pytest.fixture
def server(folder):
    one = PostgresServer(folder / "pg").start()
    yield one
    one.stop()


@needs_disk
@pytest.mark.parametrize("program", ["assay", "assay-planted-spools_only_away"])
def test_a_full_disk_drops_nothing(folder, program):
    """The planted bug keeps results only where the store is away, which a full disk is not: it measures again."""
    with small_disk(folder / "disk", 4096) as disk:
        scene = Scene(folder, disk / "store.db", program)
        measured = 1 if program == "assay" else 2
        assert scene.play(full(disk)) == (0, 1, measured), scene.log.read_text()


def test_a_file_that_another_program_locks_drops_nothing(folder):
    scene = Scene(folder, folder / "store.db")
    assert scene.play(locked(folder / "store.db", 45)) == (0, 1, 1), scene.log.read_text()


@needs_server
def test_a_database_that_takes_no_connections_drops_nothing(folder, server):
    server.ask("CREATE DATABASE one")
    scene = Scene(folder, server.url("one"))
    assert scene.play(closed(server, "one")) == (0, 1, 1), scene.log.read_text()


@needs_disk
@needs_server
def test_a_full_tablespace_drops_nothing(folder, server):
    with small_disk(folder / "disk", 65536, owner=65534) as disk:
        server.ask(f"CREATE TABLESPACE small LOCATION '{disk}'")
        server.ask("CREATE DATABASE one TABLESPACE small")
        scene = Scene(folder, server.url("one"))
        played = scene.play(full(disk))
        server.ask("DROP DATABASE one WITH (FORCE)")
        assert played == (0, 1, 1), scene.log.read_text()
