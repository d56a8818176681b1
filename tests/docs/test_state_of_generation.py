"""What makes the page of engines that generate text, from made-up answers of the program."""

import pathlib
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from parts import generate_page

GENERATED = {
    "first_token_ns": 80e6,
    "token_ns": 5e6,
    "output_tokens_per_second": 160.0,
    "weights_bytes": 120 << 20,
    "cache_bytes": 6 << 20,
}


def result(trial="t", worker="llamacpp", **changes):
    trial = {"trial_id": trial, "trial": {"worker": {"name": worker, "release": "1"}}, "failures": {}, "validity": []}
    return {**trial, "untrusted": 0, "share_of_roofline": 0.5, "generated": GENERATED, **changes}


def side(trial, ratio, low=None, high=None):
    interval = None if low is None else {"low": low, "high": high, "confidence": 0.95}
    return {"trial_id": trial, "ratio": ratio, "ratio_interval": interval}


FAMILY = {"families": [{"sides": [side("a", 1.0), side("b", 2.0, 1.8, 2.2)], "pairs": [{"groups": 6}]}]}


def test_ratios_are_those_of_two_sides_or_of_more():
    found = generate_page.sides_of(FAMILY)
    assert found == {"a": (1.0, None, None, 6), "b": (2.0, 1.8, 2.2, 6)}
    pair = {"a": {"trial_id": "a"}, "b": {"trial_id": "b"}, "pairs": 3, "ratio": 1.5}
    pair["ratio_interval"] = {"low": 1.2, "high": 1.8}
    found = generate_page.sides_of({"comparisons": [pair]})
    assert found == {"a": (1.0, None, None, 3), "b": (1.5, 1.2, 1.8, 3)}
    # Half of 1.8 - 1.2, over 1.5.
    assert generate_page.half_widths(found) == [pytest.approx(0.2)]


def test_too_few_groups_are_said():
    assert generate_page.ratio_words((2.0, 1.8, 2.2, 6)) == "2 (1.8 to 2.2)"
    assert generate_page.ratio_words((2.0, 1.8, 2.2, 5)) == "2 (1.8 to 2.2), 5 groups"
    assert generate_page.ratio_words((1.0, None, None, 5)) == "1"
    assert generate_page.ratio_words(None) == "-"


def test_a_disturbed_row_says_so_and_a_failed_one_has_its_reason():
    accuracy = {"log_probability": 0.0123, "other_token": 0.25}
    row = generate_page.row(result(), (1.0, None, None, 6), accuracy)
    assert row == ["llamacpp 1", "80 ms", "5 ms", "160", "1", "120 MiB", "6 MiB", "50 %", "0.012", "25 %"]
    assert generate_page.row(result(untrusted=2), None, None)[2] == "5 ms (?)"
    assert generate_page.row(result(validity=["steal"]), None, None)[2] == "5 ms (?)"
    failed = generate_page.row(result(generated=None, failures={"timeout": 1}), None, None)
    assert failed[1] == "timeout" and len(failed) == len(generate_page.HEAD)


def test_the_page_has_a_table_for_each_format_and_the_width_of_its_ratios():
    sides = generate_page.sides_of(FAMILY)
    rows = [generate_page.row(result("a"), sides["a"], None), generate_page.row(result("b", "vllm"), sides["b"], None)]
    parts = [("llama_60m", name, rows, sides, 6) for name in ("fp16", "q8_0")]
    text = generate_page.page(parts, "Written.")
    assert text.count("### llama_60m") == 1 and "Weights in F16:" in text and "Weights in Q8_0:" in text
    assert "10 % in the median" in text  # half of 2.2 - 1.8, over 2
    assert "| vllm 1 |" in text


def test_what_is_still_to_be_measured_is_said():
    sides = generate_page.sides_of(FAMILY)  # of 6 groups
    alone = generate_page.sides_of({})
    parts = [("llama_60m", "fp16", [["a"]], sides, 6), ("llama_60m", "int4", [["a"]], alone, 4)]
    wanted = [("llama_60m", "fp16"), ("llama_60m", "int4"), ("tinyllama_1b", "q8_0")]
    assert generate_page.missing(parts, wanted, 6) == [("llama_60m", "int4", 4), ("tinyllama_1b", "q8_0", 0)]
    told = generate_page.so_far(parts, wanted, 6)
    assert told.startswith("1 of 3 tables are complete so far.") and "tinyllama_1b in Q8_0 (0 of 6 groups)" in told
    assert generate_page.so_far(parts, wanted[:1], 6) == "All 1 tables have their 6 groups."
