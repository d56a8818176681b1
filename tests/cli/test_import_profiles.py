"""`assay import` on real profiles of ONNX Runtime and benchmark_app, and on runs of the prototype."""

import csv
import io
import json
import pathlib
import statistics

import pytest

RECORDED = pathlib.Path(__file__).resolve().parents[1] / "recorded" / "profiles"


def layers_of(assay, validate, name):
    return validate(json.loads(assay("import", RECORDED / name, "--batch", "4", "--json").stdout), "layers")["layers"]


def seconds_of(layers):
    return sum(layer["forward_seconds"] for layer in layers)


# The oracle: runs lie between the events of the session, and each has all its nodes.
def test_a_profile_of_onnx_runtime(assay, validate):
    layers = layers_of(assay, validate, "onnxruntime.json")
    runs, nodes = [], []
    for event in json.loads((RECORDED / "onnxruntime.json").read_text()):
        if event["cat"] == "Node":
            nodes.append(event)
        elif event["name"] == "model_run":
            runs.append((event["dur"], nodes))
            nodes = []
    assert len(runs) == 5
    _, median = sorted(runs, key=lambda run: run[0])[2]
    assert [layer["forward_seconds"] for layer in layers] == pytest.approx([1e-6 * node["dur"] for node in median])
    assert [layer["name"].split()[-1] for layer in layers] == [node["args"]["op_name"] for node in median]
    assert {layer["backward_seconds"] for layer in layers} == {0}


# The tool adds up its own totals, of executed and other nodes alike; the others took no time.
@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_detailed_counters_of_benchmark_app(assay, validate, suffix):
    layers = layers_of(assay, validate, f"benchmark_detailed_counters_report.{suffix}")
    text = (RECORDED / f"benchmark_detailed_counters_report.{suffix}").read_text()
    if suffix == "json":
        totals = [float(one["total_real_time"]) for one in json.loads(text)["detailed_performance"]]
    else:
        totals = [float(line.split(";")[4]) for line in text.splitlines() if line.startswith("Total;")]
    assert len(totals) == 3
    assert 1e3 * seconds_of(layers) == pytest.approx(statistics.median(totals), abs=2e-3)
    assert sum("Convolution" in layer["name"].split()[-1] for layer in layers) == 2


def test_average_counters_of_benchmark_app(assay, validate):
    layers = layers_of(assay, validate, "benchmark_average_counters_report.csv")
    (total,) = (
        float(line.split(";")[4])
        for line in (RECORDED / "benchmark_average_counters_report.csv").read_text().splitlines()
        if line.startswith("Total;")
    )
    assert 1e3 * seconds_of(layers) == pytest.approx(total, abs=0.01)
    said = assay("import", RECORDED / "benchmark_average_counters_report.csv", "--batch", "4").stdout
    assert "Only inference is in it" in said


def test_reports_without_layers_are_refused(assay):
    said = assay("import", RECORDED / "benchmark_report.json", "--batch", "4", code=1).stderr
    assert "-report_type detailed_counters" in said
    said = assay("import", RECORDED / "benchmark_average_counters_report.json", "--batch", "4", code=1).stderr
    assert "loses the others" in said


def test_a_profile_needs_its_batch_and_stands_alone(assay):
    assert "--batch is missing" in assay("import", RECORDED / "onnxruntime.json", code=2).stderr
    twice = [RECORDED / "onnxruntime.json"] * 2
    assert "Of several files only such ones" in assay("import", *twice, "--batch", "4", code=2).stderr


def prototype_run(batch, seconds):
    """In the prototype's layout; the numbers are ours."""
    problem = {"name": "resnet50", "precision": "FP32", "cnt_batches_per_epoch": 4, "cnt_samples": 4 * batch}
    run = {"framework": "pytorch", "framework_full": "PyTorch-1.8.1", "mode": "training", "device": "CPU", "nb_gpus": 0}
    return {**run, "batch_size": batch, "problem": problem, "time_epoch": 4 * seconds, "time_total": 40 * seconds}


# 0.1 s and 0.05 s for each sample; an epoch is four batches.
def test_runs_of_the_prototype_become_a_table_that_fit_takes(assay, tmp_path):
    batches = [1, 2, 4, 8, 16, 32, 64]
    for batch in batches:
        (tmp_path / f"{batch:03}.json").write_text(json.dumps(prototype_run(batch, 0.1 + 0.05 * batch)))
    files = sorted(path.name for path in tmp_path.glob("*.json"))
    rows = list(csv.DictReader(io.StringIO(assay("import", *files).stdout)))
    assert [int(row["batch"]) for row in rows] == batches
    assert [float(row["seconds"]) for row in rows] == pytest.approx([0.1 + 0.05 * batch for batch in batches])
    assert {row["mode"] for row in rows} == {"train"} and {row["precision"] for row in rows} == {"fp32"}
    assert "7 runs" in assay("import", *files, "-o", "times.csv").stdout
    # Taken as a table: batch is the factor, and the columns of text are alike throughout.
    assay("fit", "times.csv", "--table", "again.csv")
    assert len((tmp_path / "again.csv").read_text().splitlines()) == 8


def test_what_is_no_run_of_the_prototype_is_refused_by_name(assay, tmp_path):
    run = prototype_run(8, 1)
    del run["time_epoch"]
    (tmp_path / "run.json").write_text(json.dumps(run))
    assert "run.json: it has no time_batch" in assay("import", "run.json", code=1).stderr
    (tmp_path / "good.json").write_text(json.dumps(prototype_run(8, 1)))
    (tmp_path / "bad.json").write_text("[3]")
    assert "bad.json" in assay("import", "good.json", "bad.json", code=1).stderr
    assert "Leave it out" in assay("import", "good.json", "--batch", "4", code=2).stderr
