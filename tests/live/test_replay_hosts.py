"""A predicted step, replayed over hosts with links of a known rate, takes as long as its gradients must."""

import json
import shutil
import subprocess

import pytest
import rank_runs
from shaped_hosts import EAGER, PAYLOAD_SHARE, ShapedHosts, why_not

RATE_MBIT = 100
BURST_BYTES = 64 << 10
BYTES = 1_000_000  # of each layer
LAYERS = "layer,forward_ms,backward_ms,gradient_bytes\n" + "".join(f"{name},30,100,{BYTES}\n" for name in "abc")
# On a ring of two each host sends 2 (P - 1) / P = 1 times the bytes of a layer.
TRAVEL_SECONDS = BYTES / PAYLOAD_SHARE * 8 / (RATE_MBIT * 1e6)
# A layer's gradients travel behind the 100 ms of the next one, those of the last layer behind all.
HIDDEN_SECONDS = 0.09 + 0.3 + TRAVEL_SECONDS
# Nothing is hidden.
BARE_SECONDS = 0.09 + 0.3 + 3 * TRAVEL_SECONDS

pytestmark = [
    pytest.mark.skipif(
        not (rank_runs.BUILD / "workers" / "mpi" / "worker.json").exists() or not shutil.which("mpirun"),
        reason="built without Open MPI",
    ),
]


@pytest.fixture(scope="module")
def hosts():
    reason = why_not()
    if reason:
        pytest.skip(reason)
    with ShapedHosts(2, RATE_MBIT, burst_bytes=BURST_BYTES) as made:
        yield made


def replayed(folder, hosts, overlap):
    """(predicted, measured) seconds of a step."""
    with rank_runs.RankRuns(folder / overlap, hosts) as runs:
        (runs.folder / "layers.csv").write_text(LAYERS)
        bandwidth = f"{RATE_MBIT * 1e-3 * PAYLOAD_SHARE} Gbit/s"
        cluster = f"nodes: 2\nacross: {{latency: 50 us, bandwidth: {bandwidth}}}\nslow_down: 1\n"
        (runs.folder / "cluster.yaml").write_text(cluster)
        argv = [runs.program, "predict", "mine", "--layers", "layers.csv", "--cluster", "cluster.yaml", "--batch", "1"]
        argv += ["--overlap", overlap, "--fusion", "per_tensor", "--all-reduce", "ring", "--replay", "s.replay"]
        said = subprocess.check_output([*argv, "--json"], cwd=runs.folder, text=True, timeout=60)
        training = ("s.replay", "--mode", "train", "--worker", "mpi", "--option", "algorithm=ring", "--spin", "false")
        brief = ("--runs", "1", "--retries", "0", "--warmup", "500ms", "--seconds", "2s")
        eager = [word for name in EAGER for word in ("--env", f"OMPI_MCA_{name}={4 * BYTES}")]
        code, text = runs.run(*training, *brief, *eager)
        assert code == 0, text
        [record] = runs.records()
        assert record["outcome"]["kind"] == "ok", record["outcome"]
        assert set(record["ranks"][0]["phases_ns"]) == {"forward", "backward", "communicate", "update"}
    return json.loads(said)["points"][0]["step"]["seconds"], record["summary"]["median_ns"] / 1e9


def test_a_replayed_step_is_no_faster_than_its_links(tmp_path, hosts):
    predicted, measured = replayed(tmp_path, hosts, "wait_free")
    assert predicted == pytest.approx(HIDDEN_SECONDS, rel=0.01)
    assert measured > 0.95 * HIDDEN_SECONDS  # a burst passes at once


@pytest.mark.full  # needs an idle machine
def test_a_replayed_step_takes_as_long_as_predicted_and_a_planted_error_longer(tmp_path, hosts):
    """The planted error: gradients travel behind the backward pass in place of beside it."""
    predicted, measured = replayed(tmp_path, hosts, "wait_free")
    assert predicted == pytest.approx(HIDDEN_SECONDS, rel=0.01)
    assert 0.95 * HIDDEN_SECONDS < measured < 1.15 * HIDDEN_SECONDS
    predicted, measured = replayed(tmp_path, hosts, "none")
    assert predicted == pytest.approx(BARE_SECONDS, rel=0.01)
    assert measured > 0.95 * BARE_SECONDS and measured > 1.2 * HIDDEN_SECONDS
