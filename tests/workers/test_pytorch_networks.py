"""Every network of Assay's in workers/pytorch: built with all its parameters, and explained by its parts.

A sum of parts is compared with the step that it was taken from, and with plain steps taken in turns with it. Neighbours
on the host only ever add time, so that the shortest of some steps is compared with the shortest of others.
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


def check_parts_explain_the_step(worker, rounds, statistic):
    steps, layers, phases = [], [], []
    worker.measure(seconds=0, max_samples=1)
    for _ in range(rounds):
        steps += worker.measure(max_samples=1, seconds=60, wait=120)["ns"]
        result = worker.measure(detail="layers", max_samples=1, seconds=60, wait=120)
        layers += layer_sums(result)
        assert 0.9 <= layers[-1] / result["ns"][0] <= 1
        result = worker.measure(detail="phases", max_samples=1, seconds=60, wait=120)
        phases.append(sum(values[0] for values in result["phases"].values()))
        assert 0.97 <= phases[-1] / result["ns"][0] <= 1
    typical = statistic(steps)
    assert 0.9 <= statistic(layers) / typical <= 1.15, (statistic(layers), typical)
    return statistic(phases) / typical


@pytest.mark.parametrize("name", PARAMETERS)
def test_it_has_the_published_number_of_parameters(start, name):
    assert len(prepared(start, name).measure(max_samples=1, wait=120)["ns"]) == 1


@pytest.mark.timing
@pytest.mark.parametrize("mode", ["infer", "train"])
@pytest.mark.parametrize("name", QUICK)
def test_layers_and_phases_explain_the_step(start, name, mode):
    worker = prepared(start, name, QUICK[name], threads=1, mode=mode)
    check_parts_explain_the_step(worker, 8, min)


@pytest.mark.full
@pytest.mark.timing
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("mode", ["infer", "train"])
@pytest.mark.parametrize("name", PARAMETERS)
def test_layers_and_phases_explain_the_step_at_full_size(start, name, mode, threads):
    worker = prepared(start, name, threads=threads, mode=mode)
    assert 0.97 <= check_parts_explain_the_step(worker, 15, statistics.median) <= 1.03
