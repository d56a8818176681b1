"""The tables of docs/reference/state_of_frameworks.md, from comparisons that are made up; derived values beside."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "bench" / "parts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


table, plan = loaded("state_table"), loaded("state_plan")


def side(name, ratio, low=None, high=None):
    interval = None if low is None else {"low": low, "high": high, "confidence": 0.95}
    return {"trial": name, "median_ns": ratio * 4e6, "ratio": ratio, "ratio_interval": interval}


# The fastest is b. a is proved slower, whichever of the two comes first in a pair; c is not told apart from b.
FAMILY = {
    "reference": 1,
    "sides": [side("a", 2.0, 1.9, 2.1), side("b", 1.0, 1.0, 1.0), side("c", 1.02, 0.97, 1.07)],
    "pairs": [
        {"first": 0, "second": 1, "verdict": "faster"},
        {"first": 0, "second": 2, "verdict": "faster"},
        {"first": 1, "second": 2, "verdict": "no_difference"},
    ],
}


def cells(family=None):
    return table.cells_of(family or FAMILY, lambda trial: trial)


def test_only_a_verdict_makes_a_side_slower_than_the_fastest():
    assert {name: cell.like_fastest for name, cell in cells().items()} == {"a": False, "b": True, "c": True}
    undecided = {**FAMILY, "pairs": [pair | {"verdict": "undecided"} for pair in FAMILY["pairs"]]}
    assert all(cell.like_fastest for cell in cells(undecided).values())
    turned = [{"first": 1, "second": 0, "verdict": "slower"}, FAMILY["pairs"][2]]
    assert not cells({**FAMILY, "pairs": turned})["a"].like_fastest


# (2.1 - 1.9) / 2 / 2 = .05; the fastest has no interval to itself.
def test_half_a_width_is_a_share_of_the_ratio():
    found = cells()
    assert found["a"].half_width == pytest.approx(0.05)
    assert found["b"].half_width is None


def test_cells_in_words():
    found = cells()
    words = {name: table.shown(cell) for name, cell in found.items()}
    assert words == {"a": "2.00 (1.90 to 2.10)", "b": "**1**, 4 ms", "c": "**1.02 (0.97 to 1.07)**"}
    assert table.shown(table.Cell("no training")) == "no training"


# Of the sides that ran, a takes 2 and 8 times as long: 4 in the geometric mean.
def test_the_whole_part_by_hand():
    first = table.MeasuredRow(plan.Row("x", "infer", "fp32", 1, ()), cells(), 6)
    other = {"a": table.Cell(step_ns=8e3, ratio=8.0, low=7.0, high=9.0), "c": table.Cell("no training")}
    other["b"] = table.Cell(step_ns=1e3, ratio=1.0, like_fastest=True)
    second = table.MeasuredRow(plan.Row("y", "infer", "fp32", 8, (("image", 64),)), other, 6)
    part = table.page_part([first, second], ["a", "b", "c"], ["y, c: failed: bad"])
    # Halves of intervals: .05, .049 and .125, of which the last is not below 12 %.
    assert (
        part
        == """\
Half of an interval is 5.0 % of its ratio in the median of 3 cells, and less than 12 % in 67 % of them.

### Inference, fp32

| runtime | networks | fastest, or not told apart from it | time beside the fastest |
| --- | ---: | ---: | ---: |
| a | 2 of 2 | 0 | 4.00 |
| b | 2 of 2 | 2 | 1.00 |
| c | 1 of 2 | 1 | 1.02 |

Time of a step, as a ratio to the fastest:

| network | a | b | c |
| --- | ---: | ---: | ---: |
| x, as published, batch 1 | 2.00 (1.90 to 2.10) | **1**, 4 ms | **1.02 (0.97 to 1.07)** |
| y, image 64, batch 8 | 8.00 (7.00 to 9.00) | **1**, 1 us | no training |

### Why a cell is empty

- *no training*: the runtime, or its worker, infers only.
- [1] y, c: failed: bad
"""
    )


WORKER = {
    "operators": ["linear", "relu"],
    "precisions": ["fp32", "bf16"],
    "workloads": [{"workload": "alexnet", "modes": ["infer", "train"]}],
}
ROW = plan.Row("alexnet", "train", "fp32", 1, ())


@pytest.mark.parametrize(
    "changed, reason",
    [
        ({}, None),
        ({"operators": ["linear"]}, "no operator relu"),
        ({"workloads": []}, "network refused"),
        ({"workloads": [{"workload": "alexnet", "modes": ["infer"]}]}, "no training"),
        ({"precisions": ["bf16"]}, "no fp32"),
    ],
)
def test_what_a_runtime_cannot_do_has_its_reason(changed, reason):
    assert plan.reason_against({**WORKER, **changed}, {"linear", "relu"}, ROW) == reason


# A step may have 12 GFLOP. 1.4 for a sample: a batch of 8 has 11.2. 2: a batch of 4. 13: the smaller size.
@pytest.mark.parametrize("published, batch, options", [(1.4e9, 8, ()), (2e9, 4, ()), (13e9, 8, (("image", 112),))])
def test_a_row_has_the_published_size_where_its_step_is_short(published, batch, options):
    def flops_of(_, size):
        return {"train": 1e9 if size else published}

    assert plan.row_of("resnet50", "train", "fp32", flops_of) == plan.Row("resnet50", "train", "fp32", batch, options)


def test_every_network_and_option_of_the_plan_is_there():
    for network, options in plan.SMALLER.items():
        words = [word for pair in options.items() for word in ("--option", "%s=%s" % pair)]
        argv = [BUILD / "assay", "show", "--network", network, *words, "--json"]
        shown = json.loads(subprocess.run(argv, capture_output=True, check=True, timeout=60).stdout)
        assert shown["infer_flops"] > 0


def test_a_campaign_has_a_trial_for_each_side():
    made = json.loads(plan.campaign(ROW, "state", ["pytorch", "pytorch compiled"], 6))
    assert [trial["settings"] for trial in made["trials"]] == [{"intra_op": 2}, {"intra_op": 2, "compile": "inductor"}]
    assert made["runs"] == 6
