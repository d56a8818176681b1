"""`assay export` for other programs: a Chrome trace, and metrics that Prometheus' own client reads back."""

import json
import pathlib

import pytest
from prometheus_client.parser import text_string_to_metric_families

MEASURE = ["--runs", "6", "--seconds", "50ms", "--warmup", "10ms", "--retries", "0", "--quiet"]
NETWORK = ["run", "toy", "--worker", "fake", "--option", "noise=0"]


@pytest.fixture
def measured(assay):
    assay(*NETWORK, "--batch", "8", *MEASURE, "--name", "small")
    return assay


def families_of(text):
    return {family.name: family for family in text_string_to_metric_families(text)}


# The fake's published law: 0.2 ms, and 0.1 ms for each of 8 samples.
def test_metrics_say_what_the_fake_was_told_to_take(measured):
    families = families_of(measured("export", "--format", "prometheus").stdout)
    assert all(family.type == "gauge" and family.documentation for family in families.values())
    (median,) = families["assay_step_median_seconds"].samples
    assert median.value == pytest.approx(1e-3, rel=1e-9)
    assert median.labels["network"] == "toy" and median.labels["batch"] == "8" and median.labels["worker"] == "fake"
    assert json.loads(median.labels["options"]) == {"noise": 0}
    (low,), (high,) = (families[f"assay_step_median_{end}_seconds"].samples for end in ("low", "high"))
    assert low.value <= median.value <= high.value
    assert families["assay_samples_per_second"].samples[0].value == pytest.approx(8000, rel=1e-9)
    assert [(s.labels["outcome"], s.value) for s in families["assay_runs"].samples] == [("ok", 6)]
    assert "assay_watts" not in families


def test_labels_come_back_whatever_characters_they_have(assay):
    odd = 'a"b\\c\nd é'
    assay(*NETWORK, "--env", f"ODD={odd}", *MEASURE[2:], "--runs", "1")
    families = families_of(assay("export", "--format", "prometheus").stdout)
    settings = [json.loads(sample.labels["settings"]) for sample in families["assay_runs"].samples]
    assert {"env": {"ODD": odd}} in settings


def test_failures_are_counted_by_their_kind(assay):
    run = [*NETWORK, "--option", "misbehave=exit_3", *MEASURE[2:], "--runs", "2"]
    assay(*run, code=4)
    families = families_of(assay("export", "--format", "prometheus").stdout)
    counted = {sample.labels["outcome"]: sample.value for sample in families["assay_runs"].samples}
    assert counted == {"ok": 0, "crashed": 2}
    assert "assay_step_median_seconds" not in families


def test_a_file_of_metrics_is_whole_when_it_has_its_name(measured, tmp_path):
    measured("export", "--format", "prometheus", "-o", "assay.prom")
    assert families_of((tmp_path / "assay.prom").read_text())
    assert not list(pathlib.Path(tmp_path).glob("*.part"))
    assert "Leave it out" in measured("export", "--format", "prometheus", "--all-attempts", code=2).stderr


def test_a_trace_has_every_step_of_every_record(measured, tmp_path):
    records = [json.loads(line) for line in measured("export").stdout.splitlines()]
    measured("export", "small", "--format", "chrome-trace", "-o", "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    processes = sorted({event["pid"] for event in spans})
    assert len(processes) == len(records) == 6
    for process, record in zip(processes, records):
        (rank,) = record["ranks"]
        steps = [event for event in spans if event["pid"] == process and event["cat"] == "step"]
        assert [round(1000 * event["dur"]) for event in steps] == rank["samples_ns"]
        assert round(1000 * steps[0]["ts"]) == rank["slices"][0]["begin_ns"]
        warmup = sum(part["samples"] for part in rank["slices"] if part["warmup"])
        assert sum(event["args"]["warmup"] for event in steps) == warmup
        for track in {event["tid"] for event in spans}:
            on_track = [event for event in spans if (event["pid"], event["tid"]) == (process, track)]
            ends = [event["ts"] + event["dur"] for event in on_track]
            assert all(later["ts"] >= end - 1e-6 for end, later in zip(ends, on_track[1:]))
    named = {event["pid"] for event in trace["traceEvents"] if event["name"] == "process_name"}
    assert named == set(processes)
