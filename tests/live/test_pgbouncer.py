"""Agents and readers that share connections through pgbouncer in transaction mode."""

import json
import os
import pathlib
import tempfile
import time

import pytest
from pgbouncer import Pgbouncer, why_not
from postgres_server import PostgresServer
from test_agents import LIMIT_SECONDS, Fleet
from test_standby import wait_for_words

pytestmark = pytest.mark.skipif(bool(why_not()), reason=str(why_not()))


@pytest.fixture(scope="module")
def place():
    with tempfile.TemporaryDirectory(prefix="assay-pb-") as folder:
        os.chmod(folder, 0o755)
        server = PostgresServer(pathlib.Path(folder) / "pg").start()
        server.ask("CREATE ROLE worker LOGIN")
        yield server, pathlib.Path(folder)
        server.stop()


@pytest.fixture
def fleet(place):
    """Every client has the one connection to the server that the pooler keeps for its role."""
    server, folder = place
    with tempfile.TemporaryDirectory(prefix="pooled-") as own:
        one = Fleet(server, pathlib.Path(own))
        one.bouncer = Pgbouncer(server, folder / one.database).start()
        one.store = one.bouncer.url(one.database)
        try:
            yield one
        finally:
            for agent in one.agents:
                agent.kill()
                agent.wait()
            one.bouncer.stop()
            if server.process.poll() is not None:  # a test that failed may have left it so
                server.start()


def say(fleet, sql):
    """What a person does through the pooler."""
    return fleet.server._run("psql", "-d", fleet.store, "-X", "-A", "-t", "-c", sql).splitlines()


def read_while_agents_work(fleet, program):
    """Three agents, and a reader between every two looks at whether they are done. Exit codes and counts."""
    fleet.plan("toy", "--batch", "1,2", "--runs", 4, "--name", "pooled", seconds="300ms")
    agents = [fleet.start_agent("--patience", "3", program=program) for _ in range(3)]
    deadline = time.monotonic() + LIMIT_SECONDS
    while any(agent.poll() is None for agent in agents):
        assert time.monotonic() < deadline, "".join(agent.log.read_text() for agent in agents)
        fleet.assay("show", "pooled", "--json", program=program)
    return [agent.returncode for agent in agents], fleet.counted()


def test_agents_and_readers_share_connections(fleet):
    codes, counted = read_while_agents_work(fleet, "assay")
    assert codes == [0, 0, 0], "".join(agent.log.read_text() for agent in fleet.agents)
    assert counted == (8, 8, 0)
    assert len(json.loads(fleet.assay("show", "pooled", "--json").stdout)["results"]) == 2
    fleet.assay("export", "--format", "jsonl")
    fleet.assay("store", "drop", "pooled")
    assert fleet.counted() == (0, 0, 0)


def test_what_a_session_was_set_to_by_others_does_no_harm(fleet):
    # As an older Assay or a person does it: the pooler gives that session to the next.
    leaked = (
        "SET default_transaction_read_only TO on; SET search_path TO nowhere; SET bytea_output TO escape; "
        "SET extra_float_digits TO -15; SET synchronous_commit TO off"
    )
    fleet.plan("toy", "--runs", 2, "--name", "first")
    say(fleet, leaked)
    assert say(fleet, "SHOW default_transaction_read_only") == ["on"], "it does leak"
    assert fleet.start_agent("--patience", "3").wait(LIMIT_SECONDS) == 0, fleet.agents[0].log.read_text()
    assert fleet.plan("toy", "--batch", "2", "--runs", 1, "--name", "second")["new_runs"] == 1
    assert fleet.counted() == (3, 2, 0)
    through = fleet.assay("export", "--format", "jsonl").stdout
    assert through == fleet.assay("export", "--format", "jsonl", store=fleet.url()).stdout
    assert len(through.splitlines()) == 2


def test_an_agent_whose_server_is_away_behind_the_pooler_waits(fleet):
    fleet.plan("toy", "--runs", 3, seconds="1s")
    agent = fleet.start_agent()
    fleet.wait_for("SELECT count(*) FROM assay.run WHERE state = 1", "no run was taken")
    fleet.server.kill()
    wait_for_words(agent, "waiting:", "is away", "could not be renewed")
    fleet.server.start()
    assert agent.wait(LIMIT_SECONDS) == 0, agent.log.read_text()
    assert fleet.counted() == (3, 3, 0)


def test_a_role_keeps_its_rights_through_the_pooler(fleet):
    fleet.plan("toy", "--runs", 1, "--name", "mine")
    fleet.plan("toy", "--batch", 2, "--runs", 1, "--name", "other")
    fleet.assay("store", "allow", "agent", "worker", "--campaign", "mine")
    assert fleet.start_agent(store=fleet.bouncer.url(fleet.database, "worker")).wait(LIMIT_SECONDS) == 0
    assert fleet.counted()[:2] == (2, 1)


def test_planted_a_reader_that_sets_its_session_makes_agents_end(fleet):
    codes, counted = read_while_agents_work(fleet, "assay-planted-session_settings")
    assert any(codes) or counted[1] < 8
