"""Whatever happens to one of several ranks, its run gets a typed outcome within seconds, and nothing is left running.

`bench/rank_faults` does the same many times over.
"""

import random
import shutil

import pytest
import rank_faults
import rank_runs
from shaped_hosts import ShapedHosts, why_not

SEED = 20241103
RANKS = 4

pytestmark = pytest.mark.skipif(
    not (rank_runs.BUILD / "workers" / "mpi" / "worker.json").exists() or not shutil.which("mpirun"),
    reason="built without Open MPI",
)


@pytest.fixture(scope="module")
def hosts():
    reason = why_not()
    if reason:
        pytest.skip(reason)
    with ShapedHosts(RANKS, rate_mbit=400) as made:
        yield made


@pytest.mark.parametrize("fault", rank_faults.FAULTS)
def test_a_fault_ends_in_a_typed_outcome_and_leaves_nothing(tmp_path, hosts, fault):
    one = rank_faults.draw(fault, random.Random(f"{SEED} {fault}"), RANKS)
    rank_faults.carry_out(one, tmp_path / "runs", hosts)
    assert not one.wrong, one


def test_a_rank_that_never_comes_ends_the_run(tmp_path, hosts):
    one = rank_faults.Try("stop assay-rank", rank=1, ranks=2, spread=True, moment="meeting")
    rank_faults.carry_out(one, tmp_path / "runs", hosts)
    assert not one.wrong, one


def test_a_killed_agent_leaves_nothing_and_the_same_command_goes_on(tmp_path, hosts):
    with rank_runs.RankRuns(tmp_path / "runs", hosts) as runs:
        agent = runs.start(*rank_faults.ARGUMENTS)
        assert rank_faults.until(lambda: sum(p.name == rank_faults.WORKER for p in runs.processes()) == RANKS, 60)
        agent.kill()
        agent.wait()
        assert rank_faults.until(lambda: not runs.processes(), rank_faults.LIMIT_SECONDS), runs.processes()
        code, said = runs.run(*rank_faults.ARGUMENTS)
        assert code == 0, said
        assert runs.rows("SELECT outcome, counted FROM record") == [("ok", 1)]
        assert not runs.processes()


@pytest.mark.parametrize(("planted", "fault"), [("deaf_ranks", "stop assay-rank"), ("patient_agent", "cut host")])
def test_the_planted_bug_is_seen(tmp_path, hosts, planted, fault):
    """Ranks that wait for a silent one without end; an agent that waits for an mpirun that does not end."""
    one = rank_faults.Try(fault, rank=1, ranks=2, spread=True, moment="later", delay=0.5)
    rank_faults.carry_out(one, tmp_path / "runs", hosts, planted)
    assert one.wrong == ["no outcome within %d s" % rank_faults.LIMIT_SECONDS], one
