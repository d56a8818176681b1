"""Every network of Assay's in workers/pytorch: built with all its parameters, and explained by its parts.

A sum of parts must be the step that it was taken from, and taking it must not cost much. The first is sure on any host.
The second is judged at full size on a quiet machine: pytest -m full -s tests/workers/test_pytorch_networks.py
"""

import functools
import json
import statistics
import subprocess

import pytest
from conftest import BUILD

# As published with the networks; googlenet and inception_v3 without their auxiliary heads.
PARAMETERS = {
    "alexnet": 61_100_840,
    "bert_base": 109_482_240,
    "googlenet": 6_624_904,
    "gpt2": 124_439_808,
    "inception_v3": 23_834_568,
    "mobilenet_v2": 3_504_872,
    "resnet50": 25_557_032,
    "vgg16": 138_357_544,
}
BRIEF = ("bert_base", "inception_v3")
QUICK = {"googlenet": {"image": 96}, "resnet50": {"image": 96}, "bert_base": {"sequence": 32}}


@functools.cache
def graph_of(name, options=()):
    argv = [BUILD / "assay", "show", "--network", name, "--json"]
    for option, value in options:
        argv += ["--option", "%s=%s" % (option, value)]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)["graph"]


def prepared(start, name, options=None, threads=2, **more):
    worker = start("pytorch")
    graph = graph_of(name, tuple((options or {}).items()))
    answer = worker.prepare(
        network=name, graph=graph, batch=1, options=options, settings={"intra_op": threads}, seconds=120, **more
    )
    assert answer["parameters"] == PARAMETERS[name], answer
    return worker


def layer_sums(result):
    """Sum over nodes, forward and backward, of each step."""
    lists = [values for pair in result["layers"].values() for values in pair if values]
    return [sum(values) for values in zip(*lists)]


def phase_sums(result):
    return [sum(values) for values in zip(*result["phases"].values())]


def take(worker, detail, samples):
    return worker.measure(detail=detail, max_samples=samples, seconds=300, wait=300)


# Of the others bench/equality has those that are quick to build; what a graph counts is held to what was published.
@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if n in BRIEF else pytest.mark.full) for n in PARAMETERS])
def test_it_has_the_published_number_of_parameters(start, name):
    assert len(prepared(start, name).measure(max_samples=1, wait=120)["ns"]) == 1


@pytest.mark.timing
@pytest.mark.parametrize("mode", ["infer", "train"])
@pytest.mark.parametrize("name", QUICK)
def test_layers_and_phases_explain_the_step(start, name, mode):
    worker = prepared(start, name, QUICK[name], threads=1, mode=mode)
    worker.measure(max_samples=2)
    result = take(worker, "layers", 10)
    shares = [part / whole for part, whole in zip(layer_sums(result), result["ns"])]
    assert max(shares) <= 1 and statistics.median(shares) >= 0.9, shares
    result = take(worker, "phases", 10)
    shares = [part / whole for part, whole in zip(phase_sums(result), result["ns"])]
    assert max(shares) <= 1 and statistics.median(shares) >= 0.97, shares
    costs = [take(worker, "layers", 1)["ns"][0] / take(worker, "step", 1)["ns"][0] for _ in range(15)]
    assert statistics.median(costs) < 2, costs  # a phase of the host is no reason to fail; a worker gone wrong is


@pytest.mark.full
@pytest.mark.timing
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("mode", ["infer", "train"])
@pytest.mark.parametrize("name", PARAMETERS)
def test_layers_and_phases_explain_the_step_at_full_size(start, name, mode, threads):
    """By the clock, against plain steps taken in turns: needs a quiet machine."""
    worker = prepared(start, name, threads=threads, mode=mode)
    worker.measure(max_samples=3, seconds=60, wait=120)
    layers, phases = [], []
    for _ in range(9):
        before = take(worker, "step", 1)["ns"][0]
        layer = layer_sums(take(worker, "layers", 1))[0]
        between = take(worker, "step", 1)["ns"][0]
        phase = phase_sums(take(worker, "phases", 1))[0]
        after = take(worker, "step", 1)["ns"][0]
        layers.append(2 * layer / (before + between))
        phases.append(2 * phase / (between + after))
    layers, phases = statistics.median(layers), statistics.median(phases)
    print("%s %s %d threads: layers over step %.3f, phases over step %.3f" % (name, mode, threads, layers, phases))
    assert 0.9 <= layers <= 1.15
    assert 0.97 <= phases <= 1.03
