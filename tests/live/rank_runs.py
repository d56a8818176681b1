"""Runs of several ranks through `assay run`, started on the first of some ShapedHosts, with a store of their own.

with ShapedHosts(2, rate_mbit=400) as hosts, RankRuns(folder, hosts) as runs:
    runs.run("all_reduce", "--worker", "mpi", "--runs", "1")
    runs.records()
"""

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
LIMIT_SECONDS = 120


def read_bytes(path):
    """What /proc says, or nothing where the process has ended meanwhile."""
    try:
        return pathlib.Path(path).read_bytes()
    except OSError:
        return b""


@dataclasses.dataclass(frozen=True)
class Process:
    pid: int
    name: str  # of its program
    rank: int | None  # that mpirun gave it

    def alive(self):
        """False for a zombie too: it runs no more."""
        state = read_bytes(f"/proc/{self.pid}/stat").rpartition(b")")[2].split()
        return bool(state) and state[0] not in (b"Z", b"X")

    def send(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)


class RankRuns:
    """`spread`: one rank on each host; else all ranks are on the first. `planted` names a bug of tests/planted."""

    def __init__(self, folder, hosts, spread=True, planted=None, **variables):
        self.folder, self.hosts, self.spread = pathlib.Path(folder), hosts, spread
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir(parents=True)
        self.store = self.folder / "assay.db"
        self.mended = self.folder / "mended"  # there when a fault is over
        self.variables = {key: str(value) for key, value in variables.items()}
        self.program = BUILD / "assay"
        if planted and (BUILD / f"assay-planted-{planted}").exists():
            self.program = BUILD / f"assay-planted-{planted}"
        elif planted:
            self.variables["ASSAY_LIBEXEC"] = str(BUILD / "planted" / planted)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def environment(self):
        env = {key: value for key, value in os.environ.items() if not key.startswith(("ASSAY_", "OMPI_"))}
        if "ASSAY_ENVIRONMENTS" in os.environ:
            env["ASSAY_ENVIRONMENTS"] = os.environ["ASSAY_ENVIRONMENTS"]
        env.update(TMPDIR=str(self.temporary), ASSAY_HOST_LOCK=str(self.folder / "host.lock"))
        env["OMPI_MCA_btl_vader_backing_directory"] = str(self.temporary)  # what killed workers leave stays in there
        if self.spread:
            env.update({"OMPI_MCA_" + name: value for name, value in self.hosts.mpi_parameters().items()})
        return {**env, **self.variables}

    def replace_rank_program(self, script):
        """Has the script run wherever assay-rank would be."""
        self.variables["ASSAY_LIBEXEC"] = str(self._write_program("assay-rank", script).parent)

    def replace_ssh(self, script):
        """Has the script run in place of ssh; it gets two paths: of the mended file, and of what it is to do then."""
        name = "OMPI_MCA_plm_rsh_agent"
        self.variables[name] = str(self._write_program("ssh", script % (self.mended, self.environment()[name])))

    def _write_program(self, name, script):
        path = self.folder / "programs" / name
        path.parent.mkdir()
        path.write_text(script)
        path.chmod(0o755)
        return path

    def start(self, *arguments, ranks=None):
        ranks = ranks or self.hosts.count
        argv = [str(self.program), "run", *arguments, "--ranks", str(ranks), "--store", str(self.store), "--no-peak"]
        if self.spread:
            argv += ["--ranks-per-node", "1", "--hosts", ",".join(self.hosts.addresses[:ranks])]
        with (self.folder / "said").open("wb") as said:
            return subprocess.Popen(
                self.hosts.command(0, argv),
                env=self.environment(),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )

    def run(self, *arguments, seconds=LIMIT_SECONDS, **options):
        """Runs it to its end; its exit code and what it said."""
        code = self.start(*arguments, **options).wait(seconds)
        return code, self.said()

    def said(self):
        return (self.folder / "said").read_text(errors="replace")

    def records(self):
        """Counted ones."""
        argv = [str(self.program), "export", "--format", "jsonl", "--store", str(self.store)]
        text = subprocess.check_output(argv, env=self.environment(), text=True, timeout=LIMIT_SECONDS)
        return [json.loads(line) for line in text.splitlines()]

    def rows(self, query):
        """Rows of the store, read by another program than Assay; none while there is no store yet."""
        try:
            with contextlib.closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=20)) as database:
                return database.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []

    def processes(self):
        """All that lives and was started by a run here, `assay` itself too, wherever it is."""
        mark = f"TMPDIR={self.temporary}\0".encode()
        found = []
        for folder in pathlib.Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            environment = read_bytes(folder / "environ")
            if mark not in environment:
                continue
            _, _, rank = (b"\0" + environment).partition(b"\0OMPI_COMM_WORLD_RANK=")
            words = read_bytes(folder / "cmdline").decode(errors="replace").split("\0")
            script = words[0] == "/bin/sh" and len(words) > 1
            found.append(
                Process(int(folder.name), pathlib.Path(words[script]).name, int(rank.split(b"\0")[0]) if rank else None)
            )
        return [process for process in found if process.alive()]

    def end(self):
        """Ends all of it, by id."""
        deadline = time.monotonic() + 10
        while (found := self.processes()) and time.monotonic() < deadline:
            for process in found:
                process.send(signal.SIGKILL)
