"""Two agents on one store and one host: every run once, one at a time, and a lost lease writes nothing."""

import itertools
import signal
import time

import pytest

# Steps of 20 ms that really take their time: 5 of them are a run of 100 ms.
PACED = ["--worker", "fake", "--option", "pace=1", "--option", "base_ns=20000000", "--option", "per_sample_ns=0",
         "--option", "noise=0", "--warmup", "0", "--retries", "0", "--quiet"]  # fmt: skip
SHORT = [*PACED, "--seconds", "100ms"]
LONG = [*PACED, "--seconds", "700ms", "--runs", "1", "--no-host-lock", "--no-phases"]


def spans(records):
    """When each run was measuring, by the clock of this host, in order of time."""
    slices = [[part for rank in record["ranks"] for part in rank["slices"]] for record in records]
    return sorted((min(part["begin_ns"] for part in run), max(part["end_ns"] for part in run)) for run in slices)


def assert_one_at_a_time(records):
    ordered = spans(records)
    for (_, end), (begin, _) in itertools.pairwise(ordered):
        assert end <= begin, "two runs overlapped in time"


def assert_every_run_once(place, runs):
    counted, everything = place.records(), place.records(all_attempts=True)
    assert len(counted) == len(everything) == runs
    assert len({(record["trial"], record["index"]) for record in counted}) == runs
    assert all(record["outcome"]["kind"] == "ok" for record in counted)
    assert place.rows("SELECT count(*) FROM run WHERE state = 2") == [(runs,)]


def two_agents_on_one_store(place, planted=None):
    command = ["run", "toy", "--store", place.store, "--batch", "1,2", "--runs", "5", *SHORT]
    agents = [place.start(*command, planted=planted) for _ in range(2)]
    for agent in agents:
        assert agent.wait().code == 0
    return place.records()


def test_two_agents_on_one_store_measure_every_run_once_and_one_at_a_time(place):
    records = two_agents_on_one_store(place)
    assert_every_run_once(place, 10)
    assert_one_at_a_time(records)
    assert place.left() == []


def test_the_check_for_overlap_sees_a_missing_host_lock(place):
    records = two_agents_on_one_store(place, planted="no_host_lock")
    with pytest.raises(AssertionError, match="overlapped"):
        assert_one_at_a_time(records)


def test_campaigns_in_two_stores_share_the_host_lock(places):
    """Here each agent has work of its own, so that both must take their turns."""
    here, there = places("here"), places("there")
    lock = {"ASSAY_HOST_LOCK": here.path / "host.lock"}
    agents = [place.start("run", "toy", "--runs", "5", *SHORT, **lock) for place in (here, there)]
    for agent in agents:
        assert agent.wait().code == 0
    for place in (here, there):
        assert_every_run_once(place, 5)
    assert_one_at_a_time(here.records() + there.records())


def test_without_the_host_lock_two_agents_share_the_runs(place):
    command = ["run", "toy", "--runs", "8", "--no-host-lock", *SHORT]
    agents = [place.start(*command) for _ in range(2)]
    for agent in agents:
        assert agent.wait().code == 0
    assert_every_run_once(place, 8)
    owners = {pid for (pid,) in place.rows("SELECT owner_pid FROM run")}
    assert owners == {agent.pid for agent in agents}


def runs(place, *programs):
    return any(place.name_of(pid) in programs for pid in place.marked())


def leased_to(place, agent):
    """Whether the agent holds a run and its worker is at work."""
    if not place.store.exists() or not place.rows("SELECT 1 FROM sqlite_master WHERE name = 'run'"):
        return False
    held = place.rows(f"SELECT 1 FROM run WHERE state = 1 AND owner_pid = {agent.pid}")
    return held and runs(place, "assay-worker-fake")


RUN = "SELECT key, state, attempt, epoch, owner_pid, lease_end_ms FROM run"
RECORD = "SELECT key, run, attempt, counted, outcome, started_utc, duration_ns, samples FROM record"


def stop_the_owner(place, planted=None):
    """The owner of the only run is stopped, another agent takes the run, and then the owner goes on.

    Returns the store's rows before the owner went on and after, and the agent that took the run.
    """
    command = ["run", "toy", "--lease", "1", *LONG]
    owner = place.start(*command, planted=planted)
    place.until(lambda: leased_to(place, owner), "the first agent is at work")
    owner.signal(signal.SIGSTOP)
    place.until(lambda: not runs(place, "assay-rank", "assay-worker-fake"), "the run of the stopped agent is complete")
    other = place.start(*command)
    ended = other.wait()
    assert ended.code == 0
    before = place.rows(RUN), place.rows(RECORD)
    owner.signal(signal.SIGCONT)
    late = owner.wait()
    assert late.code == 0
    assert place.left() == []
    return before, (place.rows(RUN), place.rows(RECORD)), other, late


def assert_the_late_owner_wrote_nothing(place, before, after, other):
    assert after == before, "the owner that had lost its lease wrote to the store"
    [(_, state, attempt, epoch, owner, _)] = after[0]
    assert (state, attempt, epoch, owner) == (2, 0, 2, other.pid)
    assert_every_run_once(place, 1)


def test_an_owner_that_was_stopped_beyond_its_lease_writes_nothing(place):
    before, after, other, late = stop_the_owner(place)
    assert_the_late_owner_wrote_nothing(place, before, after, other)
    assert "gave this run to another agent" in late.stderr


def test_the_check_of_the_late_owner_sees_a_missing_claim_check(place):
    before, after, other, _ = stop_the_owner(place, planted="no_claim_check")
    with pytest.raises(AssertionError, match="wrote to the store"):
        assert_the_late_owner_wrote_nothing(place, before, after, other)


def test_a_result_that_is_late_but_taken_by_nobody_counts(place):
    agent = place.start("run", "toy", "--lease", "1", *LONG)
    place.until(lambda: leased_to(place, agent), "the agent is at work")
    agent.signal(signal.SIGSTOP)
    over = "SELECT lease_end_ms FROM run WHERE lease_end_ms < {:.0f}"
    now_ms = lambda: time.clock_gettime(time.CLOCK_BOOTTIME) * 1000  # noqa: E731
    place.until(lambda: place.rows(over.format(now_ms())), "the lease has run out")
    agent.signal(signal.SIGCONT)
    assert agent.wait().code == 0
    assert_every_run_once(place, 1)
    assert place.rows("SELECT epoch FROM run") == [(1,)]


@pytest.mark.parametrize("lock", [[], ["--no-host-lock"]], ids=["with-host-lock", "without-host-lock"])
def test_a_dead_owner_loses_its_lease_at_once(place, lock):
    command = ["run", "toy", "--runs", "2", "--seconds", "1s", *PACED, *lock]  # the lease is 60 s
    owner = place.start(*command)
    place.until(lambda: leased_to(place, owner), "the agent is at work")
    owner.signal(signal.SIGKILL)
    assert owner.wait().code == -signal.SIGKILL
    ended = place.assay(*command, seconds=90)
    assert ended.seconds < 55, "it waited for the lease of a dead process"
    assert_every_run_once(place, 2)
    assert place.rows("SELECT epoch FROM run ORDER BY epoch") == [(1,), (2,)]
    assert place.left() == []


def test_a_pair_that_lost_its_owner_is_measured_again_together(place):
    command = ["run", "toy", "--batch", "1,2", "--lockstep", "--seconds", "500ms", "--runs", "1", *PACED]
    owner = place.start(*command)
    place.until(lambda: leased_to(place, owner), "the agent is at work")
    owner.signal(signal.SIGKILL)
    owner.wait()
    place.assay(*command, seconds=30)
    assert_every_run_once(place, 2)
    assert len({record["pair"]["id"] for record in place.records()}) == 1
    assert place.rows("SELECT epoch FROM run") == [(2,), (2,)]


def test_the_same_campaign_in_two_stores_does_not_mix(places):
    """The same command in two folders is the same campaign id; its runs must not share folders or marks."""
    here, there = places("here"), places("there")
    agents = [place.start("run", "toy", *LONG, TMPDIR=here.temporary) for place in (here, there)]
    for agent in agents:
        ended = agent.wait()
        assert ended.code == 0, ended.stdout + ended.stderr
    for place in (here, there):
        assert_every_run_once(place, 1)


def test_going_on_after_a_kill_ends_nothing_of_another_store(places):
    here, there = places("here"), places("there")
    command = ["run", "toy", *LONG]
    killed = there.start(*command)
    there.until(lambda: leased_to(there, killed), "the agent is at work")
    killed.signal(signal.SIGKILL)
    killed.wait()
    other = here.start(*command)
    here.until(lambda: leased_to(here, other), "the other agent is at work")
    there.assay(*command, seconds=30)
    ended = other.wait()
    assert ended.code == 0, f"its worker was ended by the agent of another store:\n{ended.stdout}{ended.stderr}"
    assert_every_run_once(here, 1)
