"""Text generation with a worker whose law is known: medians, the curve, its fit, and what is refused."""

import pytest

# first = 2,000,000 + 10,000 * 100 = 3 ms; token i follows a context of 100 + i: 500,000 + 1,000 * (100 + i) ns.
ASKED = ["--output-tokens", "41", "--option", "noise=0"]
QUICK = ["--seconds", "1s", "--warmup", "50ms", "--retries", "0", "--quiet"]
STALL = ["--option", "stall_token=20", "--option", "stall_ns=50000000"]


def gap(i):
    return 500_000 + 1_000 * (100 + i)


@pytest.fixture
def measured(place):
    def call(*more, prompt=100, runs=6):
        said = ["--prompt-tokens", prompt, "--runs", runs]
        place.assay("run", "toy", "--worker", "fake", *ASKED, *map(str, said), *more, *QUICK)
        return place.assay("show", "--json").json()["results"]

    return call


def test_medians_and_curve_are_the_law_and_a_stall_moves_neither(measured):
    (result,) = measured(*STALL)
    generated = result["generated"]
    assert result["ok"] == 6
    assert generated["first_token_ns"] == pytest.approx(3_000_000, rel=0.01)
    mean = sum(gap(i) for i in range(1, 41)) / 40
    assert generated["token_ns"] == pytest.approx(mean, rel=0.01)
    assert generated["curve_ns"] == pytest.approx([gap(i) for i in range(1, 41)], rel=0.01)
    assert generated["longest_ns"] == pytest.approx(gap(20) + 50_000_000, rel=0.01)  # every fifth answer stalls
    assert generated["prompt_tokens_per_second"] == pytest.approx(100 / 3e-3, rel=0.01)
    assert generated["weights_bytes"] == 4 * 1234 and generated["cache_bytes"] == 8 * 141
    phases = result["phases"]
    assert phases["seconds"]["prefill"] == pytest.approx(3e-3, rel=0.01)
    assert phases["seconds"]["decode"] == pytest.approx(40 * mean / 1e9, rel=0.01)
    assert 0.97 <= phases["sum_over_step"] <= 1.03


def test_the_fit_of_the_curve_gives_the_law_back(place, measured):
    measured(*STALL)
    argv = ["--of", "token", "--factors", "context", "--family", "terms", "--draws", "20"]
    place.assay("fit", *argv, "--out", "law.json")  # one group, or it would be refused
    for context in (101, 120, 140):
        said = place.assay("fit", "--score", "law.json", "--at", f"context={context}", "--json")
        seconds = said.json()["prediction"]["seconds"]
        assert seconds == pytest.approx((500_000 + 1_000 * context) / 1e9, rel=0.01)


def test_first_tokens_are_fitted_over_the_prompt(place, measured):
    measured(prompt="25-3200*2", runs=2)
    argv = ["--of", "first_token", "--factors", "prompt_tokens", "--family", "terms", "--draws", "20"]
    place.assay("fit", *argv, "--out", "law.json")
    said = place.assay("fit", "--score", "law.json", "--at", "prompt_tokens=300", "--json").json()
    assert said["prediction"]["seconds"] == pytest.approx((2_000_000 + 10_000 * 300) / 1e9, rel=0.01)


def test_a_sweep_has_a_trial_for_each_prompt_and_number_of_sequences(measured):
    results = measured("--sequences", "1-4*2", prompt="128-512*2", runs=1)
    asked = [result["trial"]["workload"]["generate"] for result in results]
    wanted = [(prompt, sequences) for prompt in (128, 256, 512) for sequences in (1, 2, 4)]
    assert sorted((one["prompt_tokens"], one["sequences"]) for one in asked) == wanted


def test_parts_of_an_answer_are_compared_by_name(place):
    more = ["--runs", "6", "--seconds", "200ms", "--warmup", "20ms", "--retries", "0", "--quiet"]
    for scale, name in (("10000", "a"), ("20000", "b")):
        said = ["--prompt-tokens", "100", "--option", f"prompt_token_ns={scale}", "--name", name]
        place.assay("run", "toy", "--worker", "fake", *ASKED, *said, *more)
    # Only the first token differs: 3 ms and 4 ms.
    first = place.assay("compare", "a", "b", "--of", "first_token", "--json").json()
    token = place.assay("compare", "a", "b", "--of", "token", "--json").json()
    assert first["comparisons"][0]["ratio"] == pytest.approx(4 / 3, rel=0.01)
    assert token["comparisons"][0]["ratio"] == pytest.approx(1, rel=0.01)


@pytest.mark.parametrize(
    "argv, told",
    [
        (["toy", "--worker", "fake", "--mode", "infer", "--prompt-tokens", "8"], "mode is infer"),
        (["toy", "--worker", "fake", "--prompt-tokens", "0"], "prompt_tokens: 0 is outside"),
        (["toy", "--worker", "fake", "--prompt-tokens", "8", "--batch", "2"], "sequences"),
        (["toy", "--worker", "fake", "--tokens", "banana"], "banana"),
    ],
)
def test_what_does_not_fit_is_refused(place, argv, told):
    assert told in place.assay("run", *argv, expect=2).stderr
