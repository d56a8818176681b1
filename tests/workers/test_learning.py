"""Workers that learn digits, held to the same training in plain numpy and double precision."""

import json
import re
import subprocess
import sys

import digits_oracle as oracle
import numpy
import pytest
import value_files
from conftest import BUILD, FOLDERS, ROOT, info

sys.path.append(str(ROOT / "workers" / "common"))
import assay_digits
import assay_worker

STEPS, BATCH, SEED = 20, 32, 1
LEARNERS = [name for name in FOLDERS if "digits" in info(name).get("data", [])]


def graph_of(network, *options):
    words = [BUILD / "assay", "show", "--network", network, "--json", *options]
    return json.loads(subprocess.run(words, capture_output=True, check=True, timeout=60).stdout)["graph"]


@pytest.fixture(params=LEARNERS)
def learner(request):
    return request.param


@pytest.fixture
def learn(start, learner, tmp_path):
    """Prepares a worker on given weights and lets it take steps; losses, and the score after them."""

    def learnt(graph, optimizer, rate, weights, steps=STEPS):
        flat = {name: (value.shape, [float(x) for x in value.flat]) for name, value in weights.items()}
        path = value_files.write(tmp_path / "weights.safetensors", flat)
        worker = start(learner)
        prepared = prepare(worker, graph, optimizer=optimizer, rate=rate, values=path)
        assert prepared["type"] == "prepared", prepared
        assert prepared["parameters"] == graph["parameters"]
        assert len(worker.measure(seconds=1e6, max_samples=steps)["ns"]) == steps
        worker.send({"type": "score"})
        scored = worker.read()
        assert worker.close() == 0
        return scored

    return learnt


def prepare(worker, graph, optimizer="sgd", rate=0.01, data="digits", learn=True, mode="train", seed=SEED, **more):
    workload = {"network": graph["name"], "mode": mode, "batch": BATCH, "precision": "fp32", "data": data}
    if learn:
        named = {"until": "accuracy>=97%", "epochs": 100, "optimizer": optimizer, "learning_rate": rate}
        workload["options"] = named
    return worker.prepare(workload=workload, graph=graph, seed=seed, seconds=120, **more)


@pytest.mark.parametrize(
    ("network", "optimizer"), [("lenet", "sgd"), ("lenet", "adam"), ("mlp", "sgd"), ("mlp", "adam")]
)
def test_the_first_losses_are_those_of_numpy(learner, learn, network, optimizer):
    graph, rate = graph_of(network), oracle.RATES[optimizer]
    weights, (method, tolerance) = oracle.first_weights(graph, 7), oracle.as_trained_by(learner, optimizer)
    wanted, trained = oracle.losses(graph, weights, BATCH, STEPS, method, rate)
    in_fp32, _ = oracle.losses(graph, weights, BATCH, STEPS, method, rate, dtype="float32")
    assert 10 * oracle.apart(in_fp32, wanted) < oracle.TOLERANCE, "fp32 alone changes too much here"
    scored = learn(graph, optimizer, rate, weights)
    assert oracle.apart(scored["losses"], wanted) <= tolerance
    assert scored["of"] == oracle.HELD_OUT
    assert abs(scored["correct"] - oracle.correct(trained)) <= 1  # a sample between two classes
    # Mistakes are farther away: a rate ten times too high, and labels of the sample before.
    rated, _ = oracle.losses(graph, weights, BATCH, STEPS, method, 10 * rate)
    shifted, _ = oracle.losses(graph, weights, BATCH, STEPS, method, rate, label_shift=1)
    assert oracle.apart(scored["losses"], rated) > 10 * tolerance
    assert oracle.apart(scored["losses"], shifted) > 10 * tolerance


def test_the_same_seed_gives_the_same_training_on_every_framework(start, learner):
    """Without a file of weights they are drawn from the seed, as the order is."""
    graph = graph_of("mlp")
    asked = {"workload": {"batch": BATCH, "mode": "train"}, "graph": graph, "seed": SEED}
    drawn = assay_digits.first_weights(assay_worker.Prepare(asked))
    wanted, _ = oracle.losses(graph, drawn, BATCH, STEPS, "sgd", 0.01)
    worker = start(learner)
    assert prepare(worker, graph)["type"] == "prepared"
    worker.measure(seconds=1e6, max_samples=STEPS)
    worker.send({"type": "score"})
    assert oracle.apart(worker.read()["losses"], wanted) < 1e-4


def test_epochs_have_orders_of_their_own_and_the_score_goes_on(start, learner):
    """The second epoch is another order of the same samples, and both are those of the oracle."""
    worker, graph = start(learner), graph_of("mlp")
    assert prepare(worker, graph)["type"] == "prepared"
    scores = []
    for _ in range(2):
        worker.measure(seconds=1e6, max_samples=44)
        worker.send({"type": "score"})
        scores.append(worker.read())
    assert [len(score["losses"]) for score in scores] == [44, 44]
    assert scores[1]["correct"] > scores[0]["correct"] > 180  # of 360; 36 would be guessed
    assert numpy.mean(scores[1]["losses"]) < numpy.mean(scores[0]["losses"])


@pytest.mark.parametrize(
    ("change", "said"),  # workers in C++ say it as Assay itself does
    [
        ({"learn": False}, "such as 'accuracy>=97%'|ends at an accuracy"),
        ({"mode": "infer"}, "mode infer|mode is infer"),
        ({"settings": {"loaders": 2}}, "loaders"),
        ({"optimizer": "lion"}, "optimizer:? '?lion"),
    ],
)
def test_what_cannot_be_learnt_is_refused(start, learner, change, said):
    answer = prepare(start(learner), graph_of("mlp"), **change)
    assert (answer["type"], answer["kind"]) == ("error", "refused")
    assert re.search(said, answer["message"])


def test_a_network_for_other_images_is_refused(start, learner):
    answer = prepare(start(learner), graph_of("lenet", "--option", "classes=9"))
    assert (answer["type"], answer["kind"]) == ("error", "refused")
    assert "Networks for them are lenet and mlp" in answer["message"]


def test_a_score_of_what_does_not_learn_is_an_error(start, learner):
    worker = start(learner)
    assert prepare(worker, graph_of("mlp"), learn=False, data="memory")["type"] == "prepared"
    worker.send({"type": "score"})
    assert worker.read()["type"] == "error"


def test_the_file_of_digits_is_that_of_scikit_learn():
    from sklearn.datasets import load_digits

    wanted = load_digits()
    rows = [line.split() for line in (ROOT / "workers" / "common" / "digits.txt").open() if line[0] != "#"]
    assert [[int(digit, 17) for digit in row[0]] for row in rows] == wanted.data.astype(int).tolist()
    assert [int(row[1]) for row in rows] == wanted.target.tolist()


def test_nothing_held_out_is_trained_on():
    (trained, _), (held_out, _) = oracle.parts()
    assert (len(trained), len(held_out)) == (oracle.TRAINED, oracle.HELD_OUT)
    seen = {image.tobytes() for image in trained}
    assert not any(image.tobytes() in seen for image in held_out)
