"""Runs of a lock-step group take strict turns and stand or fall together; instances begin at one deadline."""

import contextlib
import itertools
import json
import math
import sqlite3
import statistics

import pytest

STEPS = 3
BRIEF = ["--quiet", "--retries", "0", "--pair-steps", str(STEPS), "--limit", "1s", "--prepare-limit", "2s"]


def pair_file(place, first="", second="", runs=2, measure="warmup_seconds: 20ms, seconds: 60ms"):
    """Two trials of the toy network; their options as YAML."""
    text = f"name: pair\nlockstep: true\nruns: {runs}\nmeasure: {{{measure}}}\ntrials:\n"
    for batch, options in ((1, first), (2, second)):
        text += f"  - {{network: toy, worker: fake, batch: {batch}, options: {{{options}}}}}\n"
    return place.write("pair.yaml", text)


def pairs(records):
    """The records of each pair, side a first."""
    ordered = sorted(records, key=lambda record: (record["pair"]["id"], record["pair"]["side"]))
    found = [tuple(group) for _, group in itertools.groupby(ordered, key=lambda record: record["pair"]["id"])]
    assert all([record["pair"]["side"] for record in pair] == ["a", "b"] for pair in found)
    return found


def slices_of(record):
    [rank] = record["ranks"]
    return rank["slices"]


def test_partners_share_a_pair_id_and_the_index(place):
    place.assay("run", pair_file(place, runs=3), *BRIEF)
    found = pairs(place.records())
    assert len(found) == 3
    assert sorted(pair[0]["index"] for pair in found) == [0, 1, 2]
    for a, b in found:
        assert a["index"] == b["index"]
        assert a["trial"] != b["trial"]
    assert len({a["trial"] for a, _ in found}) == 1, "a trial changed sides"


def test_the_flag_makes_groups_of_a_file_too(place):
    path = pair_file(place, runs=1)
    place.write("pair.yaml", (place.path / "pair.yaml").read_text().replace("lockstep: true\n", ""))
    place.assay("run", path, "--lockstep", *BRIEF)
    assert len(pairs(place.records())) == 1


def test_a_run_on_its_own_has_no_pair(place):
    place.assay("run", "toy", "--worker", "fake", "--batch", "1,2", "--runs", "1", "--seconds", "10ms", *BRIEF)
    assert [record["pair"] for record in place.records()] == [None, None]


def test_slices_alternate_with_the_order_swapped_each_round(place):
    place.assay("run", pair_file(place, "pace: 1, noise: 0", "pace: 1, noise: 0"), *BRIEF)
    for pair in pairs(place.records()):
        turns = sorted((part["turn"], side, part) for side, record in zip("ab", pair, strict=True)
                       for part in slices_of(record))  # fmt: skip
        assert [turn for turn, _, _ in turns] == list(range(len(turns))), "a turn is missing or was taken twice"
        order = "".join(side for _, side, _ in turns)
        assert order == ("abba" * len(order))[: len(order)]
        assert len(order) % 2 == 0, "one side had a slice more than the other"
        assert len(order) >= 8
        for (_, _, earlier), (_, _, later) in itertools.pairwise(turns):
            assert earlier["end_ns"] <= later["begin_ns"], "a slice began before its partner's had ended"


def test_the_first_round_is_the_warm_up_and_each_later_slice_has_pair_steps_samples(place):
    place.assay("run", pair_file(place), *BRIEF)
    for pair in pairs(place.records()):
        for record in pair:
            slices = slices_of(record)
            assert [part["warmup"] for part in slices] == [part["turn"] < 2 for part in slices]
            assert all(part["samples"] == 1 + STEPS for part in slices[1:]), "one step settles"
            assert sum(part["samples"] for part in slices) == len(record["ranks"][0]["samples_ns"])
            assert record["summary"]["steady_from"] == slices[0]["samples"]


def test_without_warm_up_the_turns_of_the_warm_up_are_left_out(place):
    place.assay("run", pair_file(place, runs=1, measure="warmup_seconds: 0, seconds: 60ms"), *BRIEF)
    for record in place.records():
        assert all(part["turn"] >= 2 and not part["warmup"] for part in slices_of(record))


def test_max_samples_ends_both_sides_in_the_same_round(place):
    place.assay("run", pair_file(place, runs=1), *BRIEF, "--max-samples", "10", "--warmup", "0", "--seconds", "10s")
    for record in place.records():
        assert [part["samples"] for part in slices_of(record)] == [4, 4, 2]


def test_details_are_measured_on_both_sides_after_the_last_slice(place):
    place.assay("run", pair_file(place, runs=1), *BRIEF, "--phases", "--layers")
    for record in place.records():
        [rank] = record["ranks"]
        assert len(rank["phase_step_ns"]) == len(rank["phases_ns"]["forward"]) > 0
        assert [layer["node"] for layer in rank["layers"]] == ["layer1", "layer2", "layer3", "layer4"]


SCALES = [1, 1.5, 0.8, 1.1, 2]


def group_records(place, *words, runs=2):
    """Five trials in lock-step; of each group its records, in the order of SCALES."""
    scales = ",".join(map(str, SCALES))
    place.assay("run", "toy", "--worker", "fake", "--option", "pace=1", "--option", f"scale={scales}", "--lockstep",
                "--runs", str(runs), "--warmup", "20ms", "--seconds", "60ms", *BRIEF, *words)  # fmt: skip
    found = {}
    for record in place.records():
        found.setdefault(record["pair"]["id"], []).append(record)
    planned = place.assay("run", "toy", "--worker", "fake", "--option", "pace=1", "--option", f"scale={scales}",
                          "--lockstep", "--dry-run", "--json")  # fmt: skip
    place_of = {trial["trial_id"]: at for at, trial in enumerate(json.loads(planned.stdout)["trials"])}
    return [sorted(group, key=lambda record: place_of[record["trial"]]) for group in found.values()]


def test_five_sides_take_turns_in_rounds_that_begin_with_each_in_turn(place):
    groups = group_records(place)
    assert len(groups) == 2
    for group in groups:
        assert [record["pair"]["side"] for record in group] == ["a", "b", "b", "b", "b"]
        turns = sorted((part["turn"], side, part) for side, record in enumerate(group) for part in slices_of(record))
        assert [turn for turn, _, _ in turns] == list(range(len(turns))), "a turn is missing or was taken twice"
        rounds = [[side for _, side, _ in turns[at : at + 5]] for at in range(0, len(turns), 5)]
        assert len(rounds) >= 4
        for number, order in enumerate(rounds):
            assert sorted(order) == [0, 1, 2, 3, 4], "a round has a slice of each side"
            assert order[0] == number % 5
        for (_, _, earlier), (_, _, later) in itertools.pairwise(turns):
            assert earlier["end_ns"] <= later["begin_ns"], "a slice began before the one before it had ended"
        assert [record["outcome"]["kind"] for record in group] == ["ok"] * 5


def test_each_side_of_a_group_has_its_ratio_to_the_first(place):
    for group in group_records(place):
        medians = []
        for record in group:
            [rank] = record["ranks"]
            of_round, at = {}, 0
            for part in rank["slices"]:
                samples = rank["samples_ns"][at : at + part["samples"]]
                at += part["samples"]
                if not part["warmup"]:
                    of_round[part["turn"] // 5] = statistics.median(samples[1:])  # the first step settles
            medians.append(of_round)
        assert group[0]["pair_log_ratio"] is None, "it is the reference"
        for record, of_round in zip(group[1:], medians[1:], strict=True):
            expected = statistics.median(math.log(of_round[r] / medians[0][r]) for r in of_round)
            assert record["pair_log_ratio"] == pytest.approx(expected, abs=1e-12)
        for record, scale in zip(group[1:], SCALES[1:], strict=True):
            assert math.exp(record["pair_log_ratio"]) == pytest.approx(scale, rel=0.1)


def test_a_failure_of_one_side_ends_the_whole_group(place):
    text = "name: group\nlockstep: true\nruns: 2\nmeasure: {warmup_seconds: 20ms, seconds: 60ms}\ntrials:\n"
    for batch in (1, 2, 3, 4):
        bad = "misbehave: crash_segv, misbehave_at: measure, misbehave_step: 25" if batch == 3 else ""
        text += f"  - {{network: toy, worker: fake, batch: {batch}, options: {{{bad}}}}}\n"
    place.assay("run", place.write("group.yaml", text), *BRIEF, expect=4)
    assert place.left() == []
    kinds = [record["outcome"]["kind"] for record in place.records(all_attempts=True)]
    assert sorted(kinds) == ["crashed"] * 2 + ["interrupted"] * 6


def test_a_group_that_does_not_fit_in_memory_is_refused_with_the_figures(place):
    """By what its trials took before, which this store says was a pebibyte each."""
    words = ["run", "toy", "--worker", "fake", "--batch", "1,2,3", "--lockstep", "--seconds", "20ms", *BRIEF]
    place.assay(*words, "--runs", "1")
    with contextlib.closing(sqlite3.connect(place.store)) as database, database:
        database.execute("UPDATE record SET digest = json_set(digest, '$.peak_memory_bytes', 1125899906842624)")
    ended = place.assay(*words, "--runs", "2", expect=1)
    assert "lockstep: 3 trials alive at once need 3072 TiB, and " in ended.stderr
    assert ended.stderr.count("1024 TiB (measured before)") == 3
    assert place.left() == []
    assert place.rows("SELECT runs, ready, leased, done FROM progress") == [(6, 3, 0, 3)], "the group was given back"


FAILURES = [
    ("crash_segv", "crashed", ["prepare", "measure", "exit"]),
    ("truncated_json", "bad_output", ["prepare", "measure", "exit"]),
    ("error_failed", "failed", ["prepare", "measure"]),
    ("silence", "timed_out", ["prepare", "measure", "exit"]),
    ("fork_setsid", "timed_out", ["measure"]),
]
CASES = [(name, kind, stage) for name, kind, stages in FAILURES for stage in stages]


@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize(("name", "kind", "stage"), CASES)
def test_a_failure_of_one_side_ends_both(place, name, kind, stage, side):
    bad = f"misbehave: {name}, misbehave_at: {stage}, misbehave_step: {0 if stage == 'prepare' else 25}"
    first, second = (bad, "") if side == "a" else ("", bad)
    ended = place.assay("run", pair_file(place, first, second, runs=1), *BRIEF, expect=4)
    assert ended.seconds < 40, "the default limits are minutes"
    assert place.left() == []
    [pair] = pairs(place.records(all_attempts=True))
    failed, other = pair if side == "a" else reversed(pair)
    assert failed["outcome"]["kind"] == kind
    assert failed["outcome"]["stage"] == stage
    if stage == "exit":
        assert other["outcome"]["kind"] in ("ok", "interrupted"), "it had measured all there was to measure"
    else:
        assert other["outcome"]["kind"] == "interrupted"
        assert other["outcome"]["message"]
    assert failed["counted"] and other["counted"]


def test_the_next_pair_runs_after_a_pair_that_failed(place):
    place.assay("run", pair_file(place, second="misbehave: crash_segv, misbehave_step: 25", runs=3), *BRIEF, expect=4)
    found = pairs(place.records())
    assert len(found) == 3
    assert [(a["outcome"]["kind"], b["outcome"]["kind"]) for a, b in found] == [("interrupted", "crashed")] * 3


@pytest.mark.timing
def test_instances_begin_at_one_deadline(place):
    place.assay("run", "toy", "--worker", "fake", "--option", "pace=1", "--instances", "2", "--runs", "5",
                "--warmup", "0", "--seconds", "30ms", *BRIEF)  # fmt: skip
    apart = []
    for record in place.records():
        first = [rank["slices"][0]["begin_ns"] for rank in record["ranks"]]
        assert len(first) == 2
        apart.append(abs(first[0] - first[1]))
    assert statistics.median(apart) < 5e6, f"they began {apart} ns apart"


def test_an_instance_that_fails_ends_the_others(place):
    """The environment is common to all instances, so both fail; what counts is that the run ends with one outcome."""
    place.assay("run", "toy", "--worker", "fake", "--option", "misbehave=crash_segv", "--instances", "3", "--runs", "1",
                "--seconds", "30ms", *BRIEF, expect=4)  # fmt: skip
    [record] = place.records()
    assert record["outcome"]["kind"] == "crashed"
    assert {rank["outcome"]["kind"] for rank in record["ranks"]} <= {"crashed", "interrupted"}
    assert place.left() == []


SPINNER = """
import os, sys, threading, time
sys.path.insert(0, {common!r})
import assay_worker

class Spinner(assay_worker.Framework):
    def prepare(self, prepare):
        def spin():
            while True:
                pass
        threading.Thread(target=spin, daemon=True).start()
        return assay_worker.Prepared(versions={{}}, parameters=0)

    def step(self):
        time.sleep(0.01)

sys.exit(assay_worker.serve(Spinner))
"""


@pytest.mark.timing
def test_a_partner_stands_still_while_it_waits(place):
    """A thread that spins for ever may do so only in its own side's turns: half of the time."""
    folder = place.path / "workers" / "spinner"
    folder.mkdir(parents=True)
    described = {"name": "spinner", "release": "1", "protocol": 1, "argv": ["python3", str(folder / "worker.py")]}
    (folder / "worker.json").write_text(json.dumps({**described, "networks": ["toy"], "modes": ["infer"]}))
    (folder / "worker.py").write_text(SPINNER.format(common=str(place.root / "workers" / "common")))
    place.assay("run", "toy", "--worker", "spinner", "--batch", "1,2", "--lockstep", "--runs", "1", "--seconds", "1s",
                "--no-phases", *BRIEF, ASSAY_WORKERS=folder.parent)  # fmt: skip
    for record in place.records():
        disturbance = record["ranks"][0]["disturbance"]
        assert record["outcome"]["kind"] == "ok"
        assert disturbance["cpu_ns"] < 0.75 * disturbance["window_ns"]
