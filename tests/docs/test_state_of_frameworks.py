"""The tables of docs/state_of_frameworks.md, from records that are made up; expected values are derived beside them."""

import importlib.util
import json
import math
import os
import pathlib
import re
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


def run(worker, rate, network="net", mode="infer", batch=1, **more):
    made = {"network": network, "mode": mode, "batch": batch, "worker": worker, "outcome": "ok", "message": ""}
    return made | {"trusted": 1, "median_ns": None if rate is None else batch / rate * 1e9} | more


def cells(runs, wanted, against=None, shares=None):
    return table.cells_of([("net", "infer", 1, name) for name in wanted], against or {}, runs, shares or {})


def test_a_cell_is_the_geometric_mean_of_its_runs():
    found, _ = cells([run("a", 50), run("a", 200)], ["a"])
    assert found["net", "infer", 1, "a"].rate == pytest.approx(100)  # sqrt(50 * 200)


def test_disturbed_runs_count_only_where_there_are_no_others():
    runs = [run("a", 100), run("a", 10, trusted=0), run("b", 30, trusted=0)]
    found, _ = cells(runs, ["a", "b"])
    assert found["net", "infer", 1, "a"].rates == pytest.approx([100])
    assert not found["net", "infer", 1, "b"].trusted
    assert table.shown(found["net", "infer", 1, "b"], found["net", "infer", 1, "a"], None) == "30 (?)"


def test_every_way_to_be_empty_has_its_reason():
    runs = [
        run("memory", None, outcome="out_of_memory", message="passed 14 GiB"),
        run("error", None, outcome="failed", message="bad |\n value"),
        run("same", None, outcome="failed", message="bad | value"),
        run("other", None, outcome="crashed", message="signal 11"),
        run("lost", None, outcome="interrupted", message="killed"),
    ]
    wanted = ["memory", "error", "same", "other", "lost", "never"]
    found, messages = cells(runs, wanted, {("net", "infer", 1, "left"): "no training"})
    reasons = {key[3]: cell.reason for key, cell in found.items()}
    assert reasons == {
        "memory": "out of memory",
        "error": "failed [1]",
        "same": "failed [1]",
        "other": "failed [2]",
        "lost": "no time",
        "never": "no time",
        "left": "no training",
    }
    assert messages == ["failed: bad \\| value", "crashed: signal 11"]


def test_a_run_that_failed_beside_a_good_one_leaves_the_number():
    found, messages = cells([run("a", None, outcome="failed", message="once"), run("a", 7)], ["a"])
    assert found["net", "infer", 1, "a"].rate == pytest.approx(7)
    assert messages == []


def pairs(apart, count):
    """Cells of two runs whose logarithms are `apart` from each other."""
    return [table.Cell([1.0, math.exp(apart)]) for _ in range(count)]


# Two runs d apart lie d/2 from their mean; as if the mean were known that is d/2 * sqrt(2) = d / sqrt(2) each.
def test_noise_is_the_quantile_of_pooled_deviations():
    assert table.noise_of(pairs(0.2, 9)) is None  # 18 deviations are too few
    assert table.noise_of(pairs(0.2, 10)) == pytest.approx(0.2 / math.sqrt(2))
    # Of 40 deviations the 95 % quantile is the 38th: two pairs are 4, so it is theirs; one pair is 2, and it is not.
    assert table.noise_of(pairs(0.2, 18) + pairs(0.6, 2)) == pytest.approx(0.6 / math.sqrt(2))
    assert table.noise_of(pairs(0.2, 19) + pairs(0.6, 1)) == pytest.approx(0.2 / math.sqrt(2))
    assert table.noise_of([table.Cell([1.0])] * 50) is None  # single runs say nothing


# With a noise of ln 1.21, one run is within a factor of 1.21, four runs within its root, 1.1.
def test_an_interval_narrows_with_the_root_of_the_runs():
    noise = math.log(1.21)
    assert table.ends(table.Cell([100.0]), noise) == pytest.approx((100 / 1.21, 121))
    assert table.ends(table.Cell([100.0] * 4), noise) == pytest.approx((100 / 1.1, 110))


# With a factor of 1.21 the fastest, 200, reaches down to 165.3. 140 reaches up to 169.4 and is like it, 130 to 157.3.
def test_bold_are_the_fastest_and_what_is_not_told_apart_from_it():
    noise, best = math.log(1.21), table.Cell([200.0])
    assert table.shown(best, best, noise) == "**200** (165 to 242)"
    assert table.shown(table.Cell([140.0]), best, noise) == "**140** (116 to 169)"
    assert table.shown(table.Cell([130.0]), best, noise) == "130 (107 to 157), 1.54 x"
    assert table.shown(table.Cell([199.0]), best, None) == "199, 1.01 x"


DIGITS = [(0.01234, "0.0123"), (9.996, "10"), (123.4, "123"), (999.6, "1,000"), (12345, "12,300")]


@pytest.mark.parametrize("value, words", DIGITS)
def test_numbers_have_three_digits(value, words):
    assert table.number(value) == words


# b takes 2 and 8 times as long as a: 4 in the geometric mean. Of the roofline a has 100 * .002 = .2 and 80 * .005 = .4,
# in the median .3.
def test_the_whole_part_by_hand():
    runs = [run("a", 100, "x"), run("b", 50, "x"), run("a", 80, "y"), run("b", 10, "y")]
    wanted = [(network, "infer", 1, name) for network in "xy" for name in "ab"]
    against = {(network, "train", 8, name): "no training" for network in "xy" for name in "ab"}
    shares = {("x", "infer", 1, "a"): 0.002, ("y", "infer", 1, "a"): 0.005}
    found, messages = table.cells_of(wanted, against, runs, shares)
    part = table.page_part(found, messages, ["a", "b"], lambda network: f"size of {network}")
    assert (
        part
        == """\
Runs per number: 1.

### Inference, batch 1

| runtime | networks | fastest or like it | time beside the fastest | of the roofline |
| --- | ---: | ---: | ---: | ---: |
| a | 2 of 2 | 2 | 1 x | 30 % |
| b | 2 of 2 | 0 | 4 x | - |

Samples per second:

| network | a | b |
| --- | ---: | ---: |
| x, size of x | **100** | 50, 2 x |
| y, size of y | **80** | 10, 8 x |

Share of the roofline:

| network | a | b |
| --- | ---: | ---: |
| x | 20 % | - |
| y | 40 % | - |

### Training, batch 8

No runtime ran this.

| network | a | b |
| --- | ---: | ---: |
| x, size of x | no training | no training |
| y, size of y | no training | no training |

### Why a cell is empty

- *no training*: the runtime, or its worker, infers only.

### Noise

Fewer than 20 runs of any runtime have another run of their trial beside them: too few to tell.
"""
    )


WORKER = {"operators": ["linear", "relu"], "workloads": [{"workload": "alexnet", "modes": ["infer", "train"]}]}
INFERS = {"operators": ["linear", "relu"], "workloads": [{"workload": "alexnet", "modes": ["infer"]}]}
LACKS = {"operators": ["linear"], "workloads": []}


# A step of training has 50 GFLOP for a sample here: eight samples pass the 300 that are allowed.
def test_the_plan_says_why_something_is_left_out():
    nodes = [{"op": "linear"}, {"op": "relu"}]
    shown = {"alexnet": {"graph": {"nodes": nodes}, "infer_flops": 20e9, "train_flops": 50e9}}
    wanted, against = plan.plan({"all": WORKER, "infers": INFERS, "lacks": LACKS}, shown, ["alexnet"])
    assert set(wanted) == {
        ("alexnet", "infer", 1, "all"),
        ("alexnet", "infer", 8, "all"),
        ("alexnet", "train", 1, "all"),
        ("alexnet", "infer", 1, "infers"),
        ("alexnet", "infer", 8, "infers"),
    }
    assert against.pop(("alexnet", "train", 8, "all")) == "too long"
    assert {key[3]: reason for key, reason in against.items()} == {"infers": "no training", "lacks": "no operator relu"}
    assert len(wanted) + len(against) + 1 == 3 * 2 * 2  # no cell is forgotten


def test_sizes_name_every_network():
    listed = subprocess.run(
        [BUILD / "assay", "show", "--networks", "--json"], capture_output=True, check=True, timeout=60
    )
    assert {one["network"] for one in json.loads(listed.stdout)} == set(plan.SIZES)


def test_the_example_has_these_sizes():
    text = (ROOT / "examples" / "state_of_frameworks.yaml").read_text()
    for network, options in plan.SIZES.items():
        entries = re.findall(r"^  - {network: %s, .*$" % network, text, re.MULTILINE)
        assert entries
        words = "options: " + plan.flow(options)
        assert all((words in entry) if options else ("options" not in entry) for entry in entries)
