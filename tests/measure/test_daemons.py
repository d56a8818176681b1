"""A worker's daemon that has left everything behind by which it could be known is ended by the agent that comes next.

It has a session of its own, no parent of ours, no descriptors and no environment. While the agent or assay-rank lives
it is in their tree of processes; here both are killed.
"""

import json
import os
import pathlib
import signal

import pytest

WORKER = """
import os, sys, time
sys.path.append({common!r})
import assay_worker

def become_daemon():
    if os.fork() != 0:
        return os.wait()
    os.setsid()
    if os.fork() != 0:
        os._exit(0)
    with open({pid_file!r} + ".part", "w") as file:
        file.write(str(os.getpid()))
    os.rename({pid_file!r} + ".part", {pid_file!r})
    os.chdir("/")
    os.closerange(0, 1024)
    os.execve("/bin/sleep", ["sleep", "3600"], {{}})

class Daemonic(assay_worker.Framework):
    def prepare(self, prepare):
        if not os.path.exists({pid_file!r}):
            become_daemon()
            time.sleep(3600)
        return assay_worker.Prepared(versions={{}}, parameters=0)

    def step(self):
        return 1000

sys.exit(assay_worker.serve(Daemonic))
"""
COMMAND = ["run", "toy", "--worker", "daemonic", "--runs", "1", "--retries", "0", "--warmup", "0", "--seconds", "1ms",
           "--max-samples", "1"]  # fmt: skip


def children_of(pid):
    return [int(child) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()]  # fmt: skip


def state_of(pid):
    """As /proc has it: "T" is stopped, "Z" has ended; nothing where it is gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def is_alive(pid):
    return state_of(pid) not in ("", "Z", "X")


def leave_a_daemon(place, planted=None):
    """Kills an agent and its assay-rank when their worker has started a daemon; gives it, and where the worker is."""
    pid_file = place.path / "daemon.pid"
    folder = place.path / "workers" / "daemonic"
    folder.mkdir(parents=True)
    folder.joinpath("worker.py").write_text(
        WORKER.format(common=str(place.root / "workers" / "common"), pid_file=str(pid_file))
    )
    about = {"name": "daemonic", "release": "1.0", "protocol": 1, "argv": ["python3", "{folder}/worker.py"],
             "networks": ["toy"], "details": ["step"], "settings": []}  # fmt: skip
    folder.joinpath("worker.json").write_text(json.dumps(about))
    workers = {"ASSAY_WORKERS": folder.parent}
    agent = place.start(*COMMAND, planted=planted, **workers)
    place.until(pid_file.exists, "the daemon is there")
    daemon = int(pid_file.read_text())
    place.until(lambda: place.name_of(daemon) == "sleep", "it has thrown its environment away")
    [rank] = [pid for pid in children_of(agent.pid) if place.name_of(pid) == "assay-rank"]
    os.kill(rank, signal.SIGSTOP)  # or it would notice that the agent is gone, and end the daemon
    place.until(lambda: state_of(rank) == "T", "assay-rank stands still")
    agent.signal(signal.SIGKILL)
    agent.wait()
    os.kill(rank, signal.SIGKILL)
    place.until(lambda: not is_alive(rank), "assay-rank has ended")
    assert is_alive(daemon) and pathlib.Path(f"/proc/{daemon}/environ").read_bytes() == b""
    return daemon, workers


def test_the_next_call_of_the_same_command_ends_it(place):
    daemon, workers = leave_a_daemon(place)
    ended = place.assay(*COMMAND, **workers)
    assert not is_alive(daemon)
    assert f"ended process {daemon} (sleep), which an agent that is gone had left of run" in ended.stderr
    assert [record["outcome"]["kind"] for record in place.records()] == ["ok"]
    assert place.left() == []


def test_the_next_agent_ends_it(place):
    daemon, workers = leave_a_daemon(place)
    ended = place.assay("agent", "--store", place.store, "--idle", "0", **workers)
    assert not is_alive(daemon)
    assert f"ended process {daemon} (sleep), which an agent that is gone had left of an earlier run" in ended.stderr
    assert place.left() == []


def test_an_agent_of_another_store_leaves_it_alone(place, places):
    daemon, workers = leave_a_daemon(place)
    places("other").assay(*COMMAND, **workers)
    assert is_alive(daemon)


def test_the_check_sees_a_daemon_that_has_no_number(place):
    daemon, workers = leave_a_daemon(place, planted="unnumbered_runs")
    place.assay(*COMMAND, **workers)
    with pytest.raises(AssertionError):
        assert not is_alive(daemon)
