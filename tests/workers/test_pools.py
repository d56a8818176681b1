"""workers/pools over the protocol: the pool that is asked for, and what it refuses. Tasks: pool_test.cpp."""

import pytest
from conftest import FOLDERS

TASKS = {"network": "tasks", "batch": 1, "options": {"tasks": 200, "work": 10}}
NAMES = ["eigen", "openmp", "queue", "spawn", "tbb"]

pytestmark = pytest.mark.skipif(not (FOLDERS["pools"] / "worker.json").exists(), reason="built without oneTBB")


def refused(answer, *parts):
    assert (answer["type"], answer["kind"]) == ("error", "refused"), answer
    for part in parts:
        assert part in answer["message"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("threads", [1, 3])
def test_pool_and_threads_are_read_back(start, name, threads):
    worker = start("pools", env={"TASK_POOL": name})
    answer = worker.prepare(**TASKS, settings={"intra_op": threads})
    assert answer["effective"] == {"pool": name, "intra_op": threads}
    assert len(worker.measure(max_samples=3, seconds=10)["ns"]) == 3


def test_tasks_may_do_nothing(start):
    assert start("pools").prepare(**{**TASKS, "options": {"tasks": 1, "work": 0}})["type"] == "prepared"


CASES = {
    "network": ({"network": "gemm", "options": {}}, ("gemm", "only tasks")),
    "option": ({"options": {"tasks": 0}}, ("'tasks'", "0")),
    "too many": ({"options": {"tasks": 2**31}}, ("'tasks'", "at most 2147483647")),
    "unknown option": ({"options": {"banana": 1}}, ("'banana'", "tasks, work")),
    "samples": ({"batch": 2}, ("batch 2",)),
    "training": ({"mode": "train"}, ("train",)),
    "precision": ({"precision": "bf16"}, ("bf16", "fp32")),
    "setting": ({"settings": {"spin": True}}, ("spin",)),
}


@pytest.mark.parametrize("case", CASES)
def test_what_it_cannot_do_is_refused_by_name(start, case):
    asked, parts = CASES[case]
    refused(start("pools").prepare(**{**TASKS, **asked}), *parts)


def test_an_unknown_pool_is_refused_by_name(start):
    refused(start("pools", env={"TASK_POOL": "banana"}).prepare(**TASKS), "'banana'", ", ".join(NAMES))
