"""Time to an accuracy as time of a step x steps needed: of measured steps, of a cluster's, and of a law's."""

import json
import os
import shutil
import sqlite3
import statistics
import subprocess

import pytest
from test_compare_accuracy import BUILD, LIMIT_SECONDS, ROOT, WORKER

STEPS_OF_EPOCH = 44  # 1437 / 32
# 90 % are right after an epoch or two at this rate.
TRAINING = ["--until", "accuracy>=90%", "--learning-rate", "0.05", "--epochs", "10"]
UNTIL = ["--until", "accuracy>=90%"]
CLUSTER = "name: two\nnodes: 2\nacross: {latency: 1 us, bandwidth: 1 GB/s}\nslow_down: 1\n"
LAYERS = "layer,forward_ms,backward_ms,gradient_bytes\na,1,2,1000\n"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("accuracy")
    folder = path / "workers" / "planted"
    folder.mkdir(parents=True)
    (folder / "worker.json").write_text(json.dumps(WORKER))
    shutil.copy(ROOT / "tests" / "cli" / "planted_learner.py", folder / "worker.py")
    (path / "c.yaml").write_text(CLUSTER)
    (path / "layers.csv").write_text(LAYERS)
    rows = [f"{b},{t},{(0.1 * b + 2) / t:.6f}" for _ in range(3) for b in (8, 16, 32, 64) for t in (1, 2, 4)]
    (path / "times.csv").write_text("batch,threads,step_ms\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="module")
def assay(place):
    env = {**os.environ, "ASSAY_WORKERS": str(place / "workers"), "ASSAY_HOST_LOCK": str(place / "host.lock"),
           "ASSAY_STORE": str(place / "assay.db"), "OPENBLAS_NUM_THREADS": "1"}  # fmt: skip

    def run(*words, expect=0):
        words = [str(word) for word in words]
        done = subprocess.run([BUILD / "assay", *words], cwd=place, env=env, capture_output=True, text=True,
                              timeout=LIMIT_SECONDS, check=False)  # fmt: skip
        assert done.returncode == expect, done.stdout + done.stderr
        return done.stdout if expect == 0 else done.stderr

    run("run", "mlp", "--worker", "planted", *TRAINING, "--runs", "6", "--retries", "0", "--no-peak", "--quiet",
        "--name", "learnt")  # fmt: skip
    with sqlite3.connect(place / "assay.db") as database:
        database.execute("UPDATE record SET trusted = 1")  # neighbours are busy here, and what is tested is arithmetic
    return run


@pytest.fixture(scope="module")
def epochs(assay):
    """Of each run until it had the accuracy."""
    records = [json.loads(line) for line in assay("export", "learnt", "--format", "jsonl").splitlines()]
    learned = [record["ranks"][0]["effective"]["learned"] for record in records if record.get("ranks")]
    assert len(learned) == 6 and all(one["reached"] for one in learned)
    return [one["epochs"] for one in learned]


def test_measured_steps_come_to_a_time(assay, epochs, place):
    said = json.loads(assay("predict", "mlp", *UNTIL, "--json"))
    [row] = said["rows"]
    needed = row["reached"]["needed"]
    assert needed["steps"] == STEPS_OF_EPOCH * statistics.median(epochs)
    # Of six values the extremes hold the median with 1 - 2 / 64 = 97 %.
    assert needed["low_steps"] == STEPS_OF_EPOCH * min(epochs)
    assert needed["high_steps"] == STEPS_OF_EPOCH * max(epochs)
    assert (needed["runs"], needed["reached"], needed["batch"]) == (6, 6, 32)
    step, time = row["step"], row["reached"]["time"]
    assert time["seconds"] == pytest.approx(needed["steps"] * step["seconds"])
    assert time["low_seconds"] == pytest.approx(needed["low_steps"] * step["low_seconds"])
    assert time["high_seconds"] == pytest.approx(needed["high_steps"] * step["high_seconds"])
    told = assay("predict", "mlp", *UNTIL, "--markdown", "out.md")
    assert "mlp to 90 %: time of a step x steps needed" in told
    written = (place / "out.md").read_text()
    assert written.startswith("### mlp to 90 %: ") and "| to 90 % |" in written
    assert f"Steps needed: {needed['steps']:.0f} steps" in told and "median of 6 runs, of which 6 reached 90 %" in told


def test_steps_of_a_cluster_come_to_a_time_where_the_samples_of_a_step_are_known(assay, epochs):
    """Two devices with 32 samples each take steps of 64, which nobody trained with; with 16 each they take the same."""
    words = ["predict", "mlp", *UNTIL, "--cluster", "c.yaml", "--layers", "layers.csv", "--batch", "32", "--devices",
             "1,2", "--json"]  # fmt: skip
    weak = json.loads(assay(*words))
    one, two = weak["points"]
    assert one["to_accuracy"]["time"]["seconds"] == pytest.approx(
        STEPS_OF_EPOCH * statistics.median(epochs) * one["step"]["seconds"]
    )
    assert two.get("to_accuracy") is None
    assert any("batch 64" in note for note in weak["notes"])
    strong = json.loads(assay(*words, "--scaling", "strong"))
    for point in strong["points"]:
        assert point["to_accuracy"]["needed"]["steps"] == STEPS_OF_EPOCH * statistics.median(epochs)
    assert "to accuracy" in assay(*words[:-1])


def test_a_law_of_steps_comes_to_a_time(assay, epochs):
    """The law is (0.1 batch + 2) / threads ms: 1.3 ms at 32 samples on 4 threads."""
    assay("fit", "times.csv", "--time", "step_ms", "--out", "law.json")
    words = ["fit", "--score", "law.json", "--at", "batch=32", "--at", "threads=4", *UNTIL, "--training", "network=mlp"]
    said = json.loads(assay(*words, "--json"))
    steps = STEPS_OF_EPOCH * statistics.median(epochs)
    assert said["to_accuracy"]["needed"]["steps"] == steps
    assert said["to_accuracy"]["time"]["seconds"] == pytest.approx(steps * said["prediction"]["seconds"])
    assert said["to_accuracy"]["time"]["seconds"] == pytest.approx(steps * 1.3e-3, rel=0.05)
    assert "To 90 %: " in assay(*words)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["predict", "mlp", "--until", "accuracy>=99%"], "no run that counts was trained to 99 %"),
        (["predict", "lenet", *UNTIL], "no undisturbed run of lenet in mode train"),
        (["predict", "mlp", *UNTIL, "--learning-rate", "0.5"], "no undisturbed run of mlp"),
        (["predict", "mlp", *UNTIL, "--devices", "2"], "--devices changes nothing here"),
        (["predict", *UNTIL], "name the network"),
        (["predict", "mlp", "--learning-rate", "0.05"], "without --until"),
        (["predict", "mlp", "--until", "loss<=1"], "Write 'accuracy>=97%'"),
        (
            [
                "predict",
                "mlp",
                *UNTIL,
                "--cluster",
                "c.yaml",
                "--layers",
                "layers.csv",
                "--batch",
                "16",
                "--devices",
                "1",
            ],
            "batch 16",
        ),
        (["fit", "times.csv", "--time", "step_ms", *UNTIL], "--until needs --at"),
        (["fit", "times.csv", "--time", "step_ms", "--at", "batch=32", *UNTIL], "--training network=NAME"),
        (["fit", "times.csv", "--time", "step_ms", "--training", "network=mlp"], "without --until"),
    ],
)
def test_what_nobody_measured_is_refused(assay, words, why):
    assert why in assay(*words, expect=2)
