"""The fake worker keeps its law and breaks the rules as its README says."""

import os
import re
import signal
import time

import pytest
from conftest import LIMIT_SECONDS, ROOT


def samples(start, count=20, **prepare):
    worker = start("fake")
    assert worker.prepare(**prepare)["type"] == "prepared"
    return worker.measure(max_samples=count, seconds=1000)["ns"]


def test_the_law_without_noise(start):
    # (200,000 + 16 * 100,000) * 3 * (.1 + .9 / 2) * 2 = 5,940,000
    options = {"noise": 0, "scale": 2}
    assert samples(start, 3, mode="train", batch=16, options=options, settings={"intra_op": 2}) == [5_940_000] * 3
    # (200,000 + 8 * 100,000) * (.1 + .9 / 8 + .01) = 222,500
    assert samples(start, 1, options={"noise": 0}, settings={"intra_op": 4, "inter_op": 2}) == [222_500]


def test_the_effective_settings(start):
    assert start("fake").prepare(settings={"intra_op": 4})["effective"] == {"intra_op": 4, "inter_op": 1}


def test_the_same_seed_gives_the_same_samples_and_another_others(start):
    first = samples(start, seed=7)
    assert samples(start, seed=7) == first
    for other in ({"seed": 8}, {"seed": 7, "rank": 1}, {"seed": 7, "instance": 1}):
        assert not set(samples(start, **other)) & set(first)


def test_samples_do_not_depend_on_how_they_are_cut(start):
    whole = samples(start, 20)
    worker = start("fake")
    worker.prepare()
    cut = [worker.measure(detail=d, max_samples=n)["ns"] for d, n in (("step", 3), ("phases", 7), ("layers", 10))]
    assert sum(cut, []) == whole


def test_virtual_time_counts_and_costs_nothing(start):
    worker = start("fake")
    worker.prepare(options={"noise": 0})
    begin = time.monotonic()
    assert len(worker.measure(seconds=100, max_samples=1_000_000)["ns"]) == 100_000  # steps of 1 ms
    assert time.monotonic() - begin < 10


def test_many_samples_come_on_several_lines(start):
    worker = start("fake")
    worker.prepare(options={"noise": 0})
    result = worker.measure(detail="phases", seconds=1000, max_samples=100_000)
    assert result["lines"] > 1 and len(result["ns"]) == 100_000


def test_layers_stop_where_a_node_still_fits_on_a_line(start):
    worker = start("fake")
    worker.prepare(mode="train", options={"noise": 0, "layers": 5})
    result = worker.measure(detail="layers", seconds=1e5, max_samples=100_000)
    assert len(result["ns"]) == 50_000 and len(result["layers"]) == 5 and result["lines"] > 2


def test_phases_and_layers_have_the_documented_shares(start):
    worker = start("fake")
    worker.prepare(mode="train", options={"noise": 0})  # a step of 3,000,000
    phases = worker.measure(detail="phases", max_samples=1)["phases"]
    assert {k: v[0] for k, v in phases.items()} == {
        "load": 150_000, "transfer": 150_000, "forward": 900_000, "backward": 1_500_000, "update": 300_000
    }  # fmt: skip
    layers = worker.measure(detail="layers", max_samples=1)["layers"]
    assert [layers["layer%d" % i] for i in (1, 2, 3, 4)] == [
        ([90_000 * i], [150_000 * i]) for i in (1, 2, 3, 4)
    ]  # tenths of forward and backward


def test_warm_up_decays(start):
    ns = samples(start, 12, options={"noise": 0, "warmup_steps": 10, "warmup_extra": 1})
    assert ns[0] == 2_000_000 and ns[2] == 1_367_879 and ns[10] == 1_000_000  # e^-1 = .367879


def test_settings_env_overrides_an_option(start):
    assert samples(start, 1, options={"noise": 0}, settings={"env": {"ASSAY_FAKE_SCALE": "1.5"}}) == [1_500_000]
    answer = start("fake").prepare(settings={"env": {"ASSAY_FAKE_BANANA": "1"}})
    assert answer["kind"] == "refused" and "banana" in answer["message"]


@pytest.mark.parametrize("clock", ["computed", "real"])
def test_pace_takes_real_time(start, clock):
    worker = start("fake")
    worker.prepare(options={"noise": 0, "pace": 1, "clock": clock})
    begin = time.monotonic_ns()
    result = worker.measure(max_samples=20, seconds=10)
    assert begin < result["begin_ns"] < result["end_ns"] < time.monotonic_ns()
    assert result["end_ns"] - result["begin_ns"] >= 20_000_000
    assert min(result["ns"]) >= 1_000_000 and (clock == "real" or max(result["ns"]) == 1_000_000)


def test_the_host_slows_down_for_all_alike(start):
    options = {"noise": 0, "pace": 1, "slowdown": 0.5, "slowdown_period_ms": 40}
    for _ in range(2):
        worker = start("fake")
        worker.prepare(options=options)
        for _ in range(30):
            result = worker.measure(max_samples=1)
            begin_ns = result["begin_ns"]
            if 1_000_000 < begin_ns % 20_000_000 < 19_000_000:  # not at the edge of a half
                assert result["ns"] == [1_500_000 if begin_ns % 40_000_000 >= 20_000_000 else 1_000_000]


def test_memory_is_really_used_and_its_want_is_reported(start):
    worker = start("fake")
    worker.prepare(options={"memory_bytes": 200_000_000, "parameters": 99})
    status = open("/proc/%d/status" % worker.process.pid).read()
    assert int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) * 1024 > 200_000_000
    assert start("fake").prepare(options={"memory_bytes": 1 << 60})["kind"] == "out_of_memory"


@pytest.mark.parametrize(
    "options",
    [{"pace": 2}, {"noise": "loud"}, {"layers": 1.5}, {"clock": "real"}, {"slowdown": 0.3}, {"clock": "sun", "pace": 1},
     {"misbehave": "banana"}, {"misbehave": "nan_sample", "misbehave_at": "exit"}],
)  # fmt: skip
def test_a_wrong_value_is_refused_by_the_name_of_its_option(start, options):
    answer = start("fake").prepare(options=options)
    assert answer["kind"] == "refused"
    assert any(name in answer["message"] for name in options)


def listed():
    """Name to (stages, outcome), as the README has them."""
    text = (ROOT / "workers" / "fake" / "README.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \| ([a-z, ]+) \| .* \| (\w+)[^|]*\|$", text, re.M)
    return {name: (stages.split(", "), outcome) for name, stages, outcome in rows}


def test_the_readme_lists_every_misbehaviour(start):
    message = start("fake").prepare(options={"misbehave": "banana"})["message"]
    known = set(re.search(r"none, (.*)\.$", message).group(1).split(", "))
    assert known == set(listed()) and len(known) >= 24


HARMFUL = {"line_1gb", "fork_setsid", "fork_setsid_ok", "fork_tree", "memory_blowup"}


@pytest.mark.parametrize("name", sorted(set(listed()) - HARMFUL))
def test_misbehaves_as_listed(start, name):
    """A rough judge: does the worker show the symptom that should lead to the outcome listed?"""
    stages, outcome = listed()[name]
    worker = start("fake", checked=False)
    # This judge does not count what comes on stderr, where assay-rank ends a flood: here it is silence.
    expected = "timed_out" if name == "flood_stderr" else outcome
    assert judge(worker, {"misbehave": name}, stages[0]) == expected


def judge(worker, options, stage):
    try:
        message = worker.prepare(options=options, seconds=1.5) if stage == "prepare" else behave(worker, options)
        if message is None:
            return ended(worker)
        if message["type"] == "error" and message["kind"] in ("refused", "failed", "out_of_memory"):
            return message["kind"]
        if message["type"] == "prepared" and message["protocol"] == 1:
            return "ok"
        if message["type"] == "done" and worker.close() == 0:
            return "ok"
        return "bad_output"
    except (AssertionError, ValueError, KeyError, UnicodeDecodeError, TypeError, RecursionError):
        return "bad_output"
    except TimeoutError:
        return "timed_out"


def behave(worker, options):
    """Prepares and measures twice, reading with little patience and no trust."""
    assert worker.prepare(options=options)["type"] == "prepared"
    for _ in range(2):
        worker.send({"type": "measure", "detail": "step", "seconds": 10, "max_samples": 100})
        got = 0
        while True:
            message = worker.read(seconds=1.5)
            if message is None or message["type"] == "error":
                return message
            if message["type"] == "done":
                assert message["samples"] == got > 0 and message["begin_ns"] <= message["end_ns"]
                break
            assert all(isinstance(ns, int) and 0 <= ns < 2**63 for ns in message["ns"])
            got += len(message["ns"])
            assert got <= 100
    return message


def ended(worker):
    try:
        worker.process.wait(0.5)
        return "crashed"
    except Exception:
        return "bad_output"  # its output is closed but it lives


def test_the_symptoms_of_the_ends(start):
    for name, code in (("exit_3", 3), ("crash_segv", -signal.SIGSEGV), ("abort", -signal.SIGABRT)):
        for at in ("prepare", "exit"):
            worker = start("fake")
            worker.prepare(options={"misbehave": name, "misbehave_at": at})
            if at == "exit":
                worker.send({"type": "exit"})
            assert worker.process.wait(LIMIT_SECONDS) == code


def test_a_misbehaviour_waits_for_its_step(start):
    worker = start("fake")
    worker.prepare(options={"misbehave": "error_failed", "misbehave_step": 5})
    assert len(worker.measure(max_samples=5)["ns"]) == 5
    assert worker.measure(max_samples=5)["kind"] == "failed"


def processes_of(exe):
    """Processes that run this program, by /proc."""
    found = set()
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink("/proc/%s/exe" % entry) == exe:
                found.add(int(entry))
        except OSError:
            pass
    return found


def wait_until(holds):
    deadline = time.monotonic() + LIMIT_SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def resident_kilobytes(pid):
    status = open("/proc/%d/status" % pid).read()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))


def session(pid):
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return None


def kill_all(pids):
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def test_an_escaped_child_outlives_a_worker_that_ends_well(start):
    exe = os.path.realpath(start("fake").process.args[0])
    worker = start("fake")
    before = processes_of(exe)
    try:
        worker.prepare(options={"misbehave": "fork_setsid_ok"})
        assert worker.measure()["type"] == "done"
        worker.send({"type": "exit"})  # end of file does not come: the child holds the pipe
        assert worker.process.wait(LIMIT_SECONDS) == 0
        # The process between the two is gone in a moment.
        wait_until(lambda: [session(pid) != worker.process.pid for pid in processes_of(exe) - before] == [True])
    finally:
        kill_all(processes_of(exe) - before)


def test_a_tree_of_children_grows_but_is_bounded(start):
    exe = os.path.realpath(start("fake").process.args[0])
    worker = start("fake")
    before = processes_of(exe)
    worker.prepare(options={"misbehave": "fork_tree"})
    worker.send({"type": "measure", "detail": "step", "seconds": 1, "max_samples": 1})
    wait_until(lambda: len(processes_of(exe) - before) >= 400)
    time.sleep(0.5)
    assert len(processes_of(exe) - before) <= 510


def test_memory_grows_until_ended(start):
    worker = start("fake")
    worker.prepare(options={"misbehave": "memory_blowup"})
    worker.send({"type": "measure", "detail": "step", "seconds": 1, "max_samples": 1})
    wait_until(lambda: resident_kilobytes(worker.process.pid) > 500_000)
    worker.kill()


def test_a_line_of_a_gigabyte_keeps_coming(start):
    worker = start("fake")
    worker.prepare(options={"misbehave": "line_1gb"})
    worker.send({"type": "measure", "detail": "step", "seconds": 1, "max_samples": 1})
    got = 0
    while got < 50_000_000:
        chunk = os.read(worker.process.stdout.fileno(), 1 << 20)
        assert chunk and b"\n" not in chunk
        got += len(chunk)
