"""assay compare --of accuracy where runs end without it: mistakes planted into a training are proved differences."""

import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
PLACES = [ROOT / "workers" / "common", ROOT / "tests" / "workers"]
WORKER = {
    "name": "planted", "release": "1.0", "protocol": 1, "description": "learns digits in numpy, or not",
    "argv": [sys.executable, "{folder}/worker.py", *map(str, PLACES)], "networks": [],
    "operators": ["convolution", "linear", "relu", "max_pool", "flatten"], "modes": ["train"], "precisions": ["fp32"],
    "devices": ["cpu"], "details": ["step"], "data": ["memory", "digits"], "settings": [],
    "inert": {"intra_op": "numpy is started with one thread", "inter_op": "there is one thread"},
}  # fmt: skip
LIMIT_SECONDS = 600
# 90 % are right after an epoch or two at this rate; at ten times the rate weights grow without end.
TRAINING = ["--until", "accuracy>=90%", "--learning-rate", "0.05", "--epochs", "3"]


@pytest.fixture(scope="module")
def assay(tmp_path_factory):
    path = tmp_path_factory.mktemp("learning")
    folder = path / "workers" / "planted"
    folder.mkdir(parents=True)
    (folder / "worker.json").write_text(json.dumps(WORKER))
    shutil.copy(ROOT / "tests" / "cli" / "planted_learner.py", folder / "worker.py")
    env = {**os.environ, "ASSAY_WORKERS": str(path / "workers"), "ASSAY_HOST_LOCK": str(path / "host.lock"),
           "ASSAY_STORE": str(path / "assay.db"), "OPENBLAS_NUM_THREADS": "1"}  # fmt: skip

    def run(*words, expect=0):
        done = subprocess.run([BUILD / "assay", *words], cwd=path, env=env, capture_output=True, text=True,
                              timeout=LIMIT_SECONDS, check=False)  # fmt: skip
        assert done.returncode == expect, done.stdout + done.stderr
        return done.stdout if expect == 0 else done.stderr

    sides = [word for mistake in ("none", "rate", "labels") for word in ("--env", f"PLANTED={mistake}")]
    run("run", "mlp", "--worker", "planted", *TRAINING, *sides, "--runs", "6", "--retries", "0", "--no-peak",
        "--quiet", "--name", "planted")  # fmt: skip
    with sqlite3.connect(path / "assay.db") as database:
        # What neighbours do to times does not change what is learned: all six of a side are to count.
        database.execute("UPDATE record SET trusted = 1")
    return run


def sides_of(assay, campaign="planted"):
    found = json.loads(assay("export", campaign, "--format", "json"))["trials"]
    return {one["trial"]["settings"]["env"]["PLANTED"]: "trial:" + one["trial_id"] for one in found}


@pytest.mark.parametrize("mistake", ["rate", "labels"])
def test_a_planted_mistake_is_a_proved_difference(assay, mistake):
    """None of six runs gets there, and all of the others do: one of C(12, 6) = 924 ways to share the ranks."""
    sides = sides_of(assay)
    words = ["compare", "--of", "accuracy", sides["none"], sides[mistake]]
    [found] = json.loads(assay(*words, "--json"))["comparisons"]
    assert (found["verdict"], found["method"]) == ("slower", "ranks")
    assert found["p"] == pytest.approx(2 / 924)
    assert (found["a"]["not_reached"], found["b"]["not_reached"], found["b"]["runs"]) == (0, 6, 6)
    assert found["ratio"] is None and found["b"]["median_ns"] is None
    assert "not reached (0 of 6)" in assay(*words)
    assay(*words, "--gate", "5%", expect=3)


def test_two_mistakes_are_not_told_apart_where_neither_gets_there(assay):
    sides = sides_of(assay)
    [found] = json.loads(assay("compare", "--of", "accuracy", sides["rate"], sides["labels"], "--json"))["comparisons"]
    assert (found["verdict"], found["p"]) == ("no_difference", 1)


def test_all_three_at_one_error_rate(assay):
    """Three comparisons: the p of the two that differ is tripled and doubled, and at least that of the first (Holm)."""
    sides = sides_of(assay)
    words = ["compare", "--of", "accuracy", sides["none"], sides["rate"], sides["labels"]]
    [family] = json.loads(assay(*words, "--json"))["families"]
    assert [pair["p"] for pair in family["pairs"]] == pytest.approx([6 / 924, 6 / 924, 1])
    assert [side["not_reached"] for side in family["sides"]] == [0, 6, 6]
    assert [pair["verdict"] for pair in family["pairs"]] == ["slower", "slower", "no_difference"]


def test_sides_with_other_epochs_are_refused(assay):
    assay("run", "mlp", "--worker", "planted", *TRAINING[:4], "--epochs", "2", "--env", "PLANTED=labels", "--runs", "1",
          "--retries", "0", "--no-peak", "--quiet", "--name", "fewer")  # fmt: skip
    fewer = sides_of(assay, "fewer")
    said = assay("compare", "--of", "accuracy", sides_of(assay)["labels"], fewer["labels"], expect=2)
    assert "end after 3 and 2 epochs" in said
