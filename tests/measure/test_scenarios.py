"""MLPerf's scenarios on a worker in process: what is served when, and from which time it counts."""

import csv
import io
import itertools
import random

import pytest

STEP_NS = 300_000  # of the fake worker's law: 200,000 and 100,000 for each sample
FAKE = ("--worker", "fake", "--option", "noise=0", "--runs", 1, "--no-peak", "--quiet", "--retries", 0)


def measured(place, *flags, **options):
    """The record of one run, its point, and its stamps as numbers."""
    place.assay("run", "toy", *FAKE, *flags, "--store", place.store, **options)
    [record] = place.records()
    load = record["ranks"][0]["load"]
    rows = [
        {name: int(text) for name, text in row.items() if name.endswith("_ns") and text}
        for row in csv.DictReader(io.StringIO(load["stamps"]))
    ]
    return record, load["point"], rows


def latencies(record):
    """Of the queries: what comes after the warm-up."""
    warm = sum(one["samples"] for one in record["ranks"][0]["slices"] if one["warmup"])
    return record["ranks"][0]["samples_ns"][warm:]


def lindley(rows, service_ns):
    """Waits of a queue before one server: what was left of the wait and the service before when the next one came."""
    times, wait = [], 0
    for before, row in zip([None, *rows], rows, strict=False):
        if before is not None:
            wait = max(0, wait + service_ns - (row["due_ns"] - before["due_ns"]))
        times.append(wait + service_ns)
    return times


def check_server(place, **options):
    """Steps of 300 us at 2,800 queries a second: 84 % load, in virtual time."""
    record, point, rows = measured(place, "--scenario", "server", "--rate", 2800, "--seconds", "1s", **options)
    assert len(rows) == 2800 and point["outcomes"] == {"ok": 2800}
    expected = lindley(rows, STEP_NS)
    assert max(expected) > 5 * STEP_NS, "the schedule has no queue to speak of"
    # Not the lists themselves: pytest would look for minutes for the best way to show how 2,800 numbers differ.
    differ = [query for query, (one, other) in enumerate(zip(latencies(record), expected, strict=True)) if one != other]
    assert not differ, f"{len(differ)} queries, the first is number {differ[0]}"


def test_a_server_waits_as_lindley_says(place):
    check_server(place)


def test_latency_from_the_start_of_the_service_is_found(place):
    with pytest.raises(AssertionError, match="queries, the first is"):
        check_server(place, planted="latency_from_service")


def test_the_schedule_follows_from_the_seed(places):
    due = [
        [row["due_ns"] for row in measured(places(name), *flags)[2]]
        for name, flags in {
            "a": ("--scenario", "server", "--rate", 500, "--seed", 1),
            "b": ("--scenario", "server", "--rate", 500, "--seed", 1),
            "c": ("--scenario", "server", "--rate", 500, "--seed", 2),
        }.items()
    ]
    assert due[0] == due[1] != due[2]


def test_a_batch_takes_what_waits(place):
    """Beyond what one at a time holds (3,333/s): a batch of 8 takes 1 ms, so 8,000 a second."""
    flags = ("--scenario", "server", "--rate", 6000, "--batch", 8, "--seconds", "500ms")
    record, _, rows = measured(place, *flags)
    sizes = {}
    for row in rows:
        sizes[row["sent_ns"]] = sizes.get(row["sent_ns"], 0) + 1
    assert max(sizes.values()) == 8 and min(sizes.values()) < 8
    assert all(row["finished_ns"] - row["sent_ns"] == 1_000_000 for row in rows), "a step with fewer is filled up"
    assert [row["finished_ns"] - row["due_ns"] for row in rows] == latencies(record)


def batched(due, batch, wait_ns, service_ns):
    """When each query is answered: a batch begins when the worker is free and it is full, or its oldest has waited."""
    ends, free, at = [], 0, 0
    while at < len(due):
        full = due[at + batch - 1] if at + batch <= len(due) else due[-1] + 10**15
        begin = max(free, min(full, due[at] + wait_ns))
        size = min(batch, sum(one <= begin for one in due[at : at + batch]))
        free = begin + service_ns
        ends += size * [free]
        at += size
    return ends


@pytest.mark.parametrize("wait", ["100us", "500us", "5ms"])
def test_a_batch_waits_for_others_as_long_as_its_oldest_may(place, wait):
    """A batch of 8 takes 1 ms; 2,000 a second are two of them in that time."""
    flags = ("--scenario", "server", "--rate", 2000, "--batch", 8, "--batch-wait", wait, "--seconds", "500ms")
    _, _, rows = measured(place, *flags)
    wait_ns = {"100us": 100_000, "500us": 500_000, "5ms": 5_000_000}[wait]
    assert len(rows) == 1000
    expected = batched([row["due_ns"] for row in rows], 8, wait_ns, 1_000_000)
    assert [row["finished_ns"] for row in rows] == expected
    assert expected != batched([row["due_ns"] for row in rows], 8, 0, 1_000_000)


def share_over(rate, batch, service_ns, limit_ns):
    """Of 100,000 queries, by the recursion above on a schedule of its own."""
    drawn, now, due = random.Random(5), 0.0, []
    for _ in range(100_000):
        now += drawn.expovariate(rate) * 1e9
        due.append(now)
    ends = batched(due, batch, 0, service_ns)
    return sum(end - begin > limit_ns for begin, end in zip(due, ends, strict=True)) / len(due)


def test_the_highest_rate_within_a_limit_is_found(place):
    """A batch of 16 takes 1.8 ms, so that 8,889 a second are the pace. 4 ms are little more than two steps."""
    flags = ("--scenario", "server", "--slo", "p99<4ms", "--batch", 16, "--seconds", "1s")
    record, point, _ = measured(place, *flags)
    found = point["found"]
    assert found["end"] == "found" and record["summary"]["samples_per_second"] == found["rate_per_second"]
    low, high = 4000, 8889
    while high / low > 1.002:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if share_over(middle, 16, 1_800_000, 4e6) > 0.01 else (middle, high)
    assert found["rate_per_second"] == pytest.approx(low, rel=0.05)
    [note] = [note for note in record["ranks"][0]["notes"] if note.startswith("server: ")]
    assert "is the highest rate within p99<4ms" in note


def test_single_stream_has_a_p90_and_its_bound(place):
    record, point, rows = measured(place, "--scenario", "single-stream", "--seconds", "300ms")
    assert len(rows) == 1000  # 300 ms of 300 us
    [p50, p90, *_] = point["times"][0]["from_schedule"]
    assert p50["ns"] == p90["ns"] == p90["early_stopping_ns"] == STEP_NS
    assert record["summary"]["p90_ns"] == STEP_NS
    assert record["summary"]["samples_per_second"] == pytest.approx(1e9 / STEP_NS)


def test_multi_stream_asks_eight_samples_at_a_time(place):
    """A batch of 4 takes 600 us: two of them for a query."""
    flags = ("--scenario", "multi-stream", "--batch", 4, "--seconds", "1.2s")
    record, _, rows = measured(place, *flags)
    assert set(latencies(record)) == {1_200_000} and len(rows) == 1000
    assert record["summary"]["samples_per_second"] == pytest.approx(8e9 / 1_200_000)


def test_offline_has_all_samples_at_once(place):
    """A batch of 8 takes 1 ms; as many as fit half a second."""
    record, point, rows = measured(place, "--scenario", "offline", "--batch", 8, "--seconds", "500ms")
    assert len(rows) == 4000 and len({row["due_ns"] for row in rows}) == 1
    assert record["summary"]["samples_per_second"] == pytest.approx(8000)
    assert point["offered_per_second"] == 0


def test_real_time_counts_from_the_schedule_too(place):
    """At pace 1 the worker sleeps: latencies are at least the step, and stamps are in order."""
    flags = ("--scenario", "server", "--rate", 100, "--seconds", "500ms", "--option", "pace=1")
    _, _, rows = measured(place, *flags)
    assert len(rows) == 50
    for row in rows:
        assert row["due_ns"] <= row["noticed_ns"] and row["due_ns"] <= row["sent_ns"] < row["finished_ns"]
        assert row["finished_ns"] - row["sent_ns"] >= STEP_NS
    for before, row in itertools.pairwise(rows):
        assert before["finished_ns"] <= row["sent_ns"], "one step at a time"
