"""Training on several ranks through `assay run`: what each rank leaves in the record."""

import json
import os
import subprocess

import pytest
import rank_runs
from shaped_hosts import ShapedHosts, why_not

PARAMETERS = 3_504_872  # of MobileNet v2 with 1000 classes, as torchvision publishes it
TRAINING = ("mobilenet_v2", "--option", "image=32", "--mode", "train", "--batch", "2", "--intra-op", "1")
BRIEF = ("--runs", "1", "--retries", "0", "--warmup", "0s", "--seconds", "1s", "--phases")
PHASES = {"forward", "backward", "communicate", "update"}


@pytest.fixture(autouse=True, scope="module")
def possible():
    reason = why_not()
    if reason:
        pytest.skip(reason)


def need(worker):
    """Skips where it is not installed, or works only alone."""
    if "ASSAY_ENVIRONMENTS" not in os.environ:
        pytest.skip("ASSAY_ENVIRONMENTS names no environments")
    text = subprocess.check_output([rank_runs.BUILD / "assay", "worker", "list", "--json"], text=True)
    found = [info for info in json.loads(text) if info["name"] == worker]
    if not any(info["installed"] for info in found):
        pytest.skip(f"{worker} is not installed")
    if not any(info.get("ranks") for info in found):
        pytest.skip(f"{worker} works only alone")


def trained(tmp_path, hosts, worker, spread):
    """The record of two ranks that trained together."""
    with rank_runs.RankRuns(tmp_path / "runs", hosts, spread) as runs:
        code, said = runs.run(*TRAINING, *BRIEF, "--worker", worker, ranks=2)
        assert code == 0, said
        (record,) = runs.records()
        assert not runs.processes()
    assert record["outcome"]["kind"] == "ok", record["outcome"]
    assert [rank["rank"] for rank in record["ranks"]] == [0, 1]
    return record


def check_steps(record):
    """Ranks that train together take the same steps, and in each of them all phases."""
    for ns in ("samples_ns", "phase_step_ns"):
        first, second = (rank[ns] for rank in record["ranks"])
        assert len(first) == len(second) > 0 and min(first + second) > 0
    for rank in record["ranks"]:
        assert rank["parameters_built"] == PARAMETERS
        assert set(rank["phases_ns"]) == PHASES
        for name, ns in rank["phases_ns"].items():
            assert len(ns) == len(rank["phase_step_ns"]), name
        for step, *parts in zip(rank["phase_step_ns"], *rank["phases_ns"].values()):
            assert sum(parts) <= step


def test_pytorch_trains_over_two_hosts(tmp_path):
    need("pytorch")
    with ShapedHosts(2, rate_mbit=400) as hosts:
        record = trained(tmp_path, hosts, "pytorch", spread=True)
    check_steps(record)
    for rank in record["ranks"]:
        buckets = rank["buckets"]
        assert len(buckets) > 1 and sum(bucket["bytes"] for bucket in buckets) == 4 * PARAMETERS
        for bucket in buckets:
            assert len(bucket["ns"]) == len(bucket["hidden_ns"]) == len(rank["phase_step_ns"])
            assert all(0 <= hidden <= ns for hidden, ns in zip(bucket["hidden_ns"], bucket["ns"]))
        # On a ring of two each host sends 2 (P - 1) / P = 1 times the gradients in every step: 0.28 s at 400 Mbit/s. A
        # link lets 256 KiB pass at once.
        assert min(rank["samples_ns"]) > (4 * PARAMETERS - (256 << 10)) * 8 / 400e6 * 1e9


@pytest.mark.parametrize(
    "worker", [pytest.param("tensorflow", marks=pytest.mark.full), pytest.param("jax", marks=pytest.mark.full), "mxnet"]
)
def test_it_trains_with_two_ranks_on_one_host(tmp_path, worker):
    need(worker)
    with ShapedHosts(1, rate_mbit=400) as hosts:
        check_steps(trained(tmp_path, hosts, worker, spread=False))
