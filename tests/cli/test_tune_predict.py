"""`assay tune --predict` with a worker whose steps follow a law, so that every prediction is known beforehand.

An operator takes t (s + (1 - s) / p) + fork on p threads (fork where p > 1), with s a quarter for convolutions and
products and 1 for all others. Before each are 5 us, and 50 us more with several pools, which run nothing at once.
"""

import contextlib
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
FORK_NS, DISPATCH_NS, HANDOVER_NS = 20_000, 5_000, 50_000
NETWORK = ["mobilenet_v2", "--worker", "planted", "--option", "image=32"]
QUICK = ["--seconds", "0.05", "--warmup", "0.01", "--max-samples", "20", "--runs", "2", "--quiet"]
pytestmark = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="laws of threads need two CPUs")

WORKER = {
    "name": "planted",
    "release": "1.0",
    "protocol": 1,
    "description": "Steps that follow a law",
    "argv": [sys.executable, "{folder}/worker.py"],
    "networks": [],
    "operators": [],
    "modes": ["infer", "train"],
    "precisions": ["fp32"],
    "devices": ["cpu"],
    "details": ["step", "layers"],
    "settings": ["inter_op", "intra_op"],
}
PROGRAM = """
import sys
import time
sys.path.insert(0, {common!r})
import assay_worker

class Planted(assay_worker.Framework):
    def prepare(self, prepare):
        self.p = prepare.settings.get("intra_op") or 1
        self.q = prepare.settings.get("inter_op") or 1
        nodes = prepare.graph["nodes"]
        self.ns = [self.on_threads(node, i) for i, node in enumerate(nodes)]
        before = {dispatch} + ({handover} if self.q > 1 else 0)
        self.step_ns = sum(self.ns) + len(nodes) * before
        names = [node["name"] for node in nodes]
        return assay_worker.Prepared(versions={{}}, parameters=prepare.graph["parameters"], nodes=names)

    def on_threads(self, node, i):
        heavy = node["op"] in ("convolution", "linear")
        alone = 100_000 * (1 + i % 5) if heavy else 40_000 * (1 + i % 3)
        serial = 0.25 if heavy else 1
        return round(alone * (serial + (1 - serial) / self.p) + ({fork} if self.p > 1 else 0))

    def step(self):
        time.sleep(1e-9 * self.step_ns)  # so that its CPU time is that of a step: next to none, and nothing spins
        return self.step_ns

    def step_with_layers(self):
        return self.ns, []

if __name__ == "__main__":
    sys.exit(assay_worker.serve(Planted))
"""


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    """A folder with the planted worker."""
    folder = tmp_path_factory.mktemp("workers") / "planted"
    folder.mkdir()
    operators = json.loads((ROOT / "workers" / "onnxruntime" / "worker.json").read_text())["operators"]
    (folder / "worker.json").write_text(json.dumps({**WORKER, "operators": operators}))
    common = str(ROOT / "workers" / "common")
    text = PROGRAM.format(common=common, fork=FORK_NS, dispatch=DISPATCH_NS, handover=HANDOVER_NS)
    (folder / "worker.py").write_text(text)
    return folder.parent


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One folder and store for all: the same command measures nothing again."""
    return tmp_path_factory.mktemp("place")


@pytest.fixture
def tune(place, workers):
    def call(*argv, code=0):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
        env.update(ASSAY_WORKERS=str(workers), ASSAY_HOST_LOCK=str(place / "host.lock"))
        argv = [BUILD / "assay", "tune", *map(str, argv)]
        done = subprocess.run(argv, cwd=place, env=env, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == code, f"exit {done.returncode}: {done.stdout}{done.stderr}"
        return done

    return call


@pytest.fixture
def predicted(tune, validate):
    return lambda *more: validate(
        json.loads(tune(*NETWORK, *QUICK, "--predict", "--json", *more).stdout), "settings_prediction"
    )


def graph():
    env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
    argv = [BUILD / "assay", "show", "--network", "mobilenet_v2", "--option", "image=32", "--json"]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["graph"]


def law(p, q):
    """Seconds of a step on p threads within operators and q pools, and of CPU."""
    step = cpu = 0
    for i, node in enumerate(graph()["nodes"]):
        heavy = node["op"] in ("convolution", "linear")
        alone, serial = (100_000 * (1 + i % 5), 0.25) if heavy else (40_000 * (1 + i % 3), 1)
        before = DISPATCH_NS + (HANDOVER_NS if q > 1 else 0)
        step += before + alone * (serial + (1 - serial) / p) + (FORK_NS if p > 1 else 0)
        cpu += before + alone + (p * FORK_NS if p > 1 else 0)
    return 1e-9 * step, 1e-9 * cpu


def by_threads(found, quota=None):
    return {
        (one["setting"]["inter_op"], one["setting"]["intra_op"]): one
        for one in found["predictions"]
        if one["setting"].get("quota") == quota
    }


def test_every_setting_of_another_machine_is_as_the_law_says(predicted):
    found = predicted("--machine", "pack:1 core:24 pu:1")
    assert not found["here"] and found["machine"]["cores"] == 24
    assert found["laws"]["most_at_once"] == 1
    ones = by_threads(found)
    assert {(1, 1), (1, 24), (2, 12), (4, 6)} <= set(ones)
    for (q, p), one in ones.items():
        if q * p <= 24:
            assert one["seconds"] == pytest.approx(law(p, q)[0], rel=0.01), (q, p)
    best = min(ones.values(), key=lambda one: one["seconds"])
    (chosen,) = found["chosen"]
    assert found["predictions"][chosen["fastest"]]["seconds"] == pytest.approx(best["seconds"], rel=0.001)
    assert found["predictions"][chosen["fastest"]]["setting"]["inter_op"] == 1, "pools only cost"
    # The network is a chain: the rule gives it one pool with every core.
    assert found["predictions"][chosen["guideline"]]["setting"]["intra_op"] == 24
    assert found["alone_seconds"] == pytest.approx(law(1, 1)[0], rel=1e-6)


def test_a_quota_stretches_a_step_to_its_cpu_time(predicted, place):
    # The worker's times are made up and its CPU time is not: how long its threads spin says nothing.
    answer = predicted()
    answer["laws"].update(thread_spin=0, pool_spin=0)
    (place / "still.json").write_text(json.dumps(answer))
    laws = ["--laws", place / "still.json"]
    found = predicted("--quota", "0.5,all", "--intra-op", "1,2", "--inter-op", "1", *laws)
    assert [one.get("quota") for one in found["chosen"]] == [0.5, None]
    free, tight = by_threads(found), by_threads(found, 0.5)
    for p in (1, 2):
        seconds, cpu = law(p, 1)
        assert free[1, p]["seconds"] == pytest.approx(seconds, rel=0.01)
        assert tight[1, p]["seconds"] == pytest.approx(cpu / 0.5, rel=0.01)
    fastest = [found["predictions"][one["fastest"]]["setting"]["intra_op"] for one in found["chosen"]]
    assert fastest == [1, 2], "under half a CPU a second thread only costs"


def test_it_is_told_for_people_measured_once_and_kept(tune, place):
    flags = [*NETWORK, *QUICK, "--predict", "--intra-op", "1,2", "--inter-op", "1,2", "--machine", "core:2 pu:1"]
    first = tune(*flags).stdout
    records = sqlite3.connect(place / "assay.db").execute("SELECT count(*) FROM record").fetchone()
    told = tune(*flags).stdout
    assert sqlite3.connect(place / "assay.db").execute("SELECT count(*) FROM record").fetchone() == records
    assert told == first
    assert "inter_op=1 intra_op=2" in told and "fastest; the guideline's" in told
    assert "planted runs 1 operator at a time, whatever inter_op says" in told
    assert "a machine that was not measured" in told
    kinds = sqlite3.connect(place / "assay.db").execute("SELECT DISTINCT kind FROM artifact").fetchall()
    assert kinds == [("settings_prediction",)]


def test_laws_may_come_from_a_file(predicted, place, tune):
    (place / "found.json").write_text(json.dumps(predicted()))
    again = predicted("--laws", "found.json")
    assert again["law_points"] == [] and again["laws"] == predicted()["laws"]
    stated = {**again["laws"], "heavy": {"serial": 1, "fork_seconds": 0}, "light": {"serial": 1, "fork_seconds": 0}}
    (place / "stated.json").write_text(json.dumps(stated))
    found = predicted("--laws", "stated.json", "--intra-op", "1,2", "--inter-op", "1")
    one, two = by_threads(found)[1, 1], by_threads(found)[1, 2]
    assert one["seconds"] == pytest.approx(two["seconds"])
    (place / "stated.json").write_text(json.dumps({**stated, "thread_spin": 2}))
    assert "stated.json: laws: thread_spin is 2" in tune(*NETWORK, "--predict", "--laws", "stated.json", code=2).stderr


REFUSED = {
    "goal": ([*NETWORK, "--predict", "--goal", "throughput"], "--goal throughput"),
    "training": ([*NETWORK, "--predict", "--mode", "train"], "--mode infer"),
    "quota": ([*NETWORK, "--predict", "--quota", "1,none"], "'none' is not a number of CPUs"),
    "negative quota": ([*NETWORK, "--predict", "--quota=-1"], "'-1' is not a number of CPUs"),
    "network": (["toy", "--worker", "fake", "--predict"], "'toy' is not a network of Assay's"),
    "layers": (["gemm", "--worker", "onednn", "--predict"], "does not tell"),
    "alone": ([*NETWORK, "--quota", "1"], "--quota: this is for --predict"),
    "runs": ([*NETWORK, "--predict", "--runs", "0"], "--runs: 0 is outside 1 to 1000"),
    "memory": ([*NETWORK, "--predict", "--memory-cores", "0"], "--memory-cores: 0 is not above 0"),
    "journal": ([*NETWORK, "--predict", "--journal"], "--predict prints what it predicts"),
    "another machine": ([*NETWORK, "--machine", "core:4 pu:1"], "Add --dry-run or --predict"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_predicted_is_refused_by_name(tune, case):
    argv, part = REFUSED[case]
    assert part in tune(*argv, code=2).stderr


def test_it_says_that_only_disturbed_runs_were_at_hand(predicted, place, tune):
    assert predicted()["disturbed_settings"] == 0
    shutil.copy(place / "assay.db", place / "disturbed.db")
    with contextlib.closing(sqlite3.connect(place / "disturbed.db")) as database, database:
        rows = database.execute("SELECT key, json FROM record ORDER BY key").fetchall()
        for key, text in rows:
            record = json.loads(text)
            record["validity"] = {"trusted": False, "reasons": []}
            database.execute("UPDATE record SET trusted = 0, json = ? WHERE key = ?", (json.dumps(record), key))
    store = ("--store", "disturbed.db")
    found = predicted(*store)
    assert found["disturbed_settings"] == 1 + len(found["law_points"])
    assert found["alone_seconds"] == predicted()["alone_seconds"]
    told = tune(*NETWORK, *QUICK, "--predict", *store).stdout
    assert f"{found['disturbed_settings']} of the measured settings had disturbed runs alone" in told
