"""The MPI worker: every collective over several ranks under mpirun, what it refuses, and what it reads back.

The values of every result are checked by the worker itself before it answers `prepared`; that this check finds what is
wrong is shown in workers/mpi/collective_test.cpp.
"""

import shutil

import pytest
from conftest import FOLDERS
from ranks import under_mpirun

COLLECTIVES = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast"]

pytestmark = pytest.mark.skipif(not (FOLDERS["mpi"] / "worker.json").exists(), reason="built without Open MPI")


@pytest.fixture
def run(tmp_path):
    """Runs ranks under mpirun; gives the answers of each, by rank. More ranks than slots leave each other the CPUs."""
    if not shutil.which("mpirun"):
        pytest.skip("mpirun is not installed")

    def run(count, network, *measures, slots=1, **prepare):
        return under_mpirun(tmp_path, count, {"network": network, **prepare}, measures, slots)

    return run


@pytest.mark.parametrize(
    "network, ranks", [(network, ranks) for network in COLLECTIVES for ranks in (2, 4)] + [("ping_pong", 2)]
)
def test_every_rank_takes_the_steps_asked_for(run, network, ranks):
    measures = [{"max_samples": 20}, {"max_samples": 3, "detail": "phases"}]
    answers = run(ranks, network, *measures, options={"bytes": 4096})
    assert len(answers) == ranks
    for prepared, steps, phases, exit_code in answers:
        assert prepared["versions"]["openmpi"].startswith("4.1.") and prepared["parameters"] is None
        assert len(steps["ns"]) == 20 and all(ns > 0 for ns in steps["ns"])
        assert list(phases["phases"]) == ["communicate"]
        assert all(0 < part <= step for part, step in zip(phases["phases"]["communicate"], phases["ns"]))
        assert exit_code == 0


@pytest.mark.parametrize(
    "network, algorithm",
    [
        ("all_reduce", "ring"),
        ("all_reduce", "rabenseifner"),
        ("all_gather", "neighbor"),
        ("reduce_scatter", "butterfly"),
        ("all_to_all", "pairwise"),
        ("broadcast", "scatter_allgather_ring"),
    ],
)
def test_an_algorithm_is_taken_and_read_back(run, network, algorithm):
    """The worker reads the choice back from Open MPI and would fail where it is another."""
    for answers in run(2, network, {"max_samples": 2}, options={"bytes": 4096, "algorithm": algorithm}):
        assert answers[0]["type"] == "prepared" and answers[-1] == 0


def test_an_algorithm_that_open_mpi_does_not_use_is_a_failure(run, monkeypatch):
    """Without its component `tuned` there is nothing to choose in."""
    monkeypatch.setenv("OMPI_MCA_coll", "^tuned")
    for (answer,) in run(2, "all_reduce", options={"algorithm": "ring"}):
        assert answer["kind"] == "failed" and "ring" in answer["message"] and "nothing" in answer["message"]


@pytest.mark.parametrize("spin", [True, False])
def test_spin_is_read_back(run, spin):
    for prepared, _ in run(2, "all_reduce", settings={"spin": spin}):
        assert prepared["effective"] == {"spin": spin}


@pytest.mark.parametrize("slots, spin", [(2, True), (1, False)])
def test_without_the_setting_open_mpi_spins_where_there_are_slots(run, slots, spin):
    for prepared, _ in run(2, "all_reduce", slots=slots):
        assert prepared["effective"] == {"spin": spin}


def test_another_number_of_ranks_fails_with_both_numbers(run):
    for (answer,) in run(2, "all_reduce", ranks=4):
        assert answer["kind"] == "failed"
        assert "of 4" in answer["message"] and "of 2" in answer["message"]


def test_several_ranks_without_mpirun_fail_with_both_numbers(start):
    answer = start("mpi").prepare(network="all_reduce", batch=1, rank=1, ranks=2)
    assert answer["kind"] == "failed"
    assert "rank 1 of 2" in answer["message"] and "rank 0 of 1" in answer["message"]


@pytest.mark.parametrize("network", COLLECTIVES)
def test_one_rank_needs_no_mpirun(start, network):
    worker = start("mpi")
    assert worker.prepare(network=network, batch=1)["type"] == "prepared"
    assert len(worker.measure(max_samples=10)["ns"]) == 10
    assert worker.close() == 0


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"network": "banana"}, ["banana", "all_reduce"]),
        ({"mode": "train"}, ["train"]),
        ({"batch": 2}, ["batch 2"]),
        ({"precision": "bf16"}, ["bf16"]),
        ({"network": "ping_pong"}, ["ping_pong", "2 ranks"]),
        ({"options": {"bytes": 6}}, ["bytes", "6"]),
        ({"options": {"bytes": 16}, "ranks": 3}, ["bytes", "16", "12"]),
        ({"options": {"bytes": 1 << 33}}, ["bytes", str(1 << 33)]),
        ({"options": {"algorithm": "banana"}}, ["algorithm", "banana", "ring"]),
        ({"options": {"algorithm": "ring"}}, ["algorithm", "ring", "2 ranks"]),
        ({"options": {"algorithm": "neighbor"}, "network": "all_gather", "ranks": 3}, ["neighbor", "3"]),
        ({"options": {"algorithm": "ring"}, "network": "ping_pong", "ranks": 2}, ["algorithm"]),
        ({"settings": {"compile": "x"}}, ["compile"]),
        ({"settings": {"spin": True, "env": {"OMPI_MCA_mpi_yield_when_idle": "1"}}}, ["yield_when_idle", "spin"]),
    ],
)
def test_what_it_cannot_do_is_refused_by_name(start, changes, words):
    options = {"bytes": 1200, **changes.get("options", {})}
    answer = start("mpi").prepare(**{"network": "all_reduce", "batch": 1, **changes, "options": options})
    assert (answer["type"], answer["kind"]) == ("error", "refused")
    for word in words:
        assert word in answer["message"]
