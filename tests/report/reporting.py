"""What tests of reports share: a user with a folder, and a store that has data for every picture."""

import json
import os
import pathlib
import sqlite3
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
FORM = BUILD / "share" / "assay" / "report.html"
FAKE = ["--worker", "fake", "--seconds", "0.05", "--warmup", "0.01", "--quiet"]
# Two nodes, 10 B/us, and two layers: something to predict from.
CLUSTER = "nodes: 8\nacross: {latency: 1 us, bandwidth: 10 MB/s}\n"
LAYERS = "layer,forward_us,backward_us,gradient_bytes\na,10,20,100\nb,10,20,300\n"


class User:
    """Calls assay in a folder of its own."""

    def __init__(self, path):
        self.path = path

    def assay(self, *argv, program="assay", code=0):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
        env["ASSAY_HOST_LOCK"] = str(self.path / "host.lock")
        argv = [BUILD / program, *map(str, argv)]
        done = subprocess.run(argv, cwd=self.path, env=env, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == code, f"exit {done.returncode}: {done.stdout}{done.stderr}"
        return done

    def report(self, store="assay.db", program="assay"):
        page = self.path / "r.html"
        self.assay("report", "--store", store, "-o", page, program=program)
        return page


def make_primitives(database):
    """Turns trials of the fake worker into gemms, a triad and a convolution, whose costs are known."""
    rows = database.execute("SELECT key, json FROM trial WHERE json LIKE '%PRIMITIVE%'").fetchall()
    for key, text in rows:
        trial = json.loads(text)
        name = trial["settings"]["env"].pop("PRIMITIVE")
        name, _, size = name.partition("_")
        trial["workload"] = {"network": name, "mode": "infer", "batch": trial["workload"]["batch"], "precision": "fp32"}
        if size:
            trial["workload"]["options"] = dict.fromkeys("mnk", int(size))
        # The times are the toy's: what is drawn need not be likely.
        database.execute("UPDATE trial SET json = ?, network = ? WHERE key = ?", (json.dumps(trial), name, key))


def rename_runtime(database):
    """Trials that were measured with a variable become those of another worker."""
    for key, text in database.execute("SELECT key, json FROM trial WHERE json LIKE '%ASSAY_FAKE_SCALE%'").fetchall():
        trial = json.loads(text)
        del trial["settings"]["env"]
        trial["worker"] = {"name": "other", "release": "2.0"}
        database.execute("UPDATE trial SET json = ? WHERE key = ?", (json.dumps(trial), key))


def keep(database, kind, document):
    database.execute(
        "INSERT INTO artifact(kind, inputs_hash, created_utc, json) VALUES (?, ?, '2026-11-16T10:00:00Z', ?)",
        (kind, "ab" * 16, json.dumps(document)),
    )


def make_full_store(user):
    """Everything that the command can draw, by the fake worker: tuned, fitted, measured twice, and predicted."""
    for name in ("gemm_1024", "gemm_2048", "gemm_4096", "triad", "conv2d"):
        user.assay("run", "toy", *FAKE, "--name", "primitives", "--runs", 3, "--env", f"PRIMITIVE={name}")
    for more in ([], ["--env", "ASSAY_FAKE_SCALE=2"]):
        user.assay("run", "toy", *FAKE, "--option", "noise=0", "--runs", 6, "--name", "race", *more)
    sweep = ["run", "toy", *FAKE, "--name", "sweep", "--mode", "train", "--batch", "1-8*2", "--runs", 6, "--layers"]
    (user.path / "c.yaml").write_text(CLUSTER)
    (user.path / "layers.csv").write_text(LAYERS)
    user.assay(*sweep)
    # Known before for the first sweep, and measured after by the second one.
    user.assay("predict", "toy", "--cluster", "c.yaml", "--layers", "layers.csv", "--batch", 8, "--devices", "1,2",
               "--store", "assay.db")  # fmt: skip
    user.assay(*sweep, "--again")
    user.assay("tune", "toy", *FAKE, "--intra-op", "1,2,4", "--inter-op", "1,2", "--allocator", "null", "--budget", 8,
               "--pairs", 0, "--no-split", "--name", "tuned")  # fmt: skip
    user.assay("fit", "--campaign", "sweep", "--evaluations", 2000, "--draws", 20)
    asked = ["predict", "mine", "--cluster", "c.yaml", "--layers", "layers.csv", "--devices", "1,2,4,8", "--json"]
    said = json.loads(user.assay(*asked).stdout)
    with sqlite3.connect(user.path / "assay.db") as database:
        make_primitives(database)
        rename_runtime(database)
        database.execute("UPDATE record SET trusted = 1")  # whatever else this machine does meanwhile
        keep(database, "prediction", said)
