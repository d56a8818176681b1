"""`assay scale` with the fake worker, whose law has a serial part of .1: Karp and Flatt's metric must find it."""

import json
import os

import pytest

TOY = ["toy", "--worker", "fake", "--seconds", "0.1", "--warmup", "0.02", "--batch", "4", "--quiet"]
needs_two = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")


@pytest.fixture
def study(assay, validate):
    return lambda *argv: validate(json.loads(assay("scale", *TOY, *argv, "--json").stdout), "scaling")


def curve(found, kind, by):
    [one] = [curve for curve in found["curves"] if (curve["kind"], curve["by"]) == (kind, by)]
    return one["points"]


@needs_two
def test_what_does_not_scale_is_found_again(study):
    """Two threads take .1 + .9 / 2 = .55 of the time: speed-up 1.818, efficiency .909, serial share .1."""
    found = study("--cpus", "1,2", "--runs", "4")
    first, second = curve(found, "strong", "threads")
    assert first["speedup"] is None and first["runs"] == 4
    assert second["speedup"] == pytest.approx(1 / 0.55, rel=0.01)
    assert second["speedup_low"] < 1 / 0.55 < second["speedup_high"]
    assert second["efficiency"] == pytest.approx(0.5 / 0.55, rel=0.01)
    assert second["serial_share"] == pytest.approx(0.1, abs=0.015)
    assert [point["batch"] for point in curve(found, "weak", "threads")] == [4, 8]
    assert [(p["instances"], p["threads"], p["batch"]) for p in curve(found, "strong", "instances")] == [
        (1, 1, 4),
        (2, 1, 2),
    ]
    assert all(point["serial_share"] is None for point in curve(found, "weak", "threads"))
    # The same command measures nothing anew.
    assert study("--cpus", "1,2", "--runs", "4") == found


@needs_two
def test_it_is_drawn_for_people(assay, monkeypatch):
    monkeypatch.setenv("LC_ALL", "C")
    told = assay("scale", *TOY, "--cpus", "1,2", "--runs", "2").stdout
    assert "Strong scaling by threads" in told and "Weak scaling by instances" in told
    assert "100 %  ####################\n" in told
    assert "of the work did not scale" in told


@pytest.mark.parametrize(
    "flags, words",
    [
        (["--cpus", "0"], "--cpus: 0 is outside 1 to"),
        (["--cpus", "4096"], "--cpus: 4096 is outside 1 to"),
        (["--instances", "2"], "--instances is what grows here"),
        (["--intra-op", "1,2"], "2 trials: name one network"),
        (["--stop", "1%"], "--stop: give a number of runs"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_way_out(assay, flags, words):
    assert words in assay("scale", *TOY, *flags, code=2).stderr


def test_a_dry_run_measures_nothing(assay, tmp_path):
    plan = json.loads(assay("scale", *TOY, "--cpus", "1", "--dry-run", "--json").stdout)
    assert [point["runs"] for one in plan["curves"] for point in one["points"]] == [0, 0]
    assert not (tmp_path / "assay.db").exists()
