"""Several ranks of workers/pytorch: gradients are averaged, collectives give the right result, none waits for ever."""

import statistics

import graphs
import perceptron
import pytest
import value_files
from ranks import Ranks

SMALL = {"network": "small", "graph": graphs.small_network(), "settings": {"intra_op": 1}, "seconds": 120}
TRAIN = {**SMALL, "mode": "train"}
ALONE = {**TRAIN, "rank": 0, "ranks": 2, "peers": ["127.0.0.1:1", "127.0.0.1:2"]}
COLLECTIVES = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "ping_pong"]


@pytest.fixture
def pair(start):
    return Ranks(start, "pytorch")


def refused(answer, *parts):
    assert (answer["type"], answer["kind"]) == ("error", "refused"), answer
    for part in parts:
        assert part in answer["message"]


def test_ranks_train_together_and_say_what_the_exchange_took(pair):
    settings = {"intra_op": 1, "bucket_bytes": 1024}
    for prepared in pair.prepare(**{**TRAIN, "settings": settings}):
        assert prepared["parameters"] == 906 and prepared["effective"]["bucket_bytes"] == 1024, prepared
    assert [len(result["ns"]) for result in pair.measure(max_samples=4, seconds=1000)] == [4, 4]
    for result in pair.measure(detail="phases", max_samples=9, seconds=1000):
        assert set(result["phases"]) == {"forward", "backward", "communicate", "update"}
        shares = [sum(parts) / step for step, *parts in zip(result["ns"], *result["phases"].values())]
        assert max(shares) <= 1 and statistics.median(shares) > 0.9
        # The branch and the head hold 576 + 16 + 90 gradients, 2728 bytes, more than a bucket of 1024.
        assert len(result["buckets"]) > 1
        assert sum(size for size, _, _ in result["buckets"]) == 4 * 906
        for _, took, hidden in result["buckets"]:
            assert len(took) == 9 and all(0 <= h <= t for t, h in zip(took, hidden))
        assert all(h == 0 for h in result["buckets"][-1][2])  # nothing is left to hide the last one
    for answer in pair.measure(detail="layers"):
        refused(answer, "layers", "DistributedDataParallel")


def test_gradients_are_the_mean_over_the_ranks(pair, tmp_path):
    """Two samples on each rank must give what four give on one: the oracle trains on all four, in plain Python."""
    values = value_files.drawn(perceptron.GRAPH, 4)

    def own(rank):
        part = dict(values)
        part["input/x"] = [2, 5], values["input/x"][1][10 * rank : 10 * rank + 10]
        part["target"] = [2], values["target"][1][2 * rank : 2 * rank + 2]
        return {"values": value_files.write(tmp_path / ("%d.safetensors" % rank), part)}

    def evaluate(worker, _):
        asked = {"output": "/nowhere", "updates": 5, "learning_rate": 0.1, "momentum": 0.9}
        worker.send({"type": "evaluate", **asked})
        return worker.read()

    asked = {"network": "perceptron", "graph": perceptron.GRAPH, "mode": "train", "batch": 2, "seconds": 120}
    for prepared in pair.prepare(own, **asked):
        assert prepared["type"] == "prepared", prepared
    first, second = pair.each(evaluate)
    losses, norms = perceptron.trained(values, 5, 0.1, 0.9)
    assert abs(first["losses"][0] - second["losses"][0]) > 0.01 * losses[0]  # they have other samples
    perceptron.close([statistics.mean(both) for both in zip(first["losses"], second["losses"])], losses)
    for answer in (first, second):
        assert answer["gradient_norms"].keys() == norms.keys()
        perceptron.close(list(answer["gradient_norms"].values()), [norms[n] for n in answer["gradient_norms"]])
    assert pair.close() == [0, 0]


def test_ranks_infer_each_for_itself(pair):
    for prepared in pair.prepare(**SMALL):
        assert prepared["type"] == "prepared" and "bucket_bytes" not in prepared["effective"]
    for result in pair.measure(detail="phases", max_samples=3, seconds=1000):
        assert set(result["phases"]) == {"forward"} and len(result["ns"]) == 3 and not result["buckets"]
    for result in pair.measure(detail="layers", max_samples=3, seconds=1000):
        assert len(result["layers"]) == len(SMALL["graph"]["nodes"])
    assert pair.close() == [0, 0]


def test_when_one_is_killed_the_other_fails_and_does_not_wait(pair):
    pair.prepare(**TRAIN)
    pair.workers[1].kill()
    answer = pair.workers[0].measure(max_samples=3, seconds=1000, wait=30)
    assert answer["kind"] == "failed" and "peer" in answer["message"], answer
    assert pair.workers[0].read_line() is None


def test_when_one_is_killed_the_other_still_exits(pair):
    """Rank 0 held what they found each other by."""
    pair.prepare(**TRAIN)
    pair.workers[0].kill()
    assert pair.workers[1].close() == 0


CASES = {
    "bucket_bytes when inferring": ({**ALONE, "mode": "infer", "settings": {"bucket_bytes": 4}}, "bucket_bytes"),
    "bucket_bytes on one rank": ({**TRAIN, "settings": {"bucket_bytes": 4}}, "bucket_bytes"),
    "compile": ({**ALONE, "settings": {"compile": "inductor"}}, "compile 'inductor'"),
    "cuda": ({**ALONE, "placement": {"device": "cuda", "ranks": 2}}, "cuda"),
    "an address of another host": ({**ALONE, "rank": 1, "peers": ["127.0.0.1:1", "192.0.2.1:2"]}, "192.0.2.1"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_ranks_cannot_do_is_refused_by_name(start, case):
    asked, part = CASES[case]
    refused(start("pytorch").prepare(**asked), part)


@pytest.mark.parametrize("network", COLLECTIVES)
def test_a_collective_gives_the_right_result_and_is_timed(pair, network):
    """Each rank compares the result of the first one with what it must be, and fails otherwise."""
    for prepared in pair.prepare(network=network, batch=1, options={"bytes": 4096}, seconds=120):
        assert prepared["type"] == "prepared" and prepared["parameters"] == 0, prepared
    for result in pair.measure(detail="phases", max_samples=300, seconds=1000):
        assert set(result["phases"]) == {"communicate"} and len(result["ns"]) == 300
        assert all(0 < c <= n for c, n in zip(result["phases"]["communicate"], result["ns"]))
    assert pair.close() == [0, 0]


def test_what_a_collective_cannot_do_is_refused_before_others_are_waited_for(start):
    """Of the two ranks only one is there. The other cases are a check of pytorch_step_checks.py."""
    asked = {"network": "all_reduce", "batch": 1, "ranks": 2, "peers": ALONE["peers"], "options": {"bytes": 12}}
    refused(start("pytorch").prepare(**asked, seconds=60), "bytes=12", "multiple of 8")
