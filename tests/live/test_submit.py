"""`assay submit` on a real Slurm: every run once, whatever Slurm forgets, ends or loses, and runs of several ranks."""

import os
import pathlib
import tempfile

import pytest
from slurm_cluster import wait_for
from slurm_fleet import SlurmFleet, paced, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=str(why_not()))

STEP_NS = 20_000_000
ONCE = {"lost": 0, "twice": 0, "of an old epoch": 0, "failed": 0}
SECRET = "not-for-agents"


@pytest.fixture(scope="module")
def common():
    with tempfile.TemporaryDirectory(prefix="sub-") as folder:
        os.chmod(folder, 0o755)
        with SlurmFleet(folder, 2, timeout=10) as one:
            yield one


@pytest.fixture
def fleet(common, request):
    common.begin_anew(request.node.name)
    return common


def started(fleet, agents, runs=1, seconds=60, **options):
    """A submission whose agents have all taken a run."""
    made = fleet.submit("toy", "--runs", runs, *paced(STEP_NS, seconds), "--name", "one", agents=agents, **options)
    fleet.wait_for(f"SELECT (count(*) = {agents})::int FROM assay.run WHERE state = 1", "no runs were taken")
    return made


def node_of(fleet):
    """Number of the node on which the only run is."""
    ((host, _),) = fleet.leased()
    return int(host.removeprefix("n"))


def once(fleet, runs):
    assert fleet.judge() == ONCE, fleet.said()
    assert fleet.number("SELECT count(*) FROM assay.record WHERE counted = 1") == runs


def test_an_array_of_agents_carries_out_a_plan(fleet):
    made = fleet.submit("toy", "--batch", "1,2,4", "--runs", 4, *paced(STEP_NS, 0.5), "--name", "one", agents=3)
    assert (made["runs"], made["new_runs"]) == (12, 12)
    assert len(made["submission"]) == 16 and int(made["submission"], 16) >= 0
    tasks = fleet.cluster.jobs("-n", f"assay-{made['submission']}")
    assert sorted(task[0] for task in tasks) == [f"{made['job']}_{index}" for index in range(3)]
    fleet.wait_until_done()
    fleet.wait_until_ended()
    once(fleet, 12)
    assert {row[2] for row in fleet.cluster.jobs()} == {"COMPLETED"}, fleet.said()
    (listed,) = fleet.shown("one")["submissions"]
    assert (listed["id"], listed["agents"], listed["running"], listed["pending"]) == (made["submission"], 3, 0, 0)
    assert len(list(fleet.logs.glob(f"{made['submission']}-*.log"))) == 3
    fleet.wait_until_nothing_runs()


def test_more_agents_for_a_plan_that_is_there(fleet):
    fleet.assay("run", "toy", "--runs", 4, *paced(STEP_NS, 0.5), "--name", "one", "--plan-only")
    made = fleet.submit("--campaign", "one", agents=2)
    assert (made["runs"], made["new_runs"]) == (4, 0)
    fleet.wait_until_done()
    once(fleet, 4)


def variables_of(pid):
    return pathlib.Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")


def test_agents_get_no_variable_of_the_submitter_and_are_not_put_back(fleet):
    made = started(fleet, 1, OF_THE_SUBMITTER=SECRET, PGPASSWORD=SECRET, ASSAY_NO_PHASES="true")
    wait_for(fleet.workers, "no worker runs")
    ours = fleet.ours()
    assert {name[:12] for name in ours.values()} >= {"assay", "assay-rank", "assay-worker"}
    for pid, name in ours.items():
        assert not [one for one in variables_of(pid) if SECRET.encode() in one or b"ASSAY_NO" in one], name
    about = fleet.cluster.run(["scontrol", "show", "job", made["job"]]).split()
    assert "Requeue=0" in about
    script = fleet.folder / "script"
    fleet.cluster.run(["scontrol", "write", "batch_script", made["job"], script])
    assert str(fleet.file) in script.read_text() and "postgresql://" not in script.read_text()
    assert not [word for word in about if "postgresql://" in word]
    refused = fleet.cluster.run(["scontrol", "requeue", made["job"]], code=None)
    fleet.cluster.wait_for_state(made["job"], "RUNNING")
    assert fleet.number("SELECT max(epoch) FROM assay.run") == 1, refused


def test_a_controller_that_forgets_the_job_and_gives_its_number_to_another_does_no_harm(fleet):
    forgotten = 0
    for name in ("a", "b", "c", "d"):
        plan = ("toy", "--batch", ord(name) - 96, "--runs", 3, *paced(STEP_NS, 1), "--name", name)
        made = fleet.submit(*plan, agents=1, lease=3)
        fleet.cluster.kill_controller()
        fleet.cluster.start_controller()
        again = fleet.submit("--campaign", name, agents=1, lease=3)
        forgotten += again["job"] == made["job"]
        assert again["submission"] != made["submission"]
        listed = {one["id"] for one in fleet.shown(name)["submissions"]}
        assert listed == {made["submission"], again["submission"]}
        if forgotten:
            break
    assert forgotten, "the controller saved every job in time"
    fleet.wait_until_done()
    once(fleet, 3 * (ord(name) - 96))


def test_scancel_gives_the_run_back_at_once(fleet):
    made = started(fleet, 1, lease=3600)
    fleet.cluster.run(["scancel", "--name", f"assay-{made['submission']}"])
    fleet.wait_for("SELECT count(*) FROM assay.run WHERE state = 0", "the run did not come back")
    fleet.wait_until_ended()
    fleet.wait_until_nothing_runs()
    assert "stopped: 0 runs done" in fleet.all_logs()


def test_a_run_of_a_node_that_is_set_down_is_there_once(fleet):
    """Slurm gives up the job, but may tell its node late: the agent goes on, or its run is taken over."""
    started(fleet, 1, lease=2, seconds=6)
    number = node_of(fleet)
    fleet.cluster.down(number)
    fleet.submit("--campaign", "one", agents=1, lease=2)
    fleet.wait_until_done()
    fleet.wait_until_ended()
    once(fleet, 1)
    fleet.cluster.resume(number)
    wait_for(lambda: not fleet.ours(number), lambda: f"{fleet.ours(number)} {fleet.said()}")


def test_a_node_that_is_drained_keeps_its_run_and_gets_no_other_agent(fleet):
    started(fleet, 1, seconds=4)
    number = node_of(fleet)
    fleet.cluster.drain(number)
    fleet.submit("toy", "--batch", "2", "--runs", 2, *paced(STEP_NS, 1), "--name", "two", agents=2)
    fleet.wait_until_done()
    once(fleet, 3)
    assert fleet.number("SELECT max(epoch) FROM assay.run") == 1
    hosts = fleet.ask(
        "SELECT run.owner_host FROM assay.run JOIN assay.campaign ON campaign.key = run.campaign "
        "WHERE campaign.name = 'two'"
    )
    assert set(hosts) == {f"n{3 - number}"}


def test_a_node_that_loses_power_loses_its_run_to_another_and_comes_back(fleet):
    started(fleet, 1, lease=2, seconds=5)
    number = node_of(fleet)
    fleet.cluster.kill_node(number)
    fleet.submit("--campaign", "one", agents=1, lease=2)
    fleet.wait_until_done()
    once(fleet, 1)
    assert fleet.ask("SELECT owner_host FROM assay.run") == [f"n{3 - number}"]
    fleet.cluster.start_node(number)
    fleet.submit(
        "toy",
        "--batch",
        "2",
        "--runs",
        1,
        *paced(STEP_NS, 1),
        "--name",
        "two",
        agents=1,
        own=["--slurm", f"nodelist=n{number}"],
    )
    fleet.wait_until_done()
    once(fleet, 2)


def test_an_agent_that_is_cut_off_for_longer_than_its_lease_writes_nothing(fleet):
    started(fleet, 1, lease=1, seconds=4)
    number = node_of(fleet)
    fleet.cluster.cut(number)
    fleet.submit("--campaign", "one", agents=1, lease=2, own=["--slurm", f"nodelist=n{3 - number}"])
    fleet.wait_until_done()
    fleet.cluster.mend(number)
    wait_for(lambda: not fleet.ours(number), lambda: f"{fleet.ours(number)} {fleet.said()}", 60)
    once(fleet, 1)
    assert fleet.number("SELECT count(*) FROM assay.record") == 1
    assert fleet.ask("SELECT owner_host FROM assay.run") == [f"n{3 - number}"]


def test_what_a_worker_left_is_named_and_ended_by_the_next_agent_on_its_node(fleet):
    started(fleet, 1, lease=2, seconds=2, own=["--option", "misbehave=fork_setsid_ok"])
    number = node_of(fleet)
    (orphan,) = wait_for(lambda: fleet.left_by_workers(number), "the worker has no child")
    own = fleet.cluster.own_number(orphan)
    fleet.cluster.kill_all_but(number, [orphan])
    wait_for(lambda: list(fleet.ours(number)) == [orphan], lambda: f"{fleet.ours(number)}")
    fleet.cluster.start_node(number)
    fleet.submit("--campaign", "one", agents=1, lease=2, own=["--slurm", f"nodelist=n{number}"])
    fleet.wait_until_done()
    once(fleet, 1)
    assert f"ended process {own} (assay-worker-fa), which an agent that is gone had left" in fleet.all_logs()
    fleet.wait_until_nothing_runs()
