"""Energy bound to the timed window: by a meter of known power, by a recorded tree of RAPL, and absent."""

import csv
import io
import os
import stat

BRIEF = ["--runs", "2", "--seconds", "0.3", "--warmup", "0.1", "--retries", "0", "--quiet"]
WATTS = 40

# Says at every question how much a load of 40 W has used so far.
METER = f"""#!/usr/bin/env python3
import sys, time
for line in sys.stdin:
    print({WATTS} * time.monotonic(), flush=True)
"""


def script(place, name, text):
    path = place.write(name, text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    return path


def measured(place, *more, **env):
    place.assay("run", "toy", "--worker", "fake", "--option", "pace=1", *BRIEF, *more, "--store", place.store, **env)
    [result] = place.assay("show", "--json", "--store", place.store).json()["results"]
    return result


def test_a_meter_of_known_power_is_read_at_both_ends_of_every_slice(place):
    result = measured(place, "--meter", script(place, "meter", METER))
    assert abs(result["watts"] / WATTS - 1) < 0.02  # it answers within a millisecond of 300
    rate = result["samples_per_second"] / result["samples_per_joule"]
    assert abs(rate / WATTS - 1) < 0.02
    for record in place.records():
        [rank] = record["ranks"]
        assert rank["energy"]["source"] == "meter" and rank["notes"] == []
        timed = sum(slice["end_ns"] - slice["begin_ns"] for slice in rank["slices"] if not slice["warmup"])
        assert timed <= rank["energy"]["ns"] < timed + 50e6 * len(rank["slices"])
    shown = place.assay("show", "--store", place.store).stdout
    assert "samples/J" in shown


def test_instances_of_one_host_do_not_count_its_power_twice(place):
    result = measured(place, "--meter", script(place, "meter", METER), "--instances", "2")
    assert abs(result["watts"] / WATTS - 1) < 0.02
    [first, second] = place.records()[0]["ranks"]
    assert first["energy"] is not None and second["energy"] is None


def test_a_meter_that_fails_leaves_a_note_and_the_times(place):
    result = measured(place, "--meter", script(place, "meter", "#!/bin/sh\nread -r line\necho broken\n"))
    assert result["ok"] == 2 and result["watts"] is None and result["samples_per_joule"] is None
    [note] = place.records()[0]["ranks"][0]["notes"]
    assert note.startswith("no energy: meter ") and "'broken', which is no number of joules" in note
    refused = place.assay("run", "toy", "--worker", "fake", *BRIEF, "--meter", "./nowhere", expect=2)
    assert "meter: ./nowhere is no program" in refused.stderr


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
