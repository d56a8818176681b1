"""A real framework under limits of the machine: what was asked, what took effect, and what stood in the way.

The matrix product keeps as many threads busy as PyTorch has. Skipped where PyTorch is not installed; in continuous
integration it is.
"""

import os

import pytest

GEMM = ["gemm", "--worker", "pytorch", "--option", "m=1024", "--option", "n=1024", "--option", "k=1024"]
BRIEF = ["--runs", "1", "--seconds", "1s", "--warmup", "200ms", "--retries", "0", "--quiet"]
CPUS = sorted(os.sched_getaffinity(0))
ONE_CPU = ("taskset", "-c", str(CPUS[0]))

pytestmark = pytest.mark.skipif(
    not os.environ.get("ASSAY_ENVIRONMENTS"),
    reason="needs `assay worker install pytorch`, and ASSAY_ENVIRONMENTS set",
)


@pytest.fixture
def measure(place):
    """Runs the product with some more words; its result and its record."""

    def run(*words, before=()):
        env = {"ASSAY_ENVIRONMENTS": os.environ["ASSAY_ENVIRONMENTS"]}
        shown = place.assay("run", *GEMM, *BRIEF, *words, "--json", before=before, seconds=120, **env).json()
        [record] = place.records()
        return shown["results"][0], record

    return run


def codes(record):
    return {reason["code"]: reason["message"] for reason in record["validity"]["reasons"]}


def effective(record, name):
    return record["ranks"][0]["effective"][name]


@pytest.mark.timing
def test_two_threads_on_one_cpu(measure):
    result, record = measure("--intra-op", "2", before=ONE_CPU)
    assert result["trial"]["settings"]["intra_op"] == 2
    assert effective(record, "intra_op") == 2
    assert "2 threads were busy on 1 CPU" in codes(record)["oversubscribed"]
    assert [reason["code"] for reason in result["validity"] if not reason["passing"]] == ["oversubscribed"]


@pytest.mark.timing
def test_left_alone_it_sees_the_one_cpu(measure):
    _, record = measure(before=ONE_CPU)
    assert effective(record, "intra_op") == 1
    assert "oversubscribed" not in codes(record)


@pytest.mark.timing
def test_two_threads_under_a_quota_of_one_cpu(measure, group):
    if len(CPUS) < 2:
        pytest.skip("needs two CPUs")
    _, record = measure("--intra-op", "2", before=group(quota_cpus=1))
    assert effective(record, "intra_op") == 2, "a framework does not know quotas"
    assert record["ranks"][0]["disturbance"]["quota_cpus"] == 1
    assert {"oversubscribed", "throttled"} <= set(codes(record)), codes(record)


@pytest.mark.timing
def test_a_contrary_variable_loses_against_the_setting(measure):
    result, record = measure("--intra-op", "1", "--env", "OMP_NUM_THREADS=2")
    assert result["trial"]["settings"]["env"] == {"OMP_NUM_THREADS": "2"}
    assert effective(record, "intra_op") == 1
    assert record["ranks"][0]["disturbance"]["active_threads"] == 1
    assert "oversubscribed" not in codes(record)


@pytest.mark.timing
def test_a_setting_that_asks_for_too_much_wins_against_a_modest_variable(measure):
    many = 2 * len(CPUS)
    result, record = measure("--intra-op", str(many), "--env", "OMP_NUM_THREADS=1")
    assert result["trial"]["settings"]["intra_op"] == many
    assert result["effective"]["intra_op"] == [{"value": many, "runs": 1}]
    assert effective(record, "intra_op") == many
    assert "oversubscribed" in codes(record), record["ranks"][0]["disturbance"]


@pytest.mark.timing
def test_a_busy_loop_on_the_same_core(measure, neighbour):
    with neighbour("busy_loop") as pid:
        _, record = measure("--intra-op", "1", before=ONE_CPU)
    assert f"busy_loop (process {pid})" in codes(record)["neighbours"]
    assert record["validity"]["trusted"] is False


@pytest.mark.timing
@pytest.mark.full  # the peak of the machine is measured for it
def test_every_result_says_how_well_the_hardware_is_used(place):
    """A network's FLOP/s against the best gemm, which is measured once for the store."""
    env = {"ASSAY_ENVIRONMENTS": os.environ["ASSAY_ENVIRONMENTS"]}
    words = ["run", "mobilenet_v2", "--worker", "pytorch", "--option", "image=64", *BRIEF, "--json"]
    [result] = place.assay(*words, seconds=300, **env).json()["results"]
    assert 0 < result["share_of_peak"] < 1
    roofs = place.assay("show", "peak fp32 memory", "--json", **env).json()["results"]
    gemms = [roof for roof in roofs if roof["trial"]["workload"]["network"] == "gemm"]
    [triad] = [roof for roof in roofs if roof["trial"]["workload"]["network"] == "triad"]
    assert sorted(gemm["trial"]["workload"]["options"]["m"] for gemm in gemms) == [1024, 2048, 4096]
    best = max(gemms, key=lambda gemm: gemm["flops_per_second"])
    assert best["share_of_peak"] == 1 and best["trial_id"] == result["peak_trial"]
    options = best["trial"]["workload"]["options"]
    flops = 2 * options["m"] * options["n"] * options["k"]
    assert best["flops_per_second"] == pytest.approx(flops * best["samples_per_second"])
    assert result["share_of_peak"] == pytest.approx(result["flops_per_second"] / best["flops_per_second"])
    assert triad["bytes_per_second"] == pytest.approx(3 * 4 * 2**25 * triad["samples_per_second"])
    memory = result["bytes_per_second"] / triad["bytes_per_second"]
    assert result["share_of_roofline"] == pytest.approx(max(memory, result["share_of_peak"]))
    # The second time nothing is missing, and nothing is measured.
    assert place.assay(*words, ASSAY_LIBEXEC="/nowhere", **env).json()["results"] == [result]
    assert set(result["phases"]["seconds"]) == {"forward"}
    assert result["peak_memory_bytes"] > 50e6
    assert result["interval_reason"] == "1 good runs; a 95 % interval needs 6"


def test_the_example_of_an_own_network_runs(place):
    env = {"ASSAY_ENVIRONMENTS": os.environ["ASSAY_ENVIRONMENTS"]}
    network = f"{place.root}/examples/own_network.py:build"
    words = ["run", network, "--worker", "pytorch", "--mode", "infer,train", "--option", "width=16", *BRIEF, "--json"]
    results = place.assay(*words, seconds=120, **env).json()["results"]
    assert [result["ok"] for result in results] == [1, 1]
    # 16 filters of 3 x 3 x 3 with bias, and 16 x 10 weights with bias.
    assert {record["ranks"][0]["parameters_built"] for record in place.records()} == {16 * 27 + 16 + 160 + 10}
    assert results[0]["share_of_peak"] is None and "not known" in results[0]["share_reason"]
