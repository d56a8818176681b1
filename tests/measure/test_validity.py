"""What makes a run's numbers doubtful, with threads that really work: no framework is needed for that.

The machine of the tests may be busy. Where a test needs the CPU to itself, it runs in a control group of version 1
whose weight is 256 times that of everybody else; where that cannot be made, it is skipped.
"""

import json
import os
import re
import sys

import pytest

BRIEF = ["--runs", "1", "--seconds", "1s", "--warmup", "100ms", "--retries", "0", "--quiet"]
AGAIN = [word if word != "0" else "2" for word in BRIEF]  # retries
CPU = min(os.sched_getaffinity(0))
ONE_CPU = ("taskset", "-c", str(CPU))

# Key derivation lets go of Python's lock, so that threads of one process work at once.
PROGRAM = """
import hashlib, os, resource, sys, threading
sys.path.insert(0, {common!r})
import assay_worker

def work():
    hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 20000)

class Busy(assay_worker.Framework):
    def prepare(self, prepare):
        options = prepare.options({{"threads": 1, "children": 0, "split": 1}})
        self.children, self.split = options["children"], options["split"]
        self.begin, self.end = (threading.Barrier(options["threads"]) for _ in range(2))
        for _ in range(options["threads"] - 1):
            threading.Thread(target=self.serve, daemon=True).start()
        return assay_worker.Prepared(versions={{"busy": "1"}}, effective={{"intra_op": 3}}, phases=("forward",))

    def serve(self):
        while True:
            self.begin.wait()
            work()
            self.end.wait()

    def step(self):
        if self.children:
            child = os.fork()
            if child == 0:
                work()
                os._exit(0)
            os.waitpid(child, 0)
            return
        self.begin.wait()
        work()
        self.end.wait()

    def step_with_phases(self):
        if not self.split:
            raise assay_worker.Refused("detail phases: this step cannot be split")
        import time
        begin = time.monotonic_ns()
        self.step()
        return (time.monotonic_ns() - begin,)

code = assay_worker.serve(Busy)
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
with open(os.path.join(os.environ["TMPDIR"], "used"), "w") as file:
    file.write(" ".join(str(one.ru_utime + one.ru_stime) for one in used))
os._exit(code)  # threads that wait for the next step would be waited for
"""
WORKER = {"name": "busy", "release": "1", "protocol": 1, "argv": [sys.executable, "{folder}/worker.py"],
          "networks": ["toy"], "details": ["step", "phases"], "settings": ["intra_op"]}  # fmt: skip


@pytest.fixture
def busy(place):
    """Runs the worker and returns its records."""
    folder = place.path / "workers" / "busy"
    folder.mkdir(parents=True)
    (folder / "worker.json").write_text(json.dumps(WORKER))
    (folder / "worker.py").write_text(PROGRAM.format(common=str(place.root / "workers" / "common")))

    def run(*arguments, before=ONE_CPU, brief=BRIEF, **env):
        place.assay("run", "toy", "--worker", "busy", *brief, *arguments, before=before,
                    ASSAY_WORKERS=folder.parent, **env)  # fmt: skip
        return place.records(all_attempts=True)

    return run


def reasons(record):
    return {reason["code"]: reason for reason in record["validity"]["reasons"]}


def disturbance(record):
    return record["ranks"][0]["disturbance"]


@pytest.mark.timing
def test_two_busy_threads_on_one_cpu_are_oversubscribed(busy):
    [record] = busy("--option", "threads=2")
    reason = reasons(record)["oversubscribed"]
    pattern = r"2 threads were busy on 1 CPU: CPU time over wall time was (\d\.\d\d); "
    pattern += r"ask for at most 1 \(intra_op, inter_op\)"
    told = re.fullmatch(pattern, reason["message"])
    assert told, reason["message"]
    assert float(told[1]) <= 1.05
    assert reason["passing"] is False
    assert disturbance(record)["active_threads"] == 2
    assert disturbance(record)["cpus"] == 1


@pytest.mark.timing
def test_many_threads_on_one_cpu_are_seen_though_each_runs_little(busy):
    [record] = busy("--option", "threads=12")
    assert disturbance(record)["active_threads"] == 12
    assert "12 threads were busy on 1 CPU" in reasons(record)["oversubscribed"]["message"]


@pytest.mark.timing
def test_one_thread_on_one_cpu_is_not_oversubscribed(busy):
    [record] = busy("--option", "threads=1")
    assert "oversubscribed" not in reasons(record)
    assert disturbance(record)["active_threads"] == 1
    assert disturbance(record)["threads"] == 1


@pytest.mark.timing
def test_instances_that_share_a_cpu_are_oversubscribed_together(busy):
    [record] = busy("--instances", "2")
    assert "2 threads of 2 processes were busy on 1 CPU" in reasons(record)["oversubscribed"]["message"]


@pytest.mark.timing
def test_settings_that_stay_are_no_reason_to_measure_again(busy):
    records = busy("--option", "threads=2", brief=AGAIN)
    for record in records:
        passing = [reason["code"] for reason in record["validity"]["reasons"] if reason["passing"]]
        assert record["validity"]["trusted"] == (not passing)
        assert record["counted"] or passing, "it was measured again though nothing passing was in its way"
    assert sum(record["counted"] for record in records) == 1


@pytest.mark.timing
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two CPUs are needed to pass a quota of one")
def test_a_quota_throttles_two_threads_and_leaves_one_alone(busy, group):
    before = group(quota_cpus=1)
    [two] = busy("--option", "threads=2", before=before)
    assert disturbance(two)["quota_cpus"] == 1.0
    assert "a cgroup's CPU quota of 1 CPUs stopped the worker" in reasons(two)["throttled"]["message"]
    assert reasons(two)["throttled"]["passing"] is False
    assert "2 threads were busy on a quota of 1 of" in reasons(two)["oversubscribed"]["message"]


@pytest.mark.timing
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="two CPUs are needed to pass a quota of one")
def test_a_quota_leaves_one_thread_alone(busy, group):
    [one] = busy("--option", "threads=1", before=group(quota_cpus=1))
    assert disturbance(one)["quota_cpus"] == 1.0
    assert not {"throttled", "oversubscribed"} & set(reasons(one)), reasons(one)


@pytest.mark.timing
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a process more weight")
def test_a_neighbour_on_the_same_cpu_is_named(busy, neighbour):
    with neighbour("busy_neighbour") as pid:
        [record] = busy("--option", "threads=1")
    reason = reasons(record)["neighbours"]
    assert f"busy_neighbour (process {pid})" in reason["message"]
    assert reason["passing"] is True
    assert record["validity"]["trusted"] is False


@pytest.mark.timing
def test_a_planted_bug_that_loses_children_is_seen(busy, group):
    [record] = busy("--option", "children=1", before=(*group(), *ONE_CPU), planted="lost_children")
    assert disturbance(record)["cpu_ns"] < 0.2e9, "so the next test would fail on it"


@pytest.mark.timing
def test_the_workers_own_children_are_no_neighbours(busy, place, group):
    [record] = busy("--option", "children=1", before=(*group(), *ONE_CPU))
    own, children = map(float, (place.temporary / "used").read_text().split())
    assert children > 0.5, "the test itself is broken: the children did not work"
    # The worker's own account of its children, who have all ended, against what Assay saw.
    assert disturbance(record)["cpu_ns"] > 0.85 * children * 1e9
    assert disturbance(record)["cpu_ns"] < 1.05 * (own + children) * 1e9 + 5e7
    assert "neighbours" not in reasons(record)
    assert disturbance(record)["active_threads"] is None, "of threads that have ended nothing is known"


@pytest.mark.timing
def test_the_partner_of_a_pair_and_its_probes_are_no_neighbours(busy, group):
    records = busy("--lockstep", "--option", "threads=1", "--batch", "1,2", before=(*group(), *ONE_CPU))
    assert len(records) == 2
    for record in records:
        assert "neighbours" not in reasons(record), reasons(record)
        assert "oversubscribed" not in reasons(record), reasons(record)
        # Its own slices only: over the whole window it worked half of the time.
        assert disturbance(record)["measured_ns"] < 0.75 * disturbance(record)["window_ns"]
        assert disturbance(record)["active_threads"] == 1


def test_phases_are_timed_where_the_worker_can_and_a_refusal_is_only_noted(busy, place):
    [record] = busy()
    [rank] = record["ranks"]
    assert 1 <= len(rank["phase_step_ns"]) == len(rank["phases_ns"]["forward"]) <= 50
    other = place.path / "refused.db"
    place.assay("run", "toy", "--worker", "busy", *BRIEF, "--option", "split=0", "--store", other, before=ONE_CPU,
                ASSAY_WORKERS=place.path / "workers")  # fmt: skip
    record = json.loads(place.assay("export", "--store", other).stdout)
    [rank] = record["ranks"]
    assert record["outcome"]["kind"] == "ok"
    assert rank["notes"] == ["no phases: detail phases: this step cannot be split"]
    assert rank["peak_memory_bytes"] > 0
    asked = place.assay("run", "toy", "--worker", "busy", *BRIEF, "--option", "split=0", "--phases", "--store", other,
                        before=ONE_CPU, ASSAY_WORKERS=place.path / "workers", expect=2)  # fmt: skip
    assert asked.stderr == "assay: detail phases: this step cannot be split\n"


def test_phases_can_be_left_out(busy):
    [record] = busy("--no-phases")
    assert record["ranks"][0]["phases_ns"] == {}


def test_a_setting_that_did_not_take_effect_is_said_below_the_table(busy, place):
    busy("--intra-op", "2")
    shown = place.assay("show", "--store", place.store).stdout
    assert "  intra_op: asked 2, took effect 3 (all 1 runs): toy infer b1" in shown
    [result] = place.assay("show", "--json", "--store", place.store).json()["results"]
    assert result["effective"] == {"intra_op": [{"value": 3, "runs": 1}]}
    assert result["peak_memory_bytes"] > 1e6
    assert result["phases"]["sum_over_step"] > 0.3
