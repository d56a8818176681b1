"""Workers that replay a step of training: they wait as long as the file computes, and exchange its buckets."""

import hashlib
import json
import shutil

import pytest
from conftest import FOLDERS, argv_of
from ranks import Ranks, under_mpirun

PREPARE_SECONDS = 300
PHASES = ["forward", "backward", "communicate", "update"]
# Forward until 20 ms, backward until 50 ms, update for 5 ms.
STEP = {
    "network": "mine",
    "batch": 4,
    "forward_seconds": 0.02,
    "backward_seconds": 0.03,
    "update_seconds": 0.005,
    "buckets": [
        {"ready_seconds": 0.03, "bytes": 40_000},
        {"ready_seconds": 0.04, "bytes": 4},
        {"ready_seconds": 0.05, "bytes": 300},
    ],
}
COMPUTED_NS = 50_000_000


def asked(folder, step=STEP, **changed):
    path = folder / "step.replay"
    path.write_text(json.dumps(step))
    file = {"path": str(path), "function": None, "hash": hashlib.sha256(path.read_bytes()).hexdigest()[:32]}
    return {"network": "step.replay", "file": file, "mode": "train", "batch": 4, **changed}


def needed(name):
    if not (FOLDERS[name] / "worker.json").exists() or (name == "mpi" and not shutil.which("mpirun")):
        pytest.skip("built without Open MPI")
    argv_of(name)  # skips what is not installed


def check_steps(prepared, steps, phases):
    assert prepared["type"] == "prepared" and prepared["parameters"] is None, prepared
    assert len(steps["ns"]) == 3 and min(steps["ns"]) >= COMPUTED_NS + 5_000_000
    assert list(phases["phases"]) == PHASES
    for step, *parts in zip(phases["ns"], *phases["phases"].values()):
        assert parts[0] == 20_000_000 and parts[1] == 30_000_000 and parts[2] >= 0 and parts[3] >= 5_000_000
        assert sum(parts) <= step


@pytest.mark.parametrize("name", ["mpi", "pytorch"])
def test_one_rank_waits_and_sends_nothing(start, tmp_path, name):
    needed(name)
    worker = start(name)
    prepared = worker.prepare(seconds=PREPARE_SECONDS, **asked(tmp_path))
    measured = [worker.measure(max_samples=3, detail=detail) for detail in ("step", "phases")]
    check_steps(prepared, *measured)
    assert measured[1]["buckets"] == []
    assert worker.close() == 0


def test_ranks_of_mpi_replay_together(tmp_path):
    needed("mpi")
    measures = [{"max_samples": 3}, {"max_samples": 2, "detail": "phases"}]
    prepare = asked(tmp_path, options={"algorithm": "ring"}, settings={"spin": False})
    (tmp_path / "answers").mkdir()
    for *answers, code in under_mpirun(tmp_path / "answers", 3, prepare, measures):
        check_steps(*answers)
        assert code == 0


def exchanged(start, folder, step):
    """Sizes of the buckets that each of two ranks of pytorch says it exchanged."""
    pair = Ranks(start, "pytorch")
    for prepared in pair.prepare(seconds=PREPARE_SECONDS, **asked(folder, step)):
        assert prepared["type"] == "prepared", prepared
    measured = pair.measure(max_samples=2, seconds=1000, detail="phases")
    for one in measured:
        for _, ns, hidden_ns in one["buckets"]:
            assert all(0 <= hidden <= took and took > 0 for took, hidden in zip(ns, hidden_ns))
    assert pair.close() == [0, 0]
    return [[size for size, _, _ in one["buckets"]] for one in measured]


def test_ranks_of_pytorch_exchange_the_buckets_of_the_file(start, tmp_path):
    """And a planted error is seen: the same gradients joined otherwise."""
    needed("pytorch")
    wanted = [bucket["bytes"] for bucket in STEP["buckets"]]
    assert exchanged(start, tmp_path, STEP) == [wanted, wanted]
    joined = {**STEP, "buckets": [{"ready_seconds": 0.05, "bytes": sum(wanted)}]}
    assert exchanged(start, tmp_path, joined) != [wanted, wanted]


@pytest.mark.parametrize("name", ["mpi", "pytorch"])
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"batch": 8}, ["batch 8", "batch 4"]),
        ({"mode": "infer"}, ["mode infer"]),
        ({"precision": "bf16"}, ["precision", "bf16"]),
        ({"options": {"bytes": 4}}, ["bytes"]),
        ({"settings": {"bucket_bytes": 4}}, ["bucket_bytes"]),
        ({"step": {**STEP, "backward_seconds": 0.01}}, ["step.replay"]),
        ({"step": {**STEP, "buckets": [{"ready_seconds": 0.03, "bytes": 6}]}}, ["step.replay"]),
        ({"step": [1]}, ["step.replay"]),
    ],
)
def test_what_does_not_fit_is_refused_by_name(start, tmp_path, name, changed, words):
    needed(name)
    answer = start(name).prepare(seconds=PREPARE_SECONDS, **asked(tmp_path, **changed))
    assert answer["type"] == "error" and all(word in answer["message"] for word in words), answer


@pytest.mark.parametrize("name", ["mpi", "pytorch"])
def test_a_file_that_has_changed_is_refused(start, tmp_path, name):
    needed(name)
    prepare = asked(tmp_path)
    (tmp_path / "step.replay").write_text(json.dumps({**STEP, "update_seconds": 0}))
    answer = start(name).prepare(seconds=PREPARE_SECONDS, **prepare)
    assert answer["kind"] == "refused" and "has changed" in answer["message"], answer
