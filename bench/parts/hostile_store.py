"""A store on a PostgreSQL server with honest agents at work, and what its tables must be whatever others call."""

import json
import os
import pathlib
import random
import re
import socket
import subprocess
import time

from parts import figure
from parts.fleet_campaign import PORT, programs
from parts.hostile_calls import Run, Scene, lease, text

STEP_NS = 50_000_000  # what the fake worker says a step took, and really sleeps
SECONDS = "500ms"
FIXED = ("store", "campaign", "trial", "campaign_trial", "access", "artifact")  # nobody plans meanwhile
KEPT = ("content", "record", "platform", "receipt")  # may grow; no row changes
READ = "SELECT run.key, trial.id, run.idx, run.attempt FROM assay.run JOIN assay.trial ON trial.key = run.trial"


class Session:
    """A session of psql that stays."""

    END = "-- that was the answer --"

    def __init__(self, server, database, role):
        words = ["-h", server.folder, "-p", PORT, "-U", role, "-d", database, "-X", "-q", "-A", "-t"]
        self.process = subprocess.Popen(
            [str(word) for word in (programs() / "psql", *words, "-f", "-")],
            env={"PATH": os.environ["PATH"], "HOME": str(server.folder), "LC_ALL": "C.UTF-8"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )

    def ask(self, sql):
        """Rows, and what the server said where it refused. One that has ended refuses all."""
        try:
            self.process.stdin.write(f"{sql}\n\\echo {self.END}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return [], "the session is over"
        rows, refused = [], ""
        for line in self.process.stdout:
            if line.rstrip("\n") == self.END:
                return rows, refused
            if re.match(r"psql:.*(ERROR|FATAL|error):", line):
                refused = refused or line
            elif not refused:
                rows.append(line.rstrip("\n"))
        return rows, refused or "the session is over"

    def is_over(self):
        return self.process.poll() is not None

    def end(self):
        self.process.kill()
        self.process.communicate()


class HostileStore:
    """Campaigns: `work` for honest agents, `shared` for them and mallory, `lure` and `pairs` for mallory alone. The
    roles are lab (the owner), honest and mallory (agents) and nosy (a reader)."""

    def __init__(self, server, folder, program, seed):
        self.server = server
        self.program = program
        self.folder = folder / program.name
        self.folder.mkdir()
        self.database = program.name.replace("-", "_")
        self.chance = random.Random(seed)
        self.agents = []
        self.sessions = {}
        self.held = {}  # campaign -> (claim, runs)
        self.spent = None
        self.stuck = {}  # campaign -> why no run of it can be taken

    def __enter__(self):
        try:
            self.prepare()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def prepare(self):
        self.server.ask(f"CREATE DATABASE {self.database} OWNER lab")
        self.ids = {name: self.plan(name, *words) for name, words in self.plans().items()}
        for role, name in (
            ("honest", "work"),
            ("honest", "shared"),
            ("mallory", "shared"),
            ("mallory", "lure"),
            ("mallory", "pairs"),
        ):
            self.assay("lab", "store", "allow", "agent", role, "--campaign", name)
        self.assay("lab", "store", "allow", "reader", "nosy")
        for name in ("work", "shared"):
            self.agents.append(self.start_agent(name))
        self.wait_for("SELECT count(DISTINCT campaign) = 2 FROM assay.run WHERE state = 2")
        self.owners = [self.owner_of(agent) for agent in self.agents]
        self.sample = self.sample_row()
        self.before = self.rows()

    @staticmethod
    def plans():
        return {
            "work": ("--batch", "1,2", "--runs", "300"),
            "shared": ("--batch", "1,2", "--runs", "300"),
            "lure": ("--batch", "1,2", "--runs", "200"),
            "pairs": ("--batch", "1,2", "--runs", "20", "--lockstep"),
        }

    def end(self):
        for agent in self.agents:
            agent.kill()
            agent.wait()
        for session in self.sessions.values():
            session.end()

    def assay(self, role, *words, check=True):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "PG"))}
        own = {"ASSAY_NO_HOST_LOCK": "true", "ASSAY_SPOOL": str(self.folder / "spool"), "TMPDIR": str(self.folder)}
        env = {**kept, **own, "ASSAY_STORE": self.server.url(self.database, role)}
        return figure.run([self.program, *words], env, check=check)

    def plan(self, name, *words):
        more = ["--seconds", SECONDS, "--warmup", "0s", "--retries", "0", "--no-phases", "--no-peak"]
        for option in ("pace=1", f"base_ns={STEP_NS}", "per_sample_ns=0", "noise=0"):
            more += ["--option", option]
        plan = self.assay(
            "lab", "run", "toy", "--worker", "fake", *words, "--name", name, *more, "--plan-only", "--json"
        )
        return json.loads(plan.stdout)["campaign"]

    def start_agent(self, campaign):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "PG"))}
        own = {"ASSAY_NO_HOST_LOCK": "true", "ASSAY_SPOOL": str(self.folder / "spool"), "TMPDIR": str(self.folder)}
        words = ["agent", "--store", self.server.url(self.database, "honest"), "--campaign", campaign, "--idle", "600"]
        with (self.folder / f"agent-{campaign}.log").open("w") as log:
            return subprocess.Popen(
                [self.program, *words], env={**kept, **own}, stderr=log, stdout=log, start_new_session=True
            )

    @staticmethod
    def owner_of(agent):
        """How the kernel names the process: what its records must name."""
        stat = pathlib.Path(f"/proc/{agent.pid}/stat").read_text()
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return {"boot_id": boot, "pid": agent.pid, "ticks": int(stat.rsplit(")", 1)[1].split()[19])}

    def ask(self, sql):
        """What is there, as the superuser sees it."""
        if "owner" not in self.sessions:
            self.sessions["owner"] = self.session("owner")
        rows, refused = self.sessions["owner"].ask(sql + ";")
        assert not refused, f"{sql}: {refused}"
        return rows

    def wait_for(self, sql):
        deadline = time.monotonic() + 60
        while self.ask(sql) != ["t"]:
            if time.monotonic() > deadline:
                raise SystemExit(f"{self.program.name}: not within 60 s: {sql}\n{self.said()}")
            time.sleep(0.05)

    def said(self):
        return "".join(path.read_text(errors="replace") for path in self.folder.glob("agent-*.log"))

    def session(self, role):
        return Session(self.server, self.database, role)

    def call(self, role, sql):
        """The rows and, where the server refused, what it said. Sessions are used again, as poolers do it."""
        session = self.sessions.get(role)
        if session is None or session.is_over():
            session = self.sessions[role] = self.session(role)
        rows, refused = session.ask(sql)
        session.ask("ROLLBACK; RESET SESSION AUTHORIZATION; DISCARD ALL;")
        return rows, refused

    def sample_row(self):
        """A row that complete() takes, as an honest agent has brought it."""
        columns = (
            "outcome",
            "message",
            "trusted",
            "platform",
            "started_utc",
            "duration_ns",
            "n",
            "steady_from",
            "median_ns",
            "p90_ns",
            "p99_ns",
            "samples_per_second",
            "summary_version",
            "peak_memory_bytes",
            "digest",
            "json",
        )
        listed = ", ".join(f"'{column}', {column}" for column in columns)
        (found,) = self.ask(
            f"SELECT json_build_object({listed}, 'samples', encode(samples, 'hex')) FROM assay.record "
            "ORDER BY key LIMIT 1"
        )
        return json.loads(found)

    def new_claim(self):
        return f"{self.chance.getrandbits(128):032x}"

    def hold(self, name):
        """Runs of a campaign that mallory holds; taken where the last ones are done or were given back."""
        held = self.held.get(name)
        if held:
            keys = ", ".join(str(run.run) for run in held[1])
            (left,) = self.ask(
                f"SELECT count(*) FROM assay.run WHERE key IN ({keys}) AND state = 1 AND claim IS NOT NULL"
            )
            if int(left) == len(held[1]):
                return held
            if name == "lure":
                self.spent = held[0]
        claim = self.new_claim()
        lines, refused = self.call("mallory", lease(self.ids[name], claim, seconds="36000", host="'mallory'"))
        if refused or not lines:
            self.stuck[name] = refused.strip() or "no run is ready"
            if held:
                return held
            raise SystemExit(f"{self.program.name}: no run of {name} can be taken: {refused}")
        rows = [line.split("|") for line in lines]
        runs = [Run(self.ids[name], int(one[0]), one[4], int(one[3]), int(one[2])) for one in rows]
        self.held[name] = (claim, runs)
        return self.held[name]

    def run_where(self, campaign, where, named=None):
        (found,) = self.ask(
            f"{READ} WHERE run.campaign = (SELECT key FROM assay.campaign WHERE id = "
            f"{text(self.ids[campaign])}) AND {where} ORDER BY run.key LIMIT 1"
        ) or ["-1||0|0"]
        key, trial, index, attempt = found.split("|")
        return Run(self.ids[named or campaign], int(key), trial, int(index), int(attempt))

    def scene(self):
        own_claim, (own,) = self.hold("lure")
        pair_claim, pair = self.hold("pairs")
        held = self.run_where("shared", "run.state = 1")
        forbidden = self.run_where("work", "run.state = 1")
        runs = {
            "held by another": held,
            "done by another": self.run_where("shared", "run.state = 2"),
            "ready": self.run_where("shared", "run.state = 0"),
            "of a forbidden campaign": forbidden,
            "under a false name": Run(
                self.ids["shared"], forbidden.run, forbidden.trial, forbidden.index, forbidden.attempt
            ),
            "unknown": Run(self.ids["shared"], 999_999_999, held.trial, 0, 0),
        }
        read, _ = self.call("nosy", f"SELECT claim FROM assay.run WHERE key = {held.run};")
        spent, _ = self.call("nosy", "SELECT claim FROM assay.receipt ORDER BY record LIMIT 1;")
        claims = {
            "own": own_claim,
            "of the pair": pair_claim,
            "spent": self.spent or self.new_claim(),
            "spent by another": spent[0] if spent else self.new_claim(),
            "read by a reader": read[0] if read else self.new_claim(),
            "guessed": self.new_claim(),
            "zeros": "0" * 32,
            "empty": "",
            "none": None,
            "of old": "epoch 1",
            "shouted": own_claim.upper(),
        }
        return Scene(runs, claims, own, tuple(pair), self.sample, self.sample["platform"], self.owners[1])

    def rows(self):
        """Every row of what must not change, by table, as its hash; and the code and rights of the schema."""
        queries = [f"SELECT '{table}', md5(t::text) FROM assay.{table} AS t" for table in (*FIXED, *KEPT)]
        queries += [
            "SELECT 'run', md5((key, campaign, trial, idx, ord, pair, side)::text) FROM assay.run",
            "SELECT 'writer', md5((key, role, host, agent)::text) FROM assay.writer",
            "SELECT 'code', md5(pg_get_functiondef(oid) || coalesce(proacl::text, '')) FROM pg_proc "
            "WHERE pronamespace = 'assay'::regnamespace",
            "SELECT 'tables', md5((relname, relkind, relacl, relrowsecurity, reltriggers)::text) FROM (SELECT relname, "
            "relkind, relacl, relrowsecurity, (SELECT string_agg(tgname::text || tgenabled::text, ' ' ORDER BY tgname) "
            "FROM pg_trigger WHERE tgrelid = pg_class.oid) AS reltriggers FROM pg_class "
            "WHERE relnamespace = 'assay'::regnamespace) AS t",
            "SELECT 'roles', md5((rolname, rolsuper)::text) FROM pg_roles",
            "SELECT 'members', md5((roleid, member)::text) FROM pg_auth_members",
        ]
        out = {}
        for line in self.ask(" UNION ALL ".join(queries)):
            table, value = line.split("|")
            out.setdefault(table, set()).add(value)
        return out

    def changed(self):
        """Tables in which a row has changed that may not, since the last time."""
        now = self.rows()
        grows = (*KEPT, "writer")
        wrong = [
            name
            for name in {*now, *self.before}
            if self.before.get(name, set()) - now.get(name, set())
            or (name not in grows and now.get(name, set()) != self.before.get(name, set()))
        ]
        self.before = now
        return sorted(wrong)

    def forged(self):
        """Sentences on rows that no honest work has made."""
        host = text(socket.gethostname())
        agents = ", ".join(text(f"{one['boot_id']}:{one['pid']}:{one['ticks']}") for one in self.owners)
        tables = "assay.run JOIN assay.campaign ON campaign.key = run.campaign"
        by_name = f"SELECT record.key FROM assay.record JOIN {tables} ON run.key = record.run"
        queries = {
            "records of others than their writers": f"{by_name} LEFT JOIN assay.receipt ON receipt.record = record.key "
            "LEFT JOIN assay.writer ON writer.key = receipt.writer WHERE NOT coalesce("
            f"(campaign.name IN ('work', 'shared') AND writer.role = 'honest' AND writer.host = {host} "
            f"AND writer.agent IN ({agents}) AND record.outcome = 'ok' AND record.median_ns = {STEP_NS}) "
            "OR (campaign.name IN ('lure', 'pairs') AND writer.role = 'mallory' AND writer.host IN ('mallory', 'h')), "
            "false)",
            "runs taken from honest agents": f"SELECT run.key FROM {tables} WHERE campaign.name IN ('work', 'shared') "
            "AND run.epoch > 0 AND (run.state = 0 OR run.epoch > 1)",
            "done runs without a counted record": "SELECT run.key FROM assay.run WHERE run.state = 2 AND NOT EXISTS "
            "(SELECT FROM assay.record WHERE record.run = run.key AND record.counted = 1)",
            "half pairs": "SELECT a.key FROM assay.run AS a JOIN assay.run AS b ON b.pair = a.pair AND b.side = 'b' "
            "WHERE a.side = 'a' AND (a.state, a.attempt, a.claim) IS DISTINCT FROM (b.state, b.attempt, b.claim)",
            "platforms that are not objects": "SELECT 1 FROM assay.platform WHERE json_typeof(json::json) <> 'object'",
        }
        return [f"{len(found)} {what}" for what, sql in queries.items() if (found := self.ask(sql))]

    def broken_commands(self):
        """What readers, the owner and honest agents can no longer do."""
        tries = {
            "show": ("nosy", "show", "shared", "--json"),
            "show --all": ("nosy", "show", "--all"),
            "show of what mallory stored": ("nosy", "show", "lure"),
            "report": ("nosy", "report", "-o", str(self.folder / "report.html")),
            "export": ("nosy", "export", "-o", str(self.folder / "export.jsonl"), "--format", "jsonl"),
            "history": ("nosy", "history"),
            "compare": ("nosy", "compare", "work", "shared"),
            "store verify": ("lab", "store", "verify"),
        }
        broken = []
        for name, (role, *words) in tries.items():
            done = self.assay(role, *words, check=False)
            if done.returncode:
                broken.append(f"{name} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}")
        try:
            if self.plan("work", *self.plans()["work"]) != self.ids["work"]:
                broken.append("the same plan is another campaign")
        except SystemExit as error:
            broken.append(f"planning: {str(error)[-300:]}")
        broken += [f"taking runs of {name}: {why}" for name, why in self.stuck.items()]
        broken += [f"an honest agent ended: {self.said()[-300:]}" for agent in self.agents if agent.poll() is not None]
        return broken

    def honest_records(self):
        (count,) = self.ask(
            "SELECT count(*) FROM assay.receipt JOIN assay.writer ON writer.key = receipt.writer "
            "WHERE writer.role = 'honest'"
        )
        return int(count)
