"""A fleet that Slurm starts: a cluster, a store on a PostgreSQL server in reach of its nodes, and calls of assay."""

import json
import os
import pathlib
import re
import subprocess

import postgres_server
import slurm_cluster
from postgres_server import PostgresServer
from slurm_cluster import SlurmCluster, wait_for
from store_rules import WRONG

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
LIMIT_SECONDS = 120


def why_not():
    return postgres_server.why_not() or slurm_cluster.why_not()


def paced(step_ns, seconds):
    """Flags of fake runs that really take their time; the fake worker's own is virtual otherwise."""
    options = ("pace=1", f"base_ns={step_ns}", "per_sample_ns=0")
    words = [word for option in options for word in ("--option", option)]
    return ["--worker", "fake", *words, "--seconds", f"{seconds}s", "--warmup", "0s", "--retries", "0", "--no-phases"]


def group_of(pid):
    """Its process group; None where it has ended, as a zombie has."""
    try:
        state, _, group = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:3]
        return None if state in "ZX" else int(group)
    except OSError:
        return None


class SlurmFleet:
    """`settings` are of the server; `options` of the cluster."""

    def __init__(self, folder, nodes, *settings, program=None, **options):
        self.folder = pathlib.Path(folder)
        self.program = program or BUILD / "assay"
        self.logs = self.folder / "logs"
        self.logs.mkdir()
        self.server = None
        self.cluster = SlurmCluster(self.folder / "c", nodes, **options)
        self.settings = settings
        self.database = "postgres"
        self.file = self.folder / "store.url"
        self.file.touch(mode=0o600)

    def __enter__(self):
        self.cluster.start()
        try:
            self.server = PostgresServer(self.folder / "pg", *self.settings, address=self.cluster.address).start()
            self.use("postgres")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.server:
            self.server.stop()
        self.cluster.stop()

    def use(self, database):
        self.database = database
        self.file.write_text(f"{self.server.url(database)}&sslmode=disable\n")

    def begin_anew(self, database):
        """For the next test: a whole cluster on which nothing runs, a store of its own, no logs."""
        if self.server.process.poll() is not None:
            self.server.start()
        self.cluster.restore()
        self.wait_until_nothing_runs()
        for log in self.logs.glob("*.log"):
            log.unlink()
        self.ask(f'CREATE DATABASE "{database[:60]}"')
        self.use(database[:60])

    # Commands on a login node

    def assay(self, *argv, code=0, **variables):
        more = {name: os.environ[name] for name in ("ASSAY_ENVIRONMENTS",) if name in os.environ}
        words = [self.program, *argv, "--store", f"@{self.file}"]
        done = subprocess.run(
            list(map(str, words)),
            cwd=self.folder,
            env={**self.cluster.environment(), **more, **variables},
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        assert done.returncode == code, f"{words} ended with {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    def submit(self, *argv, agents, lease=60, run_folder="/var/tmp", own=(), **variables):
        """What `assay submit` printed. Each node has runs, spool and lock for itself; `own` adds flags."""
        here = ["--run-folder", run_folder, "--host-lock", "/var/tmp/host.lock", "--logs", self.logs, *own]
        words = ["submit", *argv, "--agents", agents, "--lease", lease, *here, "--json"]
        return json.loads(self.assay(*words, **variables))

    def records(self):
        """Counted ones."""
        return [json.loads(line) for line in self.assay("export", "--format", "jsonl").splitlines()]

    def shown(self, campaign):
        return json.loads(self.assay("show", campaign, "--fleet", "--json"))

    # What became of it

    def ask(self, sql):
        return self.server.ask(sql, self.database)

    def number(self, sql):
        return int(self.ask(sql)[0])

    def leased(self):
        """Host and number of the process of each agent that has a run, as the store knows them."""
        return [row.split("|") for row in self.ask("SELECT owner_host, owner_pid FROM assay.run WHERE state = 1")]

    def said(self):
        """The end of what agents and the controller said, for a message."""
        logs = [f"{log.name}: {log.read_text(errors='replace')[-800:]}" for log in sorted(self.logs.glob("*.log"))]
        return "\n".join([*logs, str(self.cluster.jobs()), self.cluster.log("slurmctld.log")])

    def all_logs(self):
        return "".join(log.read_text(errors="replace") for log in self.logs.glob("*.log"))

    def wait_for(self, sql, what, limit_seconds=LIMIT_SECONDS):
        """Until the database answers with a number above 0."""
        wait_for(lambda: self.number(sql) > 0, lambda: f"{what}: {self.said()}", limit_seconds)

    def wait_until_done(self, limit_seconds=LIMIT_SECONDS):
        done = "SELECT (count(*) FILTER (WHERE state < 2) = 0)::int FROM assay.run"
        self.wait_for(done, "not all was carried out", limit_seconds)

    def wait_until_ended(self, limit_seconds=LIMIT_SECONDS):
        """Until no job is left that runs or waits."""
        wait_for(lambda: not self.cluster.jobs("-t", "PD,R,CG,CF"), self.said, limit_seconds)

    def judge(self):
        """What must not be, as numbers; all are 0 where each run is there exactly once."""
        wrong = {**WRONG, "failed": "FROM assay.record WHERE counted = 1 AND outcome <> 'ok'"}
        return {name: self.number(f"SELECT count(*) {where}") for name, where in wrong.items()}

    # What runs on the nodes

    def ours(self, number=None):
        """Processes of Assay on a node, or on any: numbers on this machine, and names."""
        processes = self.cluster.processes(number)
        return {pid: name for pid, name in processes.items() if name.startswith("assay") and group_of(pid)}

    def agents(self, number=None):
        return [pid for pid, name in self.ours(number).items() if re.fullmatch("assay|assay-planted-.*", name)]

    def ranks(self, number=None):
        return [pid for pid, name in self.ours(number).items() if name == "assay-rank"]

    def workers(self, number=None):
        """Each leads a group of its own."""
        return [pid for pid in self._of_workers(number) if group_of(pid) == pid]

    def left_by_workers(self, number):
        """What workers that misbehave have started."""
        return [pid for pid in self._of_workers(number) if group_of(pid) != pid]

    def _of_workers(self, number):
        return [pid for pid, name in self.ours(number).items() if name.startswith("assay-worker")]

    def wait_until_nothing_runs(self, limit_seconds=LIMIT_SECONDS):
        wait_for(lambda: not self.ours(), lambda: f"{self.ours()} {self.said()}", limit_seconds)
