"""Agents through the loss of a primary: a streaming standby takes over, and no run is lost, stolen or done twice."""

import os
import pathlib
import signal
import tempfile
import time

import pytest
from postgres_server import PostgresServer, Standby, url_of, why_not
from test_agents import LIMIT_SECONDS, Fleet

pytestmark = pytest.mark.skipif(bool(why_not()), reason=str(why_not()))


@pytest.fixture
def fleet():
    """A primary whose commits wait for its standby, and a store whose URL names both."""
    with tempfile.TemporaryDirectory(prefix="assay-sb-") as folder, tempfile.TemporaryDirectory(prefix="led-") as own:
        os.chmod(folder, 0o755)
        primary = PostgresServer(pathlib.Path(folder) / "one").start()
        standby = Standby(primary, pathlib.Path(folder) / "two").start()
        standby.wait_until_equal()
        primary.ask("ALTER SYSTEM SET synchronous_standby_names TO '*'")
        primary.ask("SELECT pg_reload_conf()")
        one = Fleet(primary, pathlib.Path(own))
        one.standby = standby
        one.store = url_of([primary, standby], one.database, target_session_attrs="read-write")
        try:
            yield one
        finally:
            for agent in one.agents:
                agent.kill()
                agent.wait()
            primary.stop()
            standby.stop()


def fail_over(fleet, stay=lambda: None):
    """The primary dies; its standby takes over, after `stay`."""
    fleet.server.kill()
    stay()
    fleet.standby.promote()
    fleet.server = fleet.standby  # whom the test asks from now on


def wait_for_words(agent, *words):
    deadline = time.monotonic() + LIMIT_SECONDS
    while not any(word in agent.log.read_text() for word in words):
        assert agent.poll() is None, agent.log.read_text()
        assert time.monotonic() < deadline, "the agent did not notice: " + agent.log.read_text()
        time.sleep(0.05)


def test_an_agent_goes_on_with_the_standby_that_was_promoted(fleet):
    fleet.plan("toy", "--runs", 4, seconds="1s")
    primary = fleet.server
    agent = fleet.start_agent()
    fleet.wait_for("SELECT count(*) FROM assay.record", "no run was finished")
    fleet.wait_for("SELECT count(*) FROM assay.run WHERE state = 1", "no run was taken")
    fail_over(fleet, lambda: wait_for_words(agent, "waiting:", "could not be renewed", "is away"))
    assert agent.wait(LIMIT_SECONDS) == 0, agent.log.read_text()
    assert fleet.counted() == (4, 4, 0)
    primary.stop()


def test_while_only_a_standby_answers_agents_wait_and_readers_read(fleet):
    fleet.plan("toy", "--runs", 1, "--name", "shown")
    fleet.standby.wait_until_equal()
    alone = fleet.standby.url(fleet.database)
    assert "shown" in fleet.assay("show", "--all", store=alone).stdout
    impatient = fleet.start_agent("--patience", "0", store=alone)
    assert impatient.wait(LIMIT_SECONDS) == 1
    assert "takes no writes" in impatient.log.read_text()
    agent = fleet.start_agent(store=alone)
    wait_for_words(agent, "takes no writes")
    fail_over(fleet)
    assert agent.wait(LIMIT_SECONDS) == 0, agent.log.read_text()
    assert fleet.counted() == (1, 1, 0)


def test_the_time_that_a_server_is_up_begins_with_its_promotion(fleet):
    fleet.plan("toy", "--runs", 1)
    before = fleet.number("SELECT assay.up_since_ms()")
    assert fleet.number("SELECT assay.up_since_ms()") == before
    fail_over(fleet)
    (promoted,) = fleet.ask("SELECT assay.now_ms()")
    assert fleet.number("SELECT assay.up_since_ms()") >= int(promoted) > before
    # What was used before counts since the standby began to copy.
    started = fleet.number("SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000)::bigint")
    assert started < before


def is_stolen(fleet):
    """Whether an agent of another host gets a run whose lease ran out while nobody could renew it: a standby that has
    been running for longer than the lease takes over. Both agents work to their end."""
    owner = fleet.start_agent("--lease", "20")
    fleet.wait_for("SELECT count(*) FROM assay.run WHERE state = 1", "no run was taken")
    owner.send_signal(signal.SIGSTOP)
    fleet.ask(
        "UPDATE assay.run SET owner_boot_id = 'elsewhere', lease_end_ms = assay.now_ms() - 10000, "
        "overdue_ms = assay.now_ms() - 10000"
    )
    deadline = time.monotonic() + LIMIT_SECONDS
    while fleet.standby.ask("SELECT clock_timestamp() - pg_postmaster_start_time() > '20 s'") != ["t"]:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    fail_over(fleet)
    other = fleet.start_agent(store=fleet.store + "&application_name=elsewhere")
    taken = f"SELECT count(*) FROM assay.run WHERE owner_pid = {other.pid}"
    while not (stolen := fleet.number(taken)) and "in the hands of other agents" not in other.log.read_text():
        assert time.monotonic() < deadline, other.log.read_text()
        time.sleep(0.05)
    owner.send_signal(signal.SIGCONT)
    for agent in (owner, other):
        assert agent.wait(LIMIT_SECONDS) == 0, agent.log.read_text()
    assert fleet.counted() == (1, 1, 0)
    return bool(stolen)


def test_a_promotion_steals_no_run(fleet):
    fleet.plan("toy", "--runs", 1, seconds="2s")
    assert not is_stolen(fleet)
    assert "gave this run to another" not in fleet.agents[0].log.read_text()


def test_planted_a_server_that_is_up_since_its_start_lets_runs_be_stolen(fleet):
    fleet.plan("toy", "--runs", 1, seconds="2s")
    fleet.ask(
        "CREATE OR REPLACE FUNCTION assay.up_since_ms() RETURNS bigint LANGUAGE sql AS "
        "'SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000)::bigint'"
    )
    assert is_stolen(fleet)
