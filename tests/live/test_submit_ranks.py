"""Runs of several ranks that srun starts inside an agent's allocation, each rank on a node of its own."""

import json
import os
import subprocess
import tempfile

import pytest
from slurm_cluster import wait_for
from slurm_fleet import BUILD, SlurmFleet, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=str(why_not()))

PARAMETERS = 3_504_872  # of MobileNet v2 with 1000 classes, as torchvision publishes it
PHASES = {"forward", "backward", "communicate", "update"}
BRIEF = ("--retries", 0, "--warmup", "0s", "--interface", "e0", "--ranks-per-node", 1)


@pytest.fixture(scope="module")
def common():
    with tempfile.TemporaryDirectory(prefix="subr-") as folder:
        os.chmod(folder, 0o755)
        with SlurmFleet(folder, 4, timeout=30) as one:
            (one.folder / "runs").mkdir()
            yield one


@pytest.fixture
def fleet(common, request):
    common.begin_anew(request.node.name)
    return common


def need(worker):
    text = subprocess.check_output([BUILD / "assay", "worker", "list", "--json"], text=True)
    found = [info for info in json.loads(text) if info["name"] == worker]
    if not any(info["installed"] and info.get("ranks") for info in found):
        pytest.skip(f"{worker} is not installed")


def submit(fleet, ranks, *argv, runs=1):
    """The run directory must be one that all nodes see."""
    words = (*argv, "--runs", runs, *BRIEF, "--ranks", ranks, "--name", "one")
    return fleet.submit(*words, agents=1, own=["--nodes", ranks], run_folder=fleet.folder / "runs")


def record_of(fleet, ranks, *argv):
    """The only record of one run, whose ranks were on as many nodes."""
    submit(fleet, ranks, *argv)
    fleet.wait_until_done()
    fleet.wait_until_ended()
    (record,) = fleet.records()
    assert record["outcome"]["kind"] == "ok", f"{record['outcome']} {fleet.said()}"
    assert [rank["rank"] for rank in record["ranks"]] == list(range(ranks))
    assert len({rank["host"] for rank in record["ranks"]}) == ranks
    fleet.wait_until_nothing_runs()
    return record


@pytest.mark.parametrize("ranks", [2, 4])
def test_mpi_over_nodes(fleet, ranks):
    need("mpi")
    record = record_of(fleet, ranks, "all_reduce", "--worker", "mpi", "--option", "bytes=65536", "--seconds", "1s")
    lengths = {len(rank["samples_ns"]) for rank in record["ranks"]}
    assert len(lengths) == 1 and lengths.pop() > 0


@pytest.mark.full
def test_no_rank_hears_another_before_it_has_started(fleet):
    """Of such starts about one in 55 crashed in MPI_Init where Slurm's plugin of PMIx chose how nodes wait."""
    need("mpi")
    words = ("all_reduce", "--worker", "mpi", "--option", "bytes=65536", "--seconds", "20ms")
    submit(fleet, 4, *words, runs=400)
    fleet.wait_until_done(limit_seconds=900)
    assert [record["outcome"]["kind"] for record in fleet.records()] == 400 * ["ok"]


def test_scancel_ends_the_ranks_on_every_node(fleet):
    need("mpi")
    made = submit(fleet, 2, "all_reduce", "--worker", "mpi", "--option", "bytes=65536", "--seconds", "600s")
    wait_for(lambda: len(fleet.workers()) == 2, fleet.said)
    fleet.cluster.run(["scancel", "--name", f"assay-{made['submission']}"])
    fleet.wait_until_nothing_runs()
    fleet.wait_for("SELECT count(*) FROM assay.run WHERE state = 0", "the run did not come back")
    assert fleet.number("SELECT count(*) FROM assay.record WHERE counted = 1") == 0


@pytest.mark.full
@pytest.mark.parametrize("ranks", [2, 4])
def test_pytorch_trains_over_nodes(fleet, ranks):
    if "ASSAY_ENVIRONMENTS" not in os.environ:
        pytest.skip("ASSAY_ENVIRONMENTS names no environments")
    need("pytorch")
    training = ("mobilenet_v2", "--option", "image=32", "--mode", "train", "--batch", "2", "--intra-op", "1")
    record = record_of(fleet, ranks, *training, "--worker", "pytorch", "--seconds", "1s", "--phases")
    for name in ("samples_ns", "phase_step_ns"):
        lengths = {len(rank[name]) for rank in record["ranks"]}
        assert len(lengths) == 1 and lengths.pop() > 0  # ranks that train together take the same steps
    for rank in record["ranks"]:
        assert rank["parameters_built"] == PARAMETERS
        assert set(rank["phases_ns"]) == PHASES
        for step, *parts in zip(rank["phase_step_ns"], *rank["phases_ns"].values()):
            assert sum(parts) <= step


@pytest.mark.full
def test_a_pytorch_campaign_over_four_nodes(fleet):
    """What a person would do: some networks, both modes, an agent on each node; every command reads the results."""
    if "ASSAY_ENVIRONMENTS" not in os.environ:
        pytest.skip("ASSAY_ENVIRONMENTS names no environments")
    need("pytorch")
    sizes = ("--mode", "infer,train", "--batch", "1,4", "--option", "image=64", "--intra-op", "1")
    words = ("mobilenet_v2,squeezenet", "--worker", "pytorch", *sizes, "--seconds", "1s", "--runs", 3, "--retries", 0)
    made = fleet.submit(*words, "--name", "real", agents=4, own=["--slurm", "exclusive"])
    assert made["runs"] == 24
    fleet.wait_until_done(600)
    fleet.wait_until_ended()
    assert fleet.judge() == {"lost": 0, "twice": 0, "of an old epoch": 0, "failed": 0}, fleet.said()
    assert fleet.number("SELECT count(DISTINCT owner_host) FROM assay.run") == 4
    shown = json.loads(fleet.assay("show", "real", "--json"))
    assert len(shown["results"]) == 8
    trained = [record for record in fleet.records() if "backward" in record["ranks"][0].get("phases_ns", {})]
    assert len(trained) == 12
