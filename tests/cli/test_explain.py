"""`assay explain` on made-up jobs whose causes are known, on public traces beside their oracle, and its refusals."""

import gzip
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = ROOT / "bench" / "parts"
TRACES = pathlib.Path(os.environ.get("ASSAY_TRACES", "nowhere"))
ORACLE = json.loads((PARTS / "trace_oracle.json").read_text())
SHARES = ("compute", "communication", "overlapped_communication", "idle")

needs_traces = pytest.mark.skipif(not TRACES.is_dir(), reason="ASSAY_TRACES names no folder of public GPU traces")


def made_up_job():
    spec = importlib.util.spec_from_file_location("made_up_job", PARTS / "made_up_job.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["made_up_job"] = module
    spec.loader.exec_module(module)
    return module


jobs = made_up_job()


def answer(assay, *argv):
    return json.loads(assay("explain", *argv, "--json").stdout)


@pytest.mark.parametrize(
    "planted, cause",
    [
        ({}, "compute"),
        ({"slow": {2: 1.4}}, "slow_rank"),
        ({"late": {1: 80.0}}, "slow_rank"),
        ({"input_us": 8000.0}, "input"),
        ({"host_us": 500.0}, "host"),
        ({"transfer_us": 8000.0}, "communication"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value) or "even",
)
def test_a_planted_cause_is_named_first(assay, validate, tmp_path, planted, cause):
    job = jobs.Job().changed(**planted)
    seconds = jobs.write(job, tmp_path / "traces")
    said = validate(answer(assay, "traces"), "explanation")
    assert said["causes"][0]["kind"] == cause
    assert said["replayed_step_seconds"] == pytest.approx(seconds, rel=0.03)
    if cause == "slow_rank":
        assert said["slow_rank"]["rank"] == (2 if "slow" in planted else 1)
        assert said["slow_rank"]["where"] == ("compute" if "slow" in planted else "input")
    else:
        assert said["slow_rank"] is None


@pytest.mark.parametrize("made", [{"transfer_us": 3000.0}, {"transfer_us": 3000.0, "input_us": 8000.0}])
def test_what_ifs_are_what_a_simulation_with_the_change_takes(assay, tmp_path, made):
    job = jobs.Job(**made)
    jobs.write(job, tmp_path / "traces")
    said = {one["change"]: one["step_seconds"] for one in answer(assay, "traces", "--faster", "4")["what_ifs"]}
    changes = {
        "kernels 4 times as fast": {"kernel_us": job.kernel_us / 4},
        "communication takes no time": {"transfer_us": 0.0},
        "communication twice as fast": {"transfer_us": job.transfer_us / 2},
    }
    if job.input_us > 1000:
        changes["input takes no time"] = {"input_us": 0.0}
    for change, fields in changes.items():
        assert said[change] == pytest.approx(jobs.simulated(job.changed(**fields))[1], rel=0.03), change


def test_an_answer_for_people_names_rank_and_kernel(assay, tmp_path):
    jobs.write(jobs.Job(slow={2: 1.4}), tmp_path / "traces")
    said = assay("explain", "traces", "--markdown", "step.md").stdout
    assert "Rank 2 is slow" in " ".join(said.split())
    assert "Rank 2 is slow" in (tmp_path / "step.md").read_text()


def test_what_cannot_be_explained_is_refused_with_the_reason(assay, tmp_path):
    jobs.write(jobs.Job(ranks=2), tmp_path / "traces")
    assert "both of rank 0" in assay("explain", "traces/rank0.json", "traces/rank0.json", code=2).stderr
    assert "it has 3 steps" in assay("explain", "traces", "--only", "7", code=2).stderr
    assert "none such" in assay("explain", "traces", "--step", "none such", code=2).stderr
    (tmp_path / "empty").mkdir()
    assert "no file that ends in .json" in assay("explain", "empty", code=2).stderr
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(b'{"traceEvents": []}')[:-4])
    assert "cut off" in assay("explain", "cut.json.gz", code=1).stderr
    (tmp_path / "cpu.json").write_text('{"traceEvents": []}')
    assert "nothing ran on a GPU" in assay("explain", "cpu.json", code=1).stderr


@needs_traces
@pytest.mark.parametrize("name", sorted(ORACLE))
def test_shares_of_public_traces_are_the_oracles(assay, name):
    path = TRACES / f"{name}.json.gz"
    if "refused" in ORACLE[name]:
        reasons = {"cpu_only": "nothing ran on a GPU", "cupti_profiler": "hardware counters of 77 kernels"}
        assert reasons[name] in assay("explain", path, code=1).stderr
        return
    said = answer(assay, path)
    for share in SHARES:
        assert said["ranks"][0][share] == pytest.approx(ORACLE[name][share], abs=0.02), share
    assert said["replayed_step_seconds"] == pytest.approx(said["step_seconds"], rel=0.03)
    assert said["path_step_seconds"] == pytest.approx(said["step_seconds"], rel=1e-6)


@needs_traces
@pytest.mark.parametrize("name", ["nccl_parser_config", "ns_resolution_trace"])
def test_a_gpu_trace_becomes_layers_that_predict_takes(assay, validate, tmp_path, name):
    """ResNet-50 has 25,557,032 parameters of 4 bytes, whose gradients are summed in 5 buckets."""
    asked = ["import", TRACES / f"{name}.json.gz", "--batch", "32", "-o", "layers.json", "--json"]
    table = validate(json.loads(assay(*asked).stdout), "layers")
    gradients = [size for layer in table["layers"] for size in layer["gradient_bytes"]]
    assert sum(gradients) == 4 * 25_557_032
    assert len(gradients) == 5
    computed = sum(layer["forward_seconds"] + layer["backward_seconds"] for layer in table["layers"])
    said = answer(assay, TRACES / f"{name}.json.gz")["ranks"][0]
    # What is computed for a layer or an update is all that the device computes and copies.
    busy = (said["compute"] + said["copies"]) * said["device_seconds"]
    assert computed + table["update_seconds"] == pytest.approx(busy, rel=0.03)
    (tmp_path / "c.yaml").write_text("nodes: 2\nacross: {latency: 1 us, bandwidth: 1 GB/s}\nslow_down: 1\n")
    asked = ["predict", "mine", "--cluster", "c.yaml", "--layers", "layers.json", "--devices", "1", "--json"]
    assert json.loads(assay(*asked).stdout)["points"][0]["step"]["seconds"] >= computed


@needs_traces
def test_two_real_ranks_of_a_job_are_explained_together(assay):
    """Events were left out of both: 5 of 10 collectives of one are not in the other, so that they cannot be paired."""
    names = ["timeline_analysis", "trace_filter"]
    said = answer(assay, *(TRACES / f"{name}.json.gz" for name in reversed(names)))
    assert [rank["rank"] for rank in said["ranks"]] == [0, 1]
    for rank, name in zip(said["ranks"], names, strict=True):
        for share in SHARES:
            assert rank[share] == pytest.approx(ORACLE[name][share], abs=0.02), (name, share)
    assert said["step_seconds"] == max(rank["step_seconds"] for rank in said["ranks"])
    assert "do not end together" in said["why_not_joined"]
    assert said["slow_rank"] is None


@needs_traces
def test_two_real_ranks_of_a_job_are_imported_together(assay, validate):
    """Events were left out of both, so that layers differ: the table is that of the longer rank alone."""
    files = [TRACES / f"{name}.json.gz" for name in ("timeline_analysis", "trace_filter")]
    table = validate(json.loads(assay("import", *files, "--batch", "32", "--json").stdout), "layers")
    alone = [json.loads(assay("import", file, "--batch", "32", "--json").stdout) for file in files]
    took = [
        sum(layer["forward_seconds"] + layer["backward_seconds"] for layer in one["layers"]) + one["update_seconds"]
        for one in alone
    ]
    longest = alone[took.index(max(took))]
    assert table["layers"] == longest["layers"] and table["name"] == longest["name"]
    assert [one["rank"] for one in table["ranks"]] == [0, 1]
    assert [
        one["forward_seconds"] + one["backward_seconds"] + one["update_seconds"] for one in table["ranks"]
    ] == pytest.approx(took)
    assert "on rank 0" in table["why_not_joined"]


@needs_traces
def test_a_real_rank_beside_a_slower_one_gives_the_median(assay, tmp_path):
    """Rank 1 is rank 0 with kernels of 1.5 times the length: the median of two is 1.25 times each layer of rank 0."""
    path = TRACES / "nccl_parser_config.json.gz"
    trace = json.loads(gzip.decompress(path.read_bytes()))
    trace["distributedInfo"]["rank"] = 1
    for event in trace["traceEvents"]:
        if event.get("cat") == "kernel":
            event["dur"] *= 1.5
    (tmp_path / "rank1.json.gz").write_bytes(gzip.compress(json.dumps(trace).encode(), 1))
    alone = json.loads(assay("import", path, "--batch", "32", "--json").stdout)
    both = json.loads(assay("import", path, "rank1.json.gz", "--batch", "32", "--json").stdout)
    assert both["why_not_joined"] == ""
    assert [layer["name"] for layer in both["layers"]] == [layer["name"] for layer in alone["layers"]]
    for way in ("forward_seconds", "backward_seconds"):
        ours, single = (sum(layer[way] for layer in one["layers"]) for one in (both, alone))
        assert ours == pytest.approx(1.25 * single, rel=0.01), way
    assert both["update_seconds"] == pytest.approx(1.25 * alone["update_seconds"], rel=0.01)


@pytest.mark.full
@needs_traces
def test_the_oracle_still_says_what_is_kept():
    python = ROOT / "build" / "hta" / "bin" / "python"
    if not python.exists():
        pytest.skip(f"{python} is missing: bench/explain --help says how to make it")
    done = subprocess.run(
        [ROOT / "bench" / "explain", "--full"],
        env=dict(os.environ, ASSAY_BUILD=os.environ.get("ASSAY_BUILD", "build/dev")),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
