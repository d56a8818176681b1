"""`assay compare` on real stores: the fake worker's truth is known."""

import json
import xml.etree.ElementTree

import pytest

TOY = ["--network", "toy", "--worker", "fake", "--seconds", "0.1", "--warmup", "0.02", "--quiet"]
SIDES = ["env.ASSAY_FAKE_SCALE=1", "env.ASSAY_FAKE_SCALE=1.06"]


@pytest.fixture
def document(validate):
    """What --json printed, held to its schema."""
    return lambda done: validate(json.loads(done.stdout), "comparison")


def test_what_is_missing_is_measured_in_lock_step_and_a_slow_down_fails_the_gate(assay, document):
    found = document(assay("compare", "--run", *SIDES, *TOY, "--gate", "3%", "--json", code=3))
    (one,) = found["comparisons"]
    assert one["method"] == "lockstep" and one["pairs"] == 10 and one["verdict"] == "slower"
    assert one["ratio"] == pytest.approx(1.06, rel=0.01)
    assert one["ratio_interval"]["low"] < 1.06 < one["ratio_interval"]["high"]
    assert found["failed"] == 1 and found["gate"] == 0.03
    # The same command measures nothing anew and says the same; a higher gate lets it pass.
    again = document(assay("compare", "--run", *SIDES, *TOY, "--gate", "20%", "--json"))
    assert again["comparisons"][0]["ratio"] == one["ratio"]
    # Turned around it is faster, which no gate forbids.
    (turned,) = document(assay("compare", *reversed(SIDES), "--gate", "0%", "--json"))["comparisons"]
    assert turned["verdict"] == "faster" and turned["ratio"] == pytest.approx(1 / one["ratio"])


def test_a_lock_step_campaign_is_a_comparison_of_its_own(assay, document):
    assay("run", "toy", "--worker", "fake", "--lockstep", "--option", "scale=1,1.2", *TOY[4:], "--name", "pair")
    (one,) = document(assay("compare", "pair", "--json"))["comparisons"]
    assert one["method"] == "lockstep" and one["ratio"] == pytest.approx(1.2, rel=0.01)


SCALES = [1, 1.06, 0.8, 1.5]
FOUR = [f"env.ASSAY_FAKE_SCALE={scale}" for scale in SCALES]


@pytest.fixture
def families(validate):
    """What --json printed of several sides, held to its schema."""
    return lambda done: validate(json.loads(done.stdout), "families")


def test_four_sides_are_measured_at_once_and_each_is_compared_with_each(assay, families):
    found = families(assay("compare", "--run", *FOUR, *TOY, "--gate", "3%", "--json", code=3))
    assert found["sides"] == FOUR and found["to"] == "first" and found["failed"] == 2, "1.06 and 1.5 against 1"
    (family,) = found["families"]
    assert family["reference"] == 0 and family["sides"][0]["ratio"] == 1
    for side, scale in zip(family["sides"][1:], SCALES[1:], strict=True):
        assert side["ratio"] == pytest.approx(scale, rel=0.01) and side["runs"] == 10
        assert side["ratio_interval"]["low"] < scale * 1.005 and scale * 0.995 < side["ratio_interval"]["high"]
    assert [(pair["first"], pair["second"]) for pair in family["pairs"]] == [
        (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)
    ]  # fmt: skip
    for pair in family["pairs"]:
        ratio = SCALES[pair["second"]] / SCALES[pair["first"]]
        assert pair["method"] == "lockstep" and pair["groups"] == 10
        assert pair["ratio"] == pytest.approx(ratio, rel=0.01)
        assert pair["verdict"] == ("slower" if ratio > 1 else "faster")
    # The same command measures nothing again; to the fastest, ratios are others and verdicts the same.
    again = families(assay("compare", "--run", *FOUR, *TOY, "--to", "fastest", "--json"))
    (other,) = again["families"]
    assert other["reference"] == 2 and other["pairs"] == family["pairs"]
    for side, scale in zip(other["sides"], SCALES, strict=True):
        assert side["ratio"] == pytest.approx(scale / 0.8, rel=0.01)
    text = assay("compare", *FOUR).stdout
    assert "10 lock-step groups" in text and text.count(" time than ") == 6
    # Two of them are a comparison as ever: their runs were alive at once.
    (two,) = json.loads(assay("compare", *FOUR[1:3], "--json").stdout)["comparisons"]
    assert two["method"] == "lockstep" and two["pairs"] == 10 and two["ratio"] == pytest.approx(0.8 / 1.06, rel=0.01)


def test_a_lock_step_campaign_of_three_is_a_comparison_of_its_own(assay, families):
    assay("run", "toy", "--worker", "fake", "--lockstep", "--option", "scale=1,1.2,0.7", *TOY[4:], "--name", "three")
    (family,) = families(assay("compare", "three", "--json"))["families"]
    ratios = sorted(side["ratio"] for side in family["sides"])
    assert ratios == pytest.approx([0.7, 1, 1.2], rel=0.01)
    assert "--explain splits the difference of two sides, and there are 3" in assay(
        "compare", "three", "--explain", code=2
    ).stderr  # fmt: skip


def test_rounds_of_a_campaign_are_compared_as_independent_processes(assay, document):
    # A number of samples and not a time: a busy host gives as many.
    counted = ["--warmup", "0", "--seconds", "10", "--max-samples", "50", "--quiet"]
    for _ in range(2):
        assay("run", "toy", "--worker", "fake", "--batch", "1,2", *counted, "--name", "nightly", "--again")
    found = document(assay("compare", "nightly@1", "nightly@2", "--json"))
    assert [one["verdict"] for one in found["comparisons"]] == ["no_difference"] * 2
    # The same seed gives the same samples; but on a busy host disturbed runs are left out, on either side others.
    assert [one["ratio"] for one in found["comparisons"]] == pytest.approx([1, 1], abs=0.01)
    assert {one["a"]["runs"] for one in found["comparisons"]} == {10}


def test_releases_settings_and_flags_choose(assay, document):
    assay("run", "toy", "--worker", "fake", "--intra-op", "1,2", "--batch", "1,8", *TOY[4:])
    found = document(assay("compare", "intra_op=1", "intra_op=2", "--json"))["comparisons"]
    # The law of the fake worker: 2 threads take .1 + .9 / 2 of the time.
    assert [one["ratio"] for one in found] == pytest.approx([0.55, 0.55], rel=0.01)
    (one,) = document(assay("compare", "intra_op=1", "intra_op=2", "--batch", "8", "--json"))["comparisons"]
    assert one["a"]["trial"]["workload"]["batch"] == 8


def test_it_explains_by_phase_and_layer(assay, document):
    """When inferring, forward is 80 % of the fake worker's step, and layer4 40 % of that."""
    done = assay("compare", "--run", *SIDES, *TOY, "--explain", "--json")
    (one,) = document(done)["comparisons"]
    assert one["phases"][0]["name"] == "forward"
    difference = {part["name"]: part["b_seconds"] - part["a_seconds"] for part in one["phases"]}
    assert difference["forward"] / sum(difference.values()) == pytest.approx(0.8, abs=0.02)
    assert one["layers"][0]["name"] == "layer4"
    said = assay("compare", *SIDES, "--explain").stdout
    assert "by phase: most in forward +" in said and "by layer: most in layer4 +" in said


def test_a_calibration_raises_the_least_difference_that_counts(assay, document):
    """And a gate on a host whose noise is not known says that it is advisory."""
    gate = ("compare", "--run", *SIDES, *TOY, "--gate", "3%")
    assert "The gate is advisory: the noise of this host is not known" in assay(*gate, code=3).stdout
    said = assay("doctor", "--calibrate", "--calibrate-worker", "fake", "--calibrate-network", "toy", "--pairs", 8)
    assert "lock-step pairs" in said.stdout and "fresh processes" in said.stdout
    known = json.loads(
        assay(
            *("doctor", "--calibrate", "--calibrate-worker", "fake", "--calibrate-network", "toy", "--pairs", 8),
            "--json",
            "--quiet",
        ).stdout
    )
    assert known["noise"]["pairs"] == 8 and known["noise"]["pair"] > 0
    shares = {(row["method"], row["runs"]): row["share"] for row in known["detectable"]}
    assert shares["lockstep", 20] < shares["lockstep", 10]
    found = document(assay("compare", "--run", *SIDES, *TOY, "--json"))
    assert "advisory" not in assay(*gate, code=3).stdout
    assert found["calibrated"] and found["comparisons"][0]["threshold"] >= 0.01


def test_files_for_continuous_integration(assay, tmp_path):
    files = ["--junit", "out.xml", "--markdown", "out.md"]
    assay("compare", "--run", *SIDES, *TOY, "--gate", "3%", *files, code=3)
    suite = xml.etree.ElementTree.parse(tmp_path / "out.xml").getroot()
    assert len(list(suite.iter("testcase"))) == 1 and len(list(suite.iter("failure"))) == 1
    assert "more time" in (tmp_path / "out.md").read_text()


def test_a_measurement_stops_by_itself(assay):
    """Noise of 1 % within runs: the interval of 8 medians of hundreds of samples is narrow at once. With 3 % between
    runs it is not, and the caps end it."""
    assay("run", "toy", "--worker", "fake", *TOY[4:], "--stop", "1%", "--name", "calm")
    wild = ["--option", "run_noise=0.03", "--stop", "0.5%", "--most-runs", "12", "--name", "wild"]
    assay("run", "toy", "--worker", "fake", *TOY[4:], *wild)
    counts = {}
    for name in ("calm", "wild"):
        (result,) = json.loads(assay("show", name, "--json").stdout)["results"]
        counts[name] = result["runs"]
    assert counts == {"calm": 8, "wild": 12}


def test_only_trials_that_are_not_sure_yet_are_measured_on(assay):
    assay("run", "toy", "--worker", "fake", "--option", "run_noise=0,0.05", *TOY[4:], "--stop", "1%", "--name", "two")
    results = json.loads(assay("show", "two", "--json").stdout)["results"]
    assert [result["runs"] for result in results] == [8, 20]


BAD = [
    (["compare", "nothing", "here"], "nothing"),
    (["compare", "--run", "fake", "fake", "--network", "toy"], "same trial"),
    (["compare", "--run", "2026-11-15", "fake", "--network", "toy"], "cannot be measured again"),
    (["compare", "a", "b", "--gate", "lots"], "not a valid share"),
    (["compare", "intra_op=1", "intra_op=2", "--option", "x=1"], "--run"),
    (["run", "toy", "--worker", "fake", "--stop", "1%", "--runs", "5"], "--most-runs"),
    (["run", "toy", "--worker", "fake", "--most-runs", "9"], "--stop"),
    (["run", "toy", "--worker", "fake", "--stop", "1%", "--most-runs", "3"], "8"),
]


@pytest.mark.parametrize("argv, said", BAD)
def test_what_makes_no_sense_is_refused_with_a_reason(assay, argv, said):
    assay("run", "toy", "--worker", "fake", "--runs", 1, *TOY[4:])
    assert said in assay(*argv, code=2).stderr


def test_trials_without_a_partner_are_counted(assay, document):
    assay("run", "toy", "--worker", "fake", "--intra-op", "1", "--batch", "1,2", "--runs", 6, *TOY[4:])
    assay("run", "toy", "--worker", "fake", "--intra-op", "2", "--batch", "1", "--runs", 6, *TOY[4:])
    found = document(assay("compare", "intra_op=1", "intra_op=2", "--json"))
    assert len(found["comparisons"]) == 1 and found["only_a"] == 1 and found["only_b"] == 0
    assert "nothing to compare" in assay("compare", "intra_op=1", "intra_op=4", code=2).stderr
