"""A campaign of fake runs on a PostgreSQL server of its own, and agents for it: what figures of a fleet share."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from parts import figure

sys.path.insert(0, str(figure.ROOT / "tests" / "live"))
from pgbouncer import Pgbouncer  # noqa: F401
from pgbouncer import why_not as why_no_pgbouncer  # noqa: F401
from postgres_server import PORT, PostgresServer, programs, why_not  # noqa: F401
from store_rules import WRONG

STEP_NS = 50_000_000  # long, so that a paced step mostly sleeps


class Fleet:
    """Server, store and agents, all gone at the end. `program` is the assay that is tried."""

    def __init__(self, program=figure.ASSAY):
        if why_not():
            sys.exit(f"{sys.argv[0]}: {why_not()}")
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that what was started is ended and removed
        self.program = program
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-fleet-", dir=self.place))
        self.folder.chmod(0o755)
        self.agents = []
        self.server = None
        try:
            self.make_store()
        except BaseException:
            self.__exit__()
            raise

    place = None  # where the folder is made

    def make_store(self):
        self.server = PostgresServer(self.folder / "pg", "max_connections=100", "fsync=on").start()
        self.store = self.server.url()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for agent in self.agents:
            agent.kill()
            agent.wait()
        if self.server:
            self.server.stop()
        subprocess.run(["rm", "-rf", str(self.folder)], check=False)

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "PG"))}
        (self.folder / "tmp").mkdir(exist_ok=True)
        own = {
            "TMPDIR": str(self.folder / "tmp"),
            "ASSAY_SPOOL": str(self.folder / "spool"),
            "ASSAY_NO_HOST_LOCK": "true",
        }
        return {**kept, **own, "ASSAY_STORE": self.store, **more}

    def plan(self, trials, runs, seconds, name="toy"):
        """Fake runs that really take `seconds` each."""
        words = [
            "run",
            "toy",
            "--worker",
            "fake",
            "--batch",
            f"1-{trials}+1",
            "--runs",
            str(runs),
            "--plan-only",
            "--json",
            "--name",
            name,
        ]
        for option in ("pace=1", f"base_ns={STEP_NS}", "per_sample_ns=0"):
            words += ["--option", option]
        words += ["--seconds", f"{seconds}s", "--warmup", "0s", "--retries", "0", "--no-phases"]
        return json.loads(figure.run([self.program, *words], self.environment()).stdout)["campaign"]

    def start_agent(self, *words, under=(), **more):
        """An agent as of a node of its own: what it starts has another name than what others start. `under` is a
        program, with its arguments, that runs it."""
        number = len(self.agents)
        more.setdefault("ASSAY_STORE", f"{self.store}&application_name=node{number}")
        log = (self.folder / f"agent-{number}.log").open("w")
        agent = subprocess.Popen(
            [*map(str, under), self.program, "agent", *words],
            env=self.environment(**more),
            stderr=log,
            start_new_session=True,
        )
        agent.log = pathlib.Path(log.name)
        self.agents.append(agent)
        return agent

    def number(self, sql):
        return float(self.server.ask(sql)[0] or 0)

    def progress(self):
        """Runs that are done."""
        return self.number("SELECT coalesce(sum(done), 0) FROM assay.progress")

    def wait_until_done(self, runs, limit_seconds):
        """False where that took too long. Asks nothing of a server that is away."""
        deadline = time.monotonic() + limit_seconds
        while time.monotonic() < deadline:
            try:
                if self.progress() >= runs:
                    return True
            except AssertionError:
                pass
            time.sleep(0.25)
        return False

    def judge(self):
        """What must not be: runs without a counted record, with more than one, and records of an old lease."""
        return {name: int(self.number(f"SELECT count(*) {where}")) for name, where in WRONG.items()}
