"""The commonest fault in production: a container has a quota of one CPU, and the framework sees every CPU of the host.

With the real PyTorch worker: the doctor warns, the tuner finds one thread, and `assay exec` gives it to a program.
Skipped where PyTorch is not installed; in continuous integration it is.
"""

import os
import pathlib

import pytest

CPUS = sorted(os.sched_getaffinity(0))
GEMM = ["gemm", "--worker", "pytorch", "--option", "m=384", "--option", "n=384", "--option", "k=384"]
BRIEF = ["--seconds", "1s", "--warmup", "200ms", "--retries", "0", "--quiet", "--allocator", "null", "--spin", "null"]
SHOW = "import torch, os; print(torch.get_num_threads(), os.environ['OMP_WAIT_POLICY'], len(os.sched_getaffinity(0)))"

pytestmark = [
    pytest.mark.skipif(
        not os.environ.get("ASSAY_ENVIRONMENTS"),
        reason="needs `assay worker install pytorch`, and ASSAY_ENVIRONMENTS set",
    ),
    pytest.mark.skipif(len(CPUS) < 2, reason="needs two CPUs"),
]


TUNE = ["tune", *GEMM, *BRIEF, "--goal", "throughput", "--no-split", "--name", "one"]


@pytest.fixture
def env():
    return {"ASSAY_ENVIRONMENTS": os.environ["ASSAY_ENVIRONMENTS"]}


@pytest.fixture
def inside(group):
    """Words before a command that give it one CPU's time."""
    return group(quota_cpus=1)


def test_a_quota_of_one_cpu_is_told_and_known_to_the_tuner(place, inside, env):
    told = place.assay("doctor", "--json", before=inside, **env).json()["findings"]
    assert [one["severity"] for one in told if one["code"] == "quota"] == ["warning"]
    plan = place.assay(*TUNE, "--dry-run", "--json", before=inside, **env).json()
    assert plan["resources"]["quota"] == 1
    threads = {one["trial"]["settings"].get("intra_op") for one in plan["candidates"]}
    assert {1, None} <= threads  # one that fits the quota, and what the framework does by itself


@pytest.mark.full
def test_the_tuner_finds_one_thread_and_a_program_gets_it(place, inside, env):
    """Judges times, so that a noisy machine can fail it."""
    found = place.assay(*TUNE, "--budget", "16", "--pairs", "6", "--json", before=inside, seconds=500, **env).json()
    assert found["settings"]["intra_op"] == 1
    assert found["settings"]["affinity"] is None and found["settings"]["instances"] is None
    [default] = [gain for gain in found["results"]["gains"] if gain["baseline"] == "framework-default"]
    assert default["gain"]["value"] > 1
    python = sorted(pathlib.Path(os.environ["ASSAY_ENVIRONMENTS"]).glob("pytorch-*/bin/python"))[-1]
    shown = place.assay("exec", "--tuned", "one", "--", python, "-c", SHOW, before=inside, **env)
    assert shown.stdout.split() == ["1", "passive", str(len(CPUS))]


def test_a_tuning_for_a_quota_is_refused_outside_of_it(place, inside, env):
    """With a budget that is too small to judge by: what was found does not matter here."""
    place.assay(*TUNE, "--budget", "4", "--pairs", "0", before=inside, seconds=300, **env)
    refused = place.assay("exec", "--tuned", "one", "--", "true", expect=2)
    assert "is for 1 usable CPUs" in refused.stderr and "--rescale" in refused.stderr
