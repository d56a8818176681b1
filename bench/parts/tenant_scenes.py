"""Agents of several tenants on one store, each scene with what keeps them from seeing each other or the time."""

import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import time

from parts import figure
from parts.fleet_campaign import Fleet, PostgresServer

sys.path.insert(0, str(figure.ROOT / "tests" / "live"))
import pgbouncer
from postgres_server import Standby, url_of

AGENTS = 3
LEASE_SECONDS = 12  # renewed whenever a third of it has passed
LIMIT_SECONDS = 300
APART = ("unshare", "--mount", "--propagation", "private")
OWN_PROCESSES = ("--pid", "--fork", "--kill-child", "--mount-proc")
TENANT = (sys.executable, figure.PARTS / "tenant.py")
CROWDED_SECONDS = 8  # of a run that one more agent asks for every second
RUN_BEGUN = re.compile(r"assay agent: run \d+ of")
FIRST_PID = 9001
FIRST_USER = 61001  # of users that have no name
JUMPS = ("+7200", "-86400")  # seconds: two hours on, a day back


class Scene(Fleet):
    """No agent ends, is stopped or gives a run back: a run that is taken twice was stolen from one who works on it."""

    place = "/var/tmp"  # agents may have an own /tmp
    table = "assay."
    # Of a run: agents start while the first are worked on, and look for runs of dead ones while the last is.
    seconds = 1
    lease_seconds = LEASE_SECONDS

    @staticmethod
    def why_not():
        return None

    def carry_out(self, runs):
        """What was counted. First there are fewer runs than agents: one has none, and asks for those of others all the
        time. A planted thief cannot be missed there, so that with a planted bug nothing more is done. Then all runs are
        shared by the agents."""
        self.runs = AGENTS - 1
        agents = self.begin_all(self.runs, CROWDED_SECONDS, "crowded")
        self.disturb_crowded(agents)
        self.wait_for_agents(agents)
        if self.planted:
            return self.counted()
        self.runs += runs
        agents = self.begin_all(runs, self.seconds, "shared")
        self.disturb(agents)
        self.wait_for_agents(self.agents)
        return self.counted()

    @property
    def planted(self):
        return self.program != figure.ASSAY

    def begin_all(self, runs, seconds, name):
        self.plan(1, runs, seconds, name)
        return [self.begin() for _ in range(AGENTS)]

    def begin(self):
        return self.start_agent("--lease", str(self.lease_seconds))

    def disturb_crowded(self, agents):
        """While one agent has no run."""

    def wait_for_agents(self, agents):
        """Until all have ended; with a planted bug, until a run is stolen: thieves may go on for long."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while any(agent.poll() is None for agent in agents) and time.monotonic() < deadline:
            if self.planted and self.number(f"SELECT sum(epoch - 1) FROM {self.table}run") > 0:
                return
            time.sleep(0.1)
        for agent in agents:
            if agent.poll() != 0 and not self.planted:
                print(f"an agent ended with {agent.returncode}: {agent.log.read_text()}", flush=True)

    def wait_until_said(self, agents, words):
        """By one of them."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while not any(words in agent.log.read_text() for agent in agents):
            if time.monotonic() > deadline or all(agent.poll() is not None for agent in agents):
                raise SystemExit(f"no agent said '{words}': " + "".join(agent.log.read_text() for agent in agents))
            time.sleep(0.05)

    def disturb(self, _agents):
        """While the agents work; more than one must, or nothing is shown."""
        self.wait_until("SELECT count(*) FROM {table}run WHERE state = 1", 2)

    def counted(self):
        """Runs measured are counted by what agents say that they began; all else is in the store."""
        begun = sum(len(RUN_BEGUN.findall(agent.log.read_text())) for agent in self.agents)
        return {
            "runs": self.runs,
            "stolen": int(self.number(f"SELECT sum(epoch - 1) FROM {self.table}run")),
            "again": begun - self.runs,
            "failed": sum(agent.returncode != 0 for agent in self.agents),
            "lost": self.runs - int(self.number(f"SELECT count(*) FROM {self.table}record WHERE counted = 1")),
        }

    def wait_until(self, sql, wanted):
        deadline = time.monotonic() + LIMIT_SECONDS
        while self.number(sql.format(table=self.table)) < wanted:
            if time.monotonic() > deadline or all(agent.poll() is not None for agent in self.agents):
                raise SystemExit(f"{sql}: not {wanted}. " + "".join(agent.log.read_text() for agent in self.agents))
            time.sleep(0.05)

    def wait_until_all_work(self):
        self.wait_until("SELECT count(*) FROM {table}run WHERE state = 1", AGENTS)

    def newcomer(self):
        """One more agent, which has taken a run when this returns: before others could renew their leases."""
        taken = "SELECT sum(epoch) FROM {table}run"
        before = self.number(taken.format(table=self.table))
        self.begin()
        self.wait_until(taken, before + 1)


class Namespaces(Scene):
    """As in containers: each agent with its own processes and its own /tmp, below one kernel with one boot id. The
    number of an agent's process is that of nobody in the containers of others."""

    def begin(self):
        number = len(self.agents)
        own = {"ASSAY_SPOOL": f"/tmp/spool{number}", "TMPDIR": "/tmp"}
        under = [*APART, *OWN_PROCESSES, *TENANT, "--tmp", "--pid", FIRST_PID + number, "--"]
        return self.start_agent("--lease", str(self.lease_seconds), under=under, **own)

    @staticmethod
    def why_not():
        if pathlib.Path("/tmp") in figure.BUILD.parents:
            return "the build is in /tmp, of which each tenant has its own"
        return None


class Users(Scene):
    """Each agent as a user of its own, who sees no process of others."""

    def begin(self):
        number = len(self.agents)
        home = self.folder / f"user{number}"
        home.mkdir(mode=0o700)
        os.chown(home, FIRST_USER + number, FIRST_USER + number)
        own = {"ASSAY_SPOOL": str(home / "spool"), "TMPDIR": str(home), "HOME": str(home)}
        under = [*APART, *TENANT, "--hide-processes", "--user", FIRST_USER + number, "--"]
        return self.start_agent("--lease", str(self.lease_seconds), under=under, **own)

    @staticmethod
    def why_not():
        words = [*TENANT, "--user", FIRST_USER, "--", figure.ASSAY, "--version"]
        done = subprocess.run([str(word) for word in words], capture_output=True, check=False)
        return None if done.returncode == 0 else "the build is not open to other users"


class Pooled(Scene):
    """Behind pgbouncer in transaction mode, with fewer connections than agents."""

    def make_store(self):
        super().make_store()
        self.bouncer = pgbouncer.Pgbouncer(self.server, self.folder / "pb", pool_size=2).start()
        self.store = self.bouncer.url()

    def __exit__(self, *_):
        if hasattr(self, "bouncer"):
            self.bouncer.stop()
        super().__exit__()

    @staticmethod
    def why_not():
        return pgbouncer.why_not()


class Promoted(Scene):
    """The server dies while all agents work, and its standby, which has all that was committed, takes over."""

    seconds = 5  # longer than the time between two renewals

    def make_store(self):
        super().make_store()
        self.standby = Standby(self.server, self.folder / "standby").start()
        self.standby.wait_until_equal()
        self.server.ask("ALTER SYSTEM SET synchronous_standby_names TO '*'")
        self.server.ask("SELECT pg_reload_conf()")
        self.store = url_of([self.server, self.standby], target_session_attrs="read-write")

    def disturb(self, _agents):
        self.wait_until_all_work()
        self.server.kill()
        self.standby.promote()
        self.server, self.standby = self.standby, self.server
        self.newcomer()

    def __exit__(self, *_):
        if hasattr(self, "standby"):
            self.standby.stop()
        super().__exit__()


def why_no_false_time():
    return None if false_time_library() else "there is no libfaketime here (Debian: faketime)"


def false_time_library():
    return next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)


class Clock:
    """A wall clock that jumps when it is told to; clocks that count from the start are as they were."""

    def __init__(self, file):
        self.file = file
        self.file.write_text("+0")
        self.file.chmod(0o644)

    def jump(self, seconds):
        new = self.file.with_suffix(".new")
        new.write_text(seconds)
        new.chmod(0o644)
        new.rename(self.file)

    def variables(self):
        return {
            "LD_PRELOAD": str(false_time_library()),
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }


class AgentClocks(Scene):
    """A store of SQLite. One agent's clock goes two hours on and another's a day back while they work."""

    table = ""

    def make_store(self):
        self.store = str(self.folder / "assay.db")

    def begin(self):
        clock = Clock(self.folder / f"clock{len(self.agents)}")
        own = {"ASSAY_STORE": self.store, **clock.variables()}
        agent = self.start_agent("--lease", str(self.lease_seconds), **own)
        agent.clock = clock
        return agent

    def disturb_crowded(self, agents):
        """The clock of the one without a run goes on, so that other leases seem to have ended long ago."""
        self.wait_until_said(agents, "waiting:")
        agents.sort(key=lambda agent: "waiting:" not in agent.log.read_text())
        self.jump_clocks(agents)

    def disturb(self, agents):
        self.wait_until_all_work()
        self.jump_clocks(agents)

    def jump_clocks(self, agents):
        for agent, jump in zip(agents, JUMPS, strict=False):
            agent.clock.jump(jump)

    def number(self, sql):
        with sqlite3.connect(self.store) as connection:
            return float(connection.execute(sql).fetchone()[0] or 0)

    @staticmethod
    def why_not():
        return why_no_false_time()


class ServerWithClock(PostgresServer):
    def __init__(self, folder, clock, *settings):
        self.clock = clock
        super().__init__(folder, *settings)

    def _command(self, program, *arguments):
        words = super()._command(program, *arguments)
        if program != "postgres":
            return words
        return ["/usr/bin/env", *(f"{name}={value}" for name, value in self.clock.variables().items()), *words]


class ServerClock(Scene):
    """The server's clock goes two hours on and then a day back, each time while all runs are worked on and one more
    agent asks for a run every second. Leases are so long that nobody renews one meanwhile."""

    seconds = 12
    lease_seconds = 60

    def make_store(self):
        self.clock = Clock(self.folder / "clock")
        self.server = ServerWithClock(self.folder / "pg", self.clock).start()
        self.store = self.server.url()

    def carry_out(self, runs):
        for number, jump in enumerate(JUMPS):
            self.plan(1, AGENTS, self.seconds, f"jump{number}")
            agents = [self.begin() for _ in range(AGENTS + 1)]
            self.wait_until_all_work()
            self.wait_until_said(agents, "waiting:")
            self.clock.jump(jump)
            now = self.number("SELECT extract(epoch FROM clock_timestamp())")
            if abs(now - time.time() - int(jump)) > 600:
                raise SystemExit(f"the server's clock did not jump by {jump} s")
            self.wait_for_agents(agents)
        self.runs = AGENTS * len(JUMPS)
        return self.counted()

    @staticmethod
    def why_not():
        return why_no_false_time()


# The longest first, for they are carried out side by side.
SCENES = {
    "server clock": ServerClock,
    "promoted": Promoted,
    "namespaces": Namespaces,
    "users": Users,
    "pooled": Pooled,
    "agent clocks": AgentClocks,
}
