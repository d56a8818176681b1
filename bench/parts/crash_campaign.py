"""The subject of the figure `crash`: a small fake campaign, its undisturbed result, the judge of a disturbed one."""

import collections
import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

from parts import figure

PATIENCE = 60  # seconds for one command, which takes a fraction of one
KINDS = ("lost", "twice", "changed", "corrupt", "exit", "message", "processes", "folders")


@dataclasses.dataclass
class Ended:
    """How a command ended; `code` is None where it had to be ended because it hung."""

    code: int | None
    stderr: str


@dataclasses.dataclass
class Peek:
    """A store as it lies on the disk, read from a copy so that nothing is mended in the original."""

    records: set  # counted ones: (trial, index, attempt, when started)
    complaint: str  # what SQLite says against it, if anything
    campaigns: set = dataclasses.field(default_factory=set)  # their ids


class Subject:
    """A campaign in a Workplace of its own, under a name of its own, so that several can run side by side."""

    def __init__(self, program, runs):
        self.program = program
        self.runs = runs
        self.place = figure.Workplace()
        self.path = self.place.path
        self.store = self.path / "store.db"
        self.campaigns = set()  # ids, as far as a look at the store has shown them

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in self.processes():
            end(pid)
        self.place.__exit__()

    def command(self):
        return [
            *(str(self.program), "run", "toy", "--worker", "fake", "--mode", "infer,train", "--batch", "1,2"),
            *("--runs", str(self.runs), "--phases", "--layers", "--max-samples", "20"),
            # A busy host must not change how often something is measured: the points of a sweep are counted calls.
            *("--retries", "0", "--name", self.path.name, "--store", str(self.store)),
        ]

    def start(self, prefix=(), **environment):
        return subprocess.Popen(
            [*map(str, prefix), *self.command()],
            env=self.place.environment(**environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )

    def run(self, prefix=(), **environment):
        """Runs the command, behind `prefix`, to its end."""
        return self.wait(self.start(prefix, **environment))

    def wait(self, process):
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            code = None
            for pid in self.processes():
                end(pid)
            process.wait()
        with process.stderr:
            # Not to the end of the pipe: an assay-rank that outlives its killed parent a little has it open, too, and
            # the next command is to meet it alive.
            os.set_blocking(process.stderr.fileno(), False)
            return Ended(code, (process.stderr.read() or b"").decode(errors="replace"))

    def exported(self):
        """Counted records as `assay export` gives them."""
        done = figure.run(
            [self.program, "export", "--format", "jsonl", "--store", self.store],
            self.place.environment(),
            check=False,
            timeout=PATIENCE,
        )
        return [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == 0 else []

    def peek(self):
        with tempfile.TemporaryDirectory(prefix="assay-bench-peek-") as folder:
            copy = pathlib.Path(folder) / "store.db"
            for suffix in ("", "-wal", "-journal"):
                original = pathlib.Path(f"{self.store}{suffix}")
                if original.exists():
                    shutil.copyfile(original, f"{copy}{suffix}")
            try:
                peek = read(copy)
            except sqlite3.Error as error:
                return Peek(set(), str(error))
        self.campaigns |= peek.campaigns
        return peek

    def processes(self):
        """Living processes of this campaign: assay and assay-rank have our path as an argument, workers our mark."""
        path = str(self.path).encode()
        marks = [f"-{campaign}-".encode() for campaign in self.campaigns]  # inside ASSAY_RUN
        found = []
        for entry in os.scandir("/proc"):
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                arguments = pathlib.Path(entry.path, "cmdline").read_bytes()
                environment = pathlib.Path(entry.path, "environ").read_bytes()
            except OSError:
                continue  # ended meanwhile, or another user's
            if path in arguments or path in environment or any(mark in environment for mark in marks):
                found.append(int(entry.name))
        return found

    def run_directories(self):
        return list((self.path / "tmp").glob("assay-*/*"))


def end(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def read(path):
    """What a store holds, and whether it is sound: SQLite's own checks, and that progress counts what is there."""
    if not path.exists():
        return Peek(set(), "")
    with contextlib.closing(sqlite3.connect(path)) as database:
        complaints = [row[0] for row in database.execute("PRAGMA integrity_check") if row[0] != "ok"]
        complaints += [f"broken reference {row}" for row in database.execute("PRAGMA foreign_key_check")]
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'result'").fetchone():
            return Peek(set(), "; ".join(complaints))
        counts = "SELECT sum(state = 0), sum(state = 1), sum(state = 2), campaign FROM run GROUP BY campaign"
        for ready, leased, done, campaign in database.execute(counts):
            query = "SELECT ready, leased, done FROM progress WHERE campaign = ?"
            if database.execute(query, (campaign,)).fetchone() != (ready, leased, done):
                complaints.append("progress does not count what run holds")
        records = set(database.execute('SELECT trial, "index", attempt, started_utc FROM result'))
        campaigns = {row[0] for row in database.execute("SELECT id FROM campaign")}
        return Peek(records, "; ".join(complaints), campaigns)


def content(record):
    """All of a record that virtual time determines."""
    fields = ("rank", "samples_ns", "phase_step_ns", "phases_ns", "layer_step_ns", "layers", "parameters_built")
    return json.dumps([record["outcome"]["kind"], *([rank[f] for f in fields] for rank in record["ranks"])])


def key(record):
    return record["trial"], record["index"]


class Baseline:
    """What the undisturbed campaign leaves, and how long it takes."""

    def __init__(self, program, runs):
        self.program = program
        self.runs = runs
        with Subject(program, runs) as subject:
            begin = time.monotonic()
            ended = subject.run()
            self.seconds = time.monotonic() - begin
            self.records = {key(record): content(record) for record in subject.exported()}
            peek = subject.peek()
        if ended.code != 0 or len(self.records) != 4 * runs or peek.complaint:
            raise SystemExit(f"the undisturbed campaign ended with {ended.code}: {ended.stderr}{peek.complaint}")

    def judge(self, subject, before, ended):
        """What is wrong after a fault, once the same command has run again: counts of KINDS, and notes."""
        wrong, notes = collections.Counter(), []
        records = subject.exported()
        times = collections.Counter(key(record) for record in records)
        identities = {(*key(r), r["attempt"], r["started_utc"]) for r in records}
        after = subject.peek()
        wrong["lost"] = len(self.records.keys() - times.keys())
        # A record that was there after the fault must be that very record, not a newer one in its place.
        wrong["lost"] += sum(row[:2] in times for row in before.records - identities)
        wrong["twice"] = sum(count - 1 for count in times.values()) + len(times.keys() - self.records.keys())
        wrong["changed"] = sum(content(record) != self.records.get(key(record)) for record in records)
        wrong["corrupt"] = bool(before.complaint) + bool(after.complaint)
        wrong["exit"] = ended.code != 0
        wrong["processes"] = len(lasting(subject))
        wrong["folders"] = len(subject.run_directories())
        notes += [complaint for complaint in (before.complaint, after.complaint) if complaint]
        if ended.code != 0:
            notes.append(f"the command after the fault ended with {ended.code}: {ended.stderr[-300:]}")
        return wrong, notes

    def complete(self, peek):
        return {row[:2] for row in peek.records} == self.records.keys()


def lasting(subject):
    """Processes left, but not those that were just about to be gone."""
    found = subject.processes()
    if not found:
        return []
    time.sleep(0.2)
    return sorted(set(found) & set(subject.processes()))
