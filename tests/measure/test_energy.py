"""Energy bound to the timed window: by a meter of known power, by a recorded tree of RAPL, and absent."""

import csv
import io
import os
import pathlib
import stat

import pytest

BRIEF = ["--runs", "2", "--seconds", "0.3", "--warmup", "0.1", "--retries", "0", "--quiet"]
WATTS = 40

# Says at every question how much a load of 40 W has used so far, and notes when that was.
METER = f"""#!/usr/bin/env python3
import sys, time
with open(sys.argv[0] + ".answers", "a") as answers:
    for line in sys.stdin:
        now = time.monotonic_ns()
        print(now, file=answers, flush=True)
        print({WATTS} * now / 1e9, flush=True)
"""


def script(place, name, text):
    path = place.write(name, text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def measured(place, *more, **env):
    place.assay("run", "toy", "--worker", "fake", "--option", "pace=1", *BRIEF, *more, "--store", place.store, **env)
    [result] = place.assay("show", "--json", "--store", place.store).json()["results"]
    return result


def timed_slices(rank):
    return [part for part in rank["slices"] if not part["warmup"]]


def check_energy(rank, answers):
    """It was asked once at first, then just before and after every timed slice; between those the load used energy.
    Held to when the meter answered, so that a busy machine, on which it answers late, gives the same verdict."""
    slices, asked = timed_slices(rank), list(zip(answers[1::2], answers[2::2]))
    assert len(slices) == len(asked) and len(answers) % 2 == 1
    ended_ns = 0
    for part, (before_ns, after_ns) in zip(slices, asked):
        assert ended_ns <= before_ns <= part["begin_ns"] <= part["end_ns"] <= after_ns
        ended_ns = part["end_ns"]
    used_ns = sum(after_ns - before_ns for before_ns, after_ns in asked)
    assert rank["energy"]["joules"] == pytest.approx(WATTS * used_ns / 1e9, rel=1e-6)
    assert rank["energy"]["ns"] >= sum(part["end_ns"] - part["begin_ns"] for part in slices)
    assert rank["energy"]["source"] == "meter" and rank["notes"] == []


def check_summary(record):
    """What is derived from it: power over the window, and samples by the energy of their time."""
    [rank, *_] = record["ranks"]
    watts = rank["energy"]["joules"] / (rank["energy"]["ns"] / 1e9)
    assert record["summary"]["watts"] == pytest.approx(watts, rel=1e-9)
    per_joule = record["summary"]["samples_per_second"] / watts
    assert record["summary"]["samples_per_joule"] == pytest.approx(per_joule, rel=1e-9)


def test_a_meter_of_known_power_is_read_at_both_ends_of_every_slice(place):
    meter = script(place, "meter", METER)
    measured(place, "--meter", meter)
    answers = [int(line) for line in pathlib.Path(f"{meter}.answers").read_text().split()]
    for record in sorted(place.records(), key=lambda record: record["started_utc"]):
        [rank] = record["ranks"]
        mine = 1 + 2 * len(timed_slices(rank))
        check_energy(rank, answers[:mine])
        check_summary(record)
        answers = answers[mine:]
    assert answers == []
    shown = place.assay("show", "--store", place.store).stdout
    assert "samples/J" in shown


def test_instances_of_one_host_do_not_count_its_power_twice(place):
    measured(place, "--meter", script(place, "meter", METER), "--instances", "2")
    for record in place.records():
        [first, second] = record["ranks"]
        assert first["energy"] is not None and second["energy"] is None
        check_summary(record)


def test_a_meter_that_fails_leaves_a_note_and_the_times(place):
    result = measured(place, "--meter", script(place, "meter", "#!/bin/sh\nread -r line\necho broken\n"))
    assert result["ok"] == 2 and result["watts"] is None and result["samples_per_joule"] is None
    [note] = place.records()[0]["ranks"][0]["notes"]
    assert note.startswith("no energy: meter ") and "'broken', which is not a number of joules" in note
    refused = place.assay("run", "toy", "--worker", "fake", *BRIEF, "--meter", "./nowhere", expect=2)
    assert "meter: ./nowhere is not a program" in refused.stderr


def test_where_nothing_counts_energy_is_null_wherever_it_is_printed(place):
    # As on virtual machines: the zone is there and reads the same for ever.
    (place.path / "powercap/intel-rapl:0").mkdir(parents=True)
    place.write("powercap/intel-rapl:0/name", "package-0\n")
    place.write("powercap/intel-rapl:0/energy_uj", "17\n")
    result = measured(place, ASSAY_POWERCAP=place.path / "powercap")
    assert result["watts"] is None and result["samples_per_joule"] is None
    record = place.records()[0]
    assert record["ranks"][0]["energy"] is None
    assert record["summary"]["watts"] is None and record["summary"]["samples_per_joule"] is None
    table = place.assay("export", "--format", "csv", "--store", place.store).stdout
    for row in csv.DictReader(io.StringIO(table)):
        assert row["watts"] == "" and row["samples_per_joule"] == ""
    assert "samples/J" not in place.assay("show", "--store", place.store).stdout
    trial = place.assay("show", "--trial", result["trial_id"], "--store", place.store).stdout
    assert "energy: absent" in trial
