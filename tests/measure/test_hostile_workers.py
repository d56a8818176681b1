"""Whatever a worker does: a typed outcome, no process left, bounded memory and time, no harm to its neighbours."""

import functools
import hashlib
import json
import pathlib
import re
import signal

import pytest

README = pathlib.Path(__file__).resolve().parents[2] / "workers" / "fake" / "README.md"
ROW = re.compile(r"^\| `(\w+)` \| ([a-z, ]+) \| .* \| ([a-z_]+)([^|]*) \|$", re.MULTILINE)
NAMED_BY_THE_ISSUE = {
    "line_1gb", "truncated_json", "nested_json", "duplicate_key", "nan_sample", "bad_utf8", "flood_stdout",
    "flood_stderr", "silence", "silent_prepare", "slow_drip", "exit_0_without_result", "two_results", "fork_setsid",
    "fork_tree", "ignore_sigterm", "sigstop_self", "memory_blowup", "wrong_protocol", "crash_segv", "exit_3",
}  # fmt: skip
AFTER_THE_ANSWER = {"stops_reading", "unasked_message", "two_results"}  # found out at the next command
LIMIT, PREPARE_LIMIT, TREE_DEAD = 1.0, 2.0, 10.0
MOST_GROWTH_BYTES = 64 << 20
STAGES = ["prepare", "measure", "exit"]
BRIEF = ["--quiet", "--runs", "1", "--retries", "0", "--warmup", "0", "--seconds", "50ms", "--max-samples", "20"]
LIMITS = ["--limit", f"{LIMIT}s", "--prepare-limit", f"{PREPARE_LIMIT}s", "--memory-limit", "256M"]


def table():
    """Per misbehaviour: its stages, the outcome, and what is said of it besides."""
    rows = ROW.findall(README.read_text())
    return {name: (stages.split(", "), outcome, more) for name, stages, outcome, more in rows}


CASES = [(name, stage) for name, (stages, _, _) in table().items() for stage in stages]


def campaign(hostile=None):
    """Two neighbours and, between them, a trial that differs only in how its worker behaves."""
    entry = "  - {network: toy, worker: fake, batch: %d, options: {%s}}\n"
    text = "name: neighbours\ntrials:\n" + entry % (1, "") + entry % (4, "")
    return text + entry % (2, f"misbehave: {hostile[0]}, misbehave_at: {hostile[1]}") if hostile else text


def seed_with_the_hostile_run_between(place, file):
    """Runs of a block are taken in the order of hash(seed, trial, index): see DESIGN, Order."""
    plan = place.assay("run", file, "--dry-run", "--json").json()["trials"]
    ids = [trial["trial_id"] for trial in plan]

    def order(seed):
        return sorted(ids, key=lambda one: hashlib.sha256(f"order {seed} {one} 0".encode()).digest()[:8])

    return next(seed for seed in range(1, 100) if order(seed)[1] == ids[2]), ids


def samples(records):
    return {record["trial"]: [rank["samples_ns"] for rank in record["ranks"]] for record in records}


def assert_no_process_left(place):
    assert place.left() == []


def assert_memory_is_bounded(ended, clean):
    assert ended.peak_bytes - clean.peak_bytes <= MOST_GROWTH_BYTES, "the agent grew"
    assert ended.rank_peak_bytes - clean.rank_peak_bytes <= MOST_GROWTH_BYTES, "assay-rank grew"


@functools.cache
def clean_campaign(make, seed):
    """The program that ended and the samples of the same neighbours by themselves: the same for each hostile worker."""
    quiet = make(f"clean-{seed}")
    ended = quiet.assay("run", quiet.write("clean.yaml", campaign()), *BRIEF, *LIMITS, "--seed", seed)
    return ended, samples(quiet.records())


@pytest.fixture
def neighbours(places, common_places):
    """Runs a hostile worker between its neighbours."""
    return functools.partial(run_between_neighbours, places, common_places)


def run_between_neighbours(places, common_places, case, planted=None):
    """The hostile record, the program that ended, and the one of a clean campaign of the same neighbours."""
    place = places("hostile")
    file = place.write("hostile.yaml", campaign(case))
    seed, ids = seed_with_the_hostile_run_between(place, file)
    clean, clean_samples = clean_campaign(common_places, seed)
    flags = [*BRIEF, *LIMITS, "--seed", seed]
    ended = place.assay("run", file, *flags, expect=None, planted=planted)
    assert_no_process_left(place)
    records = place.records()
    by_start = sorted(records, key=lambda record: record["started_utc"])
    assert [record["trial"] == ids[2] for record in by_start] == [False, True, False]
    neighbours = [record for record in records if record["trial"] != ids[2]]
    assert samples(neighbours) == clean_samples
    assert all(record["outcome"]["kind"] == "ok" for record in neighbours)
    return by_start[1], ended, clean


def test_every_misbehaviour_that_the_issue_names_is_in_the_table():
    assert len(table()) >= 43
    assert set(table()) >= NAMED_BY_THE_ISSUE


@pytest.mark.parametrize(("name", "stage"), CASES, ids=[f"{name}-{stage}" for name, stage in CASES])
def test_a_hostile_worker_gets_a_typed_outcome_and_its_neighbours_do_not_notice(neighbours, name, stage):
    expected, remark = table()[name][1:]
    record, ended, clean = neighbours((name, stage))
    outcome = record["outcome"]
    assert outcome["kind"] == expected, json.dumps(outcome)[:500]
    assert ended.code == (0 if expected == "ok" else 4)
    if expected == "ok":
        assert record["summary"]["median_ns"] > 0
    else:
        found_at = STAGES[STAGES.index(stage) :] if name in AFTER_THE_ANSWER else [stage]
        assert outcome["stage"] in found_at
        assert outcome["message"]
    for field in ("exit_code", "signal"):
        if told := re.search(rf"{field} (\d+)", remark):
            assert outcome[field] == int(told[1])
    assert_memory_is_bounded(ended, clean)
    limit = PREPARE_LIMIT if stage == "prepare" else LIMIT
    assert record["duration_ns"] / 1e9 <= limit + TREE_DEAD
    assert len(outcome["stderr_tail"] or "") <= 16 << 10


def test_the_memory_check_sees_an_unlimited_line(neighbours):
    with pytest.raises(AssertionError, match="assay-rank grew"):
        _, ended, clean = neighbours(("line_1gb", "measure"), planted="no_line_limit")
        assert_memory_is_bounded(ended, clean)


def kill_the_agent(place, name, planted=None):
    """Kills the agent itself with SIGKILL while a worker and its child hang; assay-rank alone is left to end them."""
    agent = place.start("run", "toy", "--worker", "fake", "--option", f"misbehave={name}", *BRIEF, planted=planted)

    def workers():
        return [pid for pid in place.marked() if place.name_of(pid) == "assay-worker-fake"]

    place.until(lambda: len(workers()) >= 2, "the worker and its child are there")
    agent.signal(signal.SIGKILL)
    agent.wait()
    place.until(lambda: not place.marked() and not place.orphans(), "the tree is dead", TREE_DEAD)


@pytest.mark.parametrize("name", ["fork_setsid", "fork_tree"])
def test_no_process_is_left_when_the_agent_is_killed(place, name):
    kill_the_agent(place, name)


def test_the_process_check_sees_a_tree_that_was_not_ended(place):
    with pytest.raises(AssertionError, match="the tree is dead"):
        kill_the_agent(place, "fork_setsid", planted="no_tree_kill")


def test_the_agent_ends_what_a_broken_rank_leaves(neighbours):
    """Defence in depth: the bug above is harmless while the agent lives, because the tree comes to it."""
    record, _, _ = neighbours(("fork_setsid_ok", "measure"), planted="no_tree_kill")
    assert record["outcome"]["kind"] == "ok"
