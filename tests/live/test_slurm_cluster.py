"""The cluster that other tests stand on: its nodes are apart, can be lost, and nothing of them stays."""

import os
import pathlib
import tempfile

import pytest
from slurm_cluster import SlurmCluster, wait_for, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=str(why_not()))


@pytest.fixture
def cluster():
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        os.chmod(folder, 0o755)
        with SlurmCluster(pathlib.Path(folder) / "c", nodes=2, timeout=6) as one:
            yield one


def is_state(cluster, name, *states):
    return lambda: cluster.states()[name] in states


def test_nodes_are_hosts_of_their_own(cluster):
    shown = "echo $(hostname) $(cat /proc/sys/kernel/random/boot_id) $(hostname -I)"
    rows = [row.split() for row in cluster.run(["srun", "-N", "2", "sh", "-c", shown]).splitlines()]
    assert sorted(row[0] for row in rows) == ["n1", "n2"]
    boots = {row[1] for row in rows} | {pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()}
    assert len(boots) == 3
    assert sorted(row[2] for row in rows) == cluster.hosts.addresses[:2]


@pytest.mark.full  # test_submit.py and fleet_faults go the same ways
def test_a_cut_node_keeps_its_job_and_a_node_without_power_does_not(cluster):
    for number in (1, 2):
        cluster.submit("exec sleep 600", "-w", f"n{number}", "-o", "/dev/null", "--no-requeue")
    wait_for(lambda: [row[2] for row in cluster.jobs()] == ["RUNNING"] * 2, "the jobs did not start")
    wait_for(lambda: sleepers(cluster, 1) == sleepers(cluster, 2) == 1, "no job on the nodes")
    cluster.cut(1)
    cluster.kill_node(2)
    assert cluster.processes(2) == {}
    wait_for(lambda: set(cluster.states().values()) == {"down"}, "the nodes are not missed")
    assert sleepers(cluster, 1) == 1
    cluster.mend(1)
    cluster.start_node(2)
    cluster.wait_until_idle()
    wait_for(lambda: sleepers(cluster, 1) == 0, "Slurm does not end what it gave up")


def sleepers(cluster, number):
    """Processes `sleep 600` on a node; its first process sleeps too, but for ever."""
    found = 0
    for pid in cluster.processes(number):
        try:
            found += pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() == b"sleep\x00600\x00"
        except OSError:
            continue
    return found


def test_a_controller_comes_back_with_what_it_saved(cluster):
    cluster.drain(1)
    cluster.run(["scontrol", "reconfigure"])
    cluster.stop_controller()
    cluster.start_controller()
    wait_for(is_state(cluster, "n1", "drained"), "the state of the node was not saved")
    cluster.resume(1)
    cluster.wait_until_idle()


def test_nothing_is_left(cluster):
    cluster.submit("setsid sleep 600 & exec sleep 600", "-o", "/dev/null")
    wait_for(lambda: sleepers(cluster, 1) + sleepers(cluster, 2) == 2, "the job did not start")
    inodes = [os.stat(f"/run/netns/{space}").st_ino for space in cluster.hosts.namespaces]
    cluster.stop()
    assert not cluster.folder.exists()
    left = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes()
            if (process / "ns" / "net").stat().st_ino in inodes or str(cluster.folder).encode() in line:
                left.append(line)
        except OSError:
            continue
    assert left == []
