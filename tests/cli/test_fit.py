"""`assay fit` on tables whose law is known, and on what the fake worker measures."""

import json
import math
import random
import re

import pytest

FAST = ["--evaluations", "8000", "--draws", "50"]


def write_table(path, factor=1.0, noise=0.01, seed=1):
    """Two frameworks: (5 ms + 2 ms batch^.9 / threads^.7), the second half as fast; three runs a point."""
    drawn = random.Random(seed)
    lines = ["framework,batch,threads,step_ms"]
    for name, slower in (("quick", 1), ("slow", 2)):
        for batch in (1, 2, 4, 8, 16, 32):
            for threads in (1, 2, 4, 8):
                for _ in range(3):
                    ms = factor * slower * (5 + 2 * batch**0.9 / threads**0.7) * math.exp(drawn.gauss(0, noise))
                    lines.append(f"{name},{batch},{threads},{ms}")
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture
def table(tmp_path):
    write_table(tmp_path / "times.csv")
    return "times.csv"


@pytest.fixture
def models(assay, validate):
    def call(*argv):
        found = json.loads(assay("fit", *argv, *FAST, "--json").stdout)["models"]
        return [validate(model, "model") for model in found]

    return call


def test_each_framework_has_its_law(models, table):
    quick, slow = models(table, "--time", "step_ms")
    assert quick["name"] == "times.csv: quick" and slow["name"] == "times.csv: slow"
    constants = {constant["name"]: constant for constant in quick["constants"]}
    for name, truth in (("q_batch", 0.9), ("q_threads", -0.7), ("C", 5e-3)):
        assert constants[name]["value"] == pytest.approx(truth, rel=0.05)
        assert constants[name]["low"] <= constants[name]["value"] <= constants[name]["high"]
    assert slow["constants"][-1]["value"] == pytest.approx(2 * constants["C"]["value"], rel=0.05)
    assert quick["points"] == 24 and quick["rows"] == 72
    assert {one["family"] for one in quick["candidates"]} == {"generic", "ssgd", "ernest", "terms"}


def test_it_is_written_for_people(assay, table):
    told = assay("fit", table, "--time", "step_ms", "--where", "framework=quick", *FAST).stdout
    assert "72 rows, 24 points: batch 1 to 32 (6 levels, extrinsic); threads 1 to 8 (4 levels, parallel)" in told
    law = re.search(r"(?m)^seconds = \S+ batch\^(\S+) threads\^(\S+) \+ \S+$", told)
    assert float(law[1]) == pytest.approx(0.9, abs=0.05) and float(law[2]) == pytest.approx(-0.7, abs=0.05)
    assert re.search(r"doubling batch takes 1\.[789]\d? times as long", told)
    assert "chosen" in told and "held out" in told
    assert "At the slowest point (batch=32, threads=1)" in told


def test_a_kept_law_is_asked_and_scored(assay, table, tmp_path):
    assay("fit", table, "--time", "step_ms", "--where", "framework=quick", "--out", "law.json", *FAST)
    asked = ["fit", "--score", "law.json", "--at", "batch=64", "--at", "threads=1", "--json"]
    said = json.loads(assay(*asked).stdout)["prediction"]
    truth = (5 + 2 * 64**0.9) / 1e3
    assert said["low"] < truth < said["high"] and said["seconds"] == pytest.approx(truth, rel=0.05)
    assert said["doublings"] == 1
    write_table(tmp_path / "later.csv", factor=2, seed=2)
    later = ["fit", "later.csv", "--time", "step_ms", "--where", "framework=quick", "--score", "law.json"]
    [scored] = json.loads(assay(*later, "--json").stdout)["scores"]
    assert scored["score"]["median_error"] == pytest.approx(0.5, abs=0.02)
    assert scored["score"]["coverage"] == 0
    assert "0 % within the 90 % interval" in assay(*later).stdout


def test_what_was_not_seen_is_refused(assay, table):
    assay("fit", table, "--time", "step_ms", "--where", "framework=quick", "--out", "law.json", *FAST)
    told = assay("fit", "--score", "law.json", "--at", "batch=4096", "--at", "threads=1").stdout
    assert told == "No time is given: batch = 4096 is 7.0 doublings beyond 1 to 32, where it was measured.\n"


@pytest.mark.parametrize(
    "argv, message",
    [
        (["absent.csv"], "cannot read absent.csv"),
        (["times.csv"], "--time: there is no column 'seconds'. There are 'framework, batch, threads, step_ms'."),
        (["times.csv", "--time", "step_ms", "--out", "x.json"], "there are 2 groups"),
        (["times.csv", "--time", "step_ms", "--where", "framework=none"], "no row is left to fit after --where"),
        (
            ["times.csv", "--time", "step_ms", "--family", "magic"],
            "there is no family 'magic'. Families: generic, ssgd",
        ),
        (["times.csv", "--time", "step_ms", "--role", "batch=big"], "intrinsic"),
        (["times.csv", "--time", "step_ms", "--confidence", "2"], "confidence: 2 is outside 0.5 to 0.99"),
        (["times.csv", "--campaign", "x"], "not both"),
        (["--score", "none.json", "--at", "batch=1"], "cannot read none.json"),
        ([], "assay.db"),
    ],
)
def test_what_is_wrong_is_said(assay, table, argv, message):
    code = 1 if message.startswith("cannot read") else 2
    assert message in assay("fit", *argv, code=code).stderr


def test_a_factor_at_one_level_is_refused_with_the_reason(assay, tmp_path):
    (tmp_path / "flat.csv").write_text("batch,seconds\n" + "8,1\n8,1.1\n" * 5)
    told = assay("fit", "flat.csv", code=2).stderr
    assert "Seen at one level only: batch. Measure at least two, better four." in told


def test_records_of_a_store_are_fitted_and_the_model_is_kept(assay, models):
    """The fake worker's toy takes as long as its law says; samples, threads and batch are known truth."""
    run = [
        "run",
        "toy",
        "--worker",
        "fake",
        "--batch",
        "1,2,4,8,16",
        "--intra-op",
        "1,2",
        "--runs",
        "2",
        "--name",
        "sweep",
    ]
    assay(*run, "--seconds", "0.1", "--warmup", "0.02", "--no-phases", "--quiet", "--retries", "0")
    [model] = models("--campaign", "sweep")
    assert [one["factor"] for one in model["ranges"]] == ["batch", "threads"]
    assert {one["factor"] for one in model["fixed"]} >= {"instances", "ranks"}
    said = json.loads(assay("fit", "--score", "sweep", "--at", "batch=32", "--at", "threads=1", "--json").stdout)
    assert said["prediction"]["seconds"] > model["law"]["terms"][-1]["coefficient"]
    scored = json.loads(assay("fit", "--campaign", "sweep", "--score", "sweep", "--json").stdout)["scores"][0]["score"]
    assert 8 <= scored["points"] <= 10 and scored["refused"] == 0  # disturbed runs are left out


def test_the_table_of_records_can_be_had_as_csv(assay, tmp_path):
    """A run that was disturbed is not in it, so that of eight there may be fewer."""
    assay("run", "toy", "--worker", "fake", "--batch", "1,2", "--runs", "4", "--seconds", "0.05", "--quiet")
    assay("fit", "--table", "table.csv")
    lines = (tmp_path / "table.csv").read_text().splitlines()
    assert {"batch", "mode", "worker", "seconds"} <= set(lines[0].split(","))
    assert 2 <= len(lines) <= 1 + 8


def test_a_dry_run_says_how_long_by_earlier_runs(assay):
    argv = ["run", "toy", "--worker", "fake", "--runs", "2", "--seconds", "0.05", "--no-peak"]
    assert "earlier runs" not in assay(*argv, "--dry-run").stdout
    assay(*argv, "--quiet")
    assert re.search(r"By 2 earlier runs in assay.db of these workers: about \d+ s", assay(*argv, "--dry-run").stdout)


def test_one_law_over_frameworks(models, table, assay):
    """The second framework takes twice as long in both terms, so that a and C are own and the exponents shared."""
    (model,) = models(table, "--time", "step_ms", "--by", "framework", "--family", "generic", "--out", "law.json")
    assert model["model_version"] == 2 and model["law"]["by"] == "framework"
    assert model["law"]["own"] == ["a", "C"]
    constants = {(one["name"], one["level"]): one["value"] for one in model["constants"]}
    assert constants["q_batch", ""] == pytest.approx(0.9, rel=0.03)
    assert constants["C", "quick"] == pytest.approx(5e-3, rel=0.05)
    assert constants["C", "slow"] == pytest.approx(1e-2, rel=0.05)
    at = ("--at", "batch=32", "--at", "threads=1")
    said = json.loads(assay("fit", "--score", "law.json", "--at", "framework=slow", *at, "--json").stdout)
    assert said["prediction"]["seconds"] == pytest.approx(2 * (5 + 2 * 32**0.9) * 1e-3, rel=0.03)
    unknown = assay("fit", "--score", "law.json", "--at", "framework=caffe", *at).stdout
    assert "was never measured" in unknown and "quick, slow" in unknown
    scored = json.loads(assay("fit", table, "--time", "step_ms", "--score", "law.json", "--json").stdout)
    assert scored["scores"][0]["score"]["median_error"] < 0.02


def test_a_law_of_levels_is_written_for_people(assay, table):
    told = assay("fit", table, "--time", "step_ms", "--by", "framework", "--family", "generic", *FAST).stdout
    assert "framework: quick, slow" in told
    assert re.search(r"(?m)^quick: seconds = \S+ batch\^\S+ threads\^\S+ \+ \S+$", told)
    assert "Each level of framework has its own a, C; all share q_batch, q_threads." in told


def test_levels_that_cannot_be_are_refused(assay, table):
    alone = assay("fit", table, "--time", "step_ms", "--by", "framework", "--where", "framework=quick", code=2)
    assert "has one level" in alone.stderr
    both = assay("fit", table, "--time", "step_ms", "--by", "batch", "--factors", "batch,threads", code=2)
    assert "also named by --factors" in both.stderr
