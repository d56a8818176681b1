"""Agents on a real PostgreSQL server: every run once, whatever is killed, stopped or away; rights and secrets."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import pytest
from postgres_server import PostgresServer, why_not

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
LIMIT_SECONDS = 120
# Steps that take their time: the fake worker's own time is virtual otherwise.
PACED = [word for option in ("pace=1", "base_ns=20000000", "per_sample_ns=0") for word in ("--option", option)]
BRIEF = ["--worker", "fake", *PACED, "--warmup", "0s", "--retries", "0", "--no-phases"]
PASSWORD = "correct-horse-battery"

pytestmark = pytest.mark.skipif(bool(why_not()), reason=str(why_not()))


class Fleet:
    """A server, and calls of assay that share one host lock of the test's own."""

    def __init__(self, server, folder):
        self.server = server
        self.folder = folder
        self.database = folder.name.replace("-", "_").lower()
        server.ask(f'CREATE DATABASE "{self.database}"')
        self.store = self.url()
        self.agents = []

    def url(self, user="owner"):
        return self.server.url(self.database, user)

    def ask(self, sql):
        return self.server.ask(sql, self.database)

    def environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "PG"))}
        return {**kept, "ASSAY_NO_HOST_LOCK": "true", "ASSAY_SPOOL": str(self.folder / "spool")}

    def assay(self, *argv, code=0, program="assay", store=None):
        done = subprocess.run(
            [BUILD / program, *map(str, argv), "--store", store or self.store],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        assert done.returncode == code, f"exit {done.returncode}: {done.stdout}{done.stderr}"
        return done

    def plan(self, *argv, seconds="100ms", **options):
        words = ["run", *argv, *BRIEF, "--seconds", seconds, "--plan-only", "--json"]
        return json.loads(self.assay(*words, **options).stdout)

    def start_agent(self, *argv, program="assay", store=None, apart=False):
        """Apart: as in a container, or on another host, with processes and a temporary folder of its own."""
        log = (self.folder / f"agent-{len(self.agents)}.log").open("w+")
        environment = self.environment()
        wrapper = []
        if apart:
            wrapper = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
            environment["TMPDIR"] = str(self.folder / f"apart-{len(self.agents)}")
            pathlib.Path(environment["TMPDIR"]).mkdir()
        agent = subprocess.Popen(
            [*wrapper, BUILD / program, "agent", "--store", store or self.store, *argv],
            cwd=self.folder,
            env=environment,
            stderr=log,
        )
        agent.log = pathlib.Path(log.name)
        self.agents.append(agent)
        return agent

    def number(self, sql):
        return int(self.ask(sql)[0])

    def wait_for(self, sql, what):
        """Until the database answers `sql` with a number above 0."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while self.number(sql) == 0:
            assert time.monotonic() < deadline, what + "".join(agent.log.read_text() for agent in self.agents)
            time.sleep(0.05)

    def counted(self):
        """Runs, counted records, and runs that have more than one of those."""
        return (
            self.number("SELECT count(*) FROM assay.run"),
            self.number("SELECT count(*) FROM assay.record WHERE counted = 1"),
            self.number(
                "SELECT count(*) FROM (SELECT run FROM assay.record GROUP BY run, attempt HAVING count(*) > 1) AS t"
            ),
        )


@pytest.fixture(scope="module")
def server():
    with tempfile.TemporaryDirectory(prefix="assay-pg-") as folder:
        os.chmod(folder, 0o755)
        one = PostgresServer(pathlib.Path(folder) / "pg").start()
        yield one
        one.stop()


@pytest.fixture
def fleet(server):
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        one = Fleet(server, pathlib.Path(folder))
        try:
            yield one
        finally:
            for agent in one.agents:
                agent.kill()
                agent.wait()
            if server.process.poll() is not None:  # a test that failed may have left it so
                server.start()


def test_two_agents_carry_out_a_plan_and_every_command_reads_it(fleet):
    planned = fleet.plan("toy", "--batch", "1,2,4", "--runs", 4, "--name", "shared")
    assert (planned["runs"], planned["new_runs"]) == (12, 12)
    assert fleet.plan("toy", "--batch", "1,2,4", "--runs", 4, "--name", "shared")["new_runs"] == 0
    held = json.loads(fleet.assay("show", "shared", "--fleet", "--json").stdout)
    assert (held["runs"], held["ready"], held["at_work"], held["seconds_left"]) == (12, 12, [], None)
    agents = [fleet.start_agent() for _ in range(2)]
    assert [agent.wait(LIMIT_SECONDS) for agent in agents] == [0, 0]
    assert fleet.counted() == (12, 12, 0)
    assert fleet.number("SELECT count(DISTINCT owner_pid) FROM assay.run") == 2
    shown = json.loads(fleet.assay("show", "shared", "--json").stdout)
    assert [len(result["platform"]) for result in shown["results"]] == [32] * 3
    fleet.assay("export", "--format", "csv")
    fleet.assay("history", "--json")
    fleet.assay("store", "drop", "shared")
    assert fleet.counted() == (0, 0, 0)


def test_run_itself_measures_into_a_server(fleet):
    fleet.assay("run", "toy", *BRIEF, "--seconds", "100ms", "--runs", 2, "--quiet", "--no-peak")
    assert fleet.counted() == (2, 2, 0)


def test_an_agent_leaves_what_it_cannot_carry_out(fleet):
    fleet.plan("toy", "--runs", 1, "--name", "elsewhere", "--platform", "0123abcd")
    fleet.plan("toy", "--batch", 2, "--runs", 1, "--name", "here")
    agent = fleet.start_agent()
    assert agent.wait(LIMIT_SECONDS) == 0
    assert "1 runs ask for a platform, worker, device or hosts" in agent.log.read_text()
    assert fleet.counted()[:2] == (2, 1)


def test_what_is_finished_while_the_server_is_away_is_delivered_once(fleet):
    fleet.plan("toy", "--runs", 5, seconds="1s")
    agent = fleet.start_agent()
    fleet.wait_for("SELECT count(*) FROM assay.record", "no run was finished")
    fleet.wait_for("SELECT count(*) FROM assay.run WHERE state = 1", "no run was taken")
    fleet.server.kill()
    deadline = time.monotonic() + LIMIT_SECONDS
    while "waiting:" not in agent.log.read_text():
        assert time.monotonic() < deadline, "the agent did not notice"
        time.sleep(0.05)
    fleet.server.start()
    assert agent.wait(LIMIT_SECONDS) == 0, agent.log.read_text()
    assert fleet.counted() == (5, 5, 0)
    assert "kept in" not in agent.log.read_text().splitlines()[-1]


def test_an_agent_waits_for_a_server_that_is_not_there_yet(fleet):
    fleet.plan("toy", "--runs", 1)
    fleet.server.kill()
    impatient = fleet.start_agent("--patience", "0")
    assert impatient.wait(LIMIT_SECONDS) == 1
    assert "does not answer" in impatient.log.read_text()
    agent = fleet.start_agent()
    deadline = time.monotonic() + LIMIT_SECONDS
    while "waiting:" not in agent.log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    fleet.server.start()
    assert agent.wait(LIMIT_SECONDS) == 0
    assert fleet.counted() == (1, 1, 0)


def fence(fleet, program):
    """An agent that is stopped for longer than its lease, and goes on when another has done its run."""
    fleet.plan("toy", "--runs", 1, program=program, seconds="2s")
    stopped = fleet.start_agent("--lease", "1", program=program)
    fleet.wait_for("SELECT count(*) FROM assay.run WHERE state = 1", "no run was taken")
    stopped.send_signal(signal.SIGSTOP)
    # The other knows nothing of the owner's process, though its kernel has the same boot id: the lease must end.
    other = fleet.start_agent("--idle", "1", program=program, apart=True)
    fleet.wait_for("SELECT count(*) FROM assay.run WHERE state = 2", "nobody took it over")
    assert other.wait(LIMIT_SECONDS) == 0
    stopped.send_signal(signal.SIGCONT)
    assert stopped.wait(LIMIT_SECONDS) == 0, stopped.log.read_text()
    return fleet.number("SELECT count(*) FROM assay.record"), stopped.log.read_text()


def test_an_agent_that_was_stopped_for_too_long_writes_nothing(fleet):
    records, log = fence(fleet, "assay")
    assert records == 1
    assert "the store gave this run to another agent" in log


def test_planted_a_server_without_the_claim_check_stores_it_twice(fleet):
    if not (BUILD / "assay-planted-no_server_claim_check").exists():
        pytest.skip("planted bugs are not built here")
    records, _ = fence(fleet, "assay-planted-no_server_claim_check")
    assert records == 2


def test_a_live_agent_of_another_pid_namespace_keeps_its_run(fleet):
    fleet.plan("toy", "--runs", 1, seconds="3s")
    first = fleet.start_agent("--lease", "60", apart=True)
    fleet.wait_for("SELECT count(*) FROM assay.run WHERE state = 1", "no run was taken")
    second = fleet.start_agent("--lease", "60", apart=True)
    assert first.wait(LIMIT_SECONDS) == 0, first.log.read_text()
    assert second.wait(LIMIT_SECONDS) == 0, second.log.read_text()
    assert fleet.counted() == (1, 1, 0)
    assert fleet.number("SELECT max(epoch) FROM assay.run") == 1, "the run of a live agent was taken"


def test_an_agent_whose_run_another_of_its_host_took_goes_on(fleet):
    fleet.plan("toy", "--runs", 1, seconds="2s")
    stopped = fleet.start_agent("--lease", "1")
    fleet.wait_for("SELECT count(*) FROM assay.run WHERE state = 1", "no run was taken")
    stopped.send_signal(signal.SIGSTOP)
    assert fleet.start_agent().wait(LIMIT_SECONDS) == 0
    stopped.send_signal(signal.SIGCONT)
    assert stopped.wait(LIMIT_SECONDS) == 0, stopped.log.read_text()
    assert "the store gave this run to another agent" in stopped.log.read_text()
    assert fleet.counted() == (1, 1, 0)


def test_an_agent_that_is_killed_loses_its_run_to_the_next(fleet):
    fleet.plan("toy", "--runs", 2, seconds="1s")
    killed = fleet.start_agent()
    fleet.wait_for("SELECT count(*) FROM assay.run WHERE state = 1", "no run was taken")
    killed.kill()
    killed.wait()
    assert fleet.start_agent().wait(LIMIT_SECONDS) == 0
    assert fleet.counted() == (2, 2, 0)


def test_roles_on_the_command_line(fleet):
    fleet.plan("toy", "--runs", 1, "--name", "mine")
    fleet.plan("toy", "--batch", 2, "--runs", 1, "--name", "other")
    fleet.ask("CREATE ROLE worker LOGIN")
    fleet.ask("CREATE ROLE looker LOGIN")
    fleet.assay("store", "allow", "agent", "worker", "--campaign", "mine")
    fleet.assay("store", "allow", "reader", "looker")
    worker = fleet.url("worker")
    looker = fleet.url("looker")
    assert fleet.start_agent(store=worker).wait(LIMIT_SECONDS) == 0
    assert fleet.counted()[:2] == (2, 1)
    assert "no campaign" in fleet.assay("agent", "--campaign", "other", store=worker, code=2).stderr
    assert "may not" in fleet.assay("run", "toy", *BRIEF, "--plan-only", store=worker, code=1).stderr
    assert len(json.loads(fleet.assay("show", "--all", "--json", store=looker).stdout)["campaigns"]) == 2
    assert "may not" in fleet.assay("store", "drop", "mine", store=looker, code=1).stderr
    assert "no such role" in fleet.assay("store", "allow", "reader", 'x"; DROP TABLE assay.run; --', code=2).stderr
    fleet.assay("store", "forbid", "looker")
    assert "may not" in fleet.assay("show", "--all", store=looker, code=1).stderr


def test_members_of_a_group_have_its_rights(fleet):
    fleet.plan("toy", "--runs", 1, "--name", "grouped")
    fleet.ask("CREATE ROLE ci_agents; CREATE ROLE ci_7 LOGIN IN ROLE ci_agents; CREATE ROLE stranger LOGIN")
    fleet.assay("store", "allow", "agent", "ci_agents", "--campaign", "grouped")
    assert fleet.start_agent(store=fleet.url("ci_7")).wait(LIMIT_SECONDS) == 0
    assert fleet.counted()[:2] == (1, 1)
    refused = fleet.assay("agent", store=fleet.url("stranger"), code=1).stderr
    assert "role stranger may not" in refused
    assert "assay store allow agent stranger" in refused


def test_a_password_is_seen_nowhere(fleet):
    fleet.plan("toy", "--runs", 2, "--name", "secret", seconds="500ms")
    fleet.ask(f"CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}'")
    fleet.assay("store", "allow", "agent", "guarded")
    rules = fleet.server.folder / "data" / "pg_hba.conf"
    rules.write_text("local all guarded scram-sha-256\nlocal all all trust\n")
    fleet.ask("SELECT pg_reload_conf()")
    url = fleet.url(f"guarded:{PASSWORD}")
    assert "command line" in fleet.assay("show", store=url, code=2).stderr
    file = fleet.folder / "store.url"
    file.write_text(url + "\n")
    file.chmod(0o644)
    assert "chmod 600" in fleet.assay("show", store=f"@{file}", code=2).stderr
    file.chmod(0o600)
    agent = fleet.start_agent(store=f"@{file}")
    seen = []
    while agent.poll() is None:
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                seen.append((process / "cmdline").read_bytes())
            except OSError:
                continue
        time.sleep(0.02)
    assert agent.returncode == 0, agent.log.read_text()
    assert not any(PASSWORD.encode() in line for line in seen)
    assert any(b"assay-rank" in line for line in seen), "the ranks were looked at"
    assert PASSWORD not in agent.log.read_text()
    everything = "".join("\n".join(fleet.ask(f"SELECT * FROM assay.{table}")) for table in TABLES)
    assert "secret" in everything, "the tables were looked at"
    assert PASSWORD not in everything
    file.write_text(url.replace(PASSWORD, PASSWORD + "-wrong"))
    refused = fleet.assay("show", store=f"@{file}", code=1).stderr
    assert "refuses the connection" in refused
    assert PASSWORD not in refused


TABLES = ["campaign", "trial", "run", "record", "content", "platform", "artifact", "progress", "access"]


def commits_of_a_run(fleet, program):
    """What synchronous_commit is, where it is off for the database, when transactions of an agent commit."""
    fleet.ask(f'ALTER DATABASE "{fleet.database}" SET synchronous_commit TO off')
    fleet.plan("toy", "--runs", 1, program=program)
    fleet.ask(
        "CREATE TABLE assay.noted(setting text); "
        "CREATE FUNCTION assay.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO assay.noted VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$; "
        "CREATE CONSTRAINT TRIGGER note AFTER UPDATE ON assay.run DEFERRABLE INITIALLY DEFERRED FOR EACH ROW "
        "EXECUTE FUNCTION assay.note()"
    )
    assert fleet.start_agent(program=program).wait(LIMIT_SECONDS) == 0
    return set(fleet.ask("SELECT setting FROM assay.noted"))


def test_what_an_agent_stores_is_on_the_disk_of_the_server(fleet):
    assert commits_of_a_run(fleet, "assay") == {"on"}


def test_planted_a_server_that_commits_later_is_seen(fleet):
    assert commits_of_a_run(fleet, "assay-planted-asynchronous_commit") == {"off"}


def plan_into_a_schema_of_another(fleet, program, code):
    role = f"mallory_{fleet.database}"
    fleet.ask(f'CREATE ROLE "{role}" LOGIN; GRANT CREATE ON DATABASE "{fleet.database}" TO "{role}"')
    fleet.server.ask("CREATE SCHEMA assay; GRANT ALL ON SCHEMA assay TO PUBLIC", fleet.database, role)
    words = ["run", "toy", "--worker", "fake", "--runs", 1, "--plan-only"]
    said = fleet.assay(*words, program=program, code=code).stderr
    return said, fleet.number("SELECT count(*) FROM pg_tables WHERE schemaname = 'assay'")


def test_a_schema_that_another_role_made_is_not_used(fleet):
    said, tables = plan_into_a_schema_of_another(fleet, "assay", 1)
    assert "not safe to use" in said
    assert tables == 0


def test_planted_a_program_that_trusts_every_schema_is_seen(fleet):
    _, tables = plan_into_a_schema_of_another(fleet, "assay-planted-trusting_schema", 0)
    assert tables > 0
