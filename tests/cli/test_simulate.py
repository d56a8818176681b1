"""The helper program assay-simulate, as assay calls it: a request on stdin, an answer on stdout."""

import json
import os
import pathlib
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", pathlib.Path(__file__).parents[2] / "build" / "dev")).resolve()
PROGRAM = BUILD / "libexec" / "assay-simulate"
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="built without SimGrid")


def simulate(text, code=0):
    done = subprocess.run([PROGRAM], input=text, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == code, f"exit {done.returncode}: {done.stdout}{done.stderr}"
    return done


def request(**more):
    return {
        "topology": {"kind": "fat_tree", "nodes": 8, "nodes_per_leaf": 4, "oversubscription": 4},
        "across": {"latency_seconds": 0, "bandwidth_bytes_per_second": 1e9},
        "algorithm": "halving_doubling",
        "buckets": [{"ready_seconds": 0.5, "bytes": 800_000_000}],
        "compute_seconds": 0.6,
    } | more


def test_an_iteration_is_simulated_and_nothing_else_is_said():
    # 8 nodes, 4 a leaf, 4 to 1. Distances 1, 2 and 4 carry 1/8, 2/8 and 4/8 of .8 s, twice; the last leaves the leaf
    # on a fourth of the rate: 2 * .8 * (1 + 2 + 4 * 4) / 8 = 3.8 s after the bucket is ready.
    done = simulate(json.dumps(request()))
    answer = json.loads(done.stdout)
    assert done.stderr == ""
    assert answer["iteration_seconds"] == pytest.approx(0.5 + 3.8, rel=1e-3)
    assert answer["buckets"][0]["begin_seconds"] == 0.5
    assert answer["flows"] == 3 * 8


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("", 1, "assay: "),
        ("{}", 1, "topology"),
        (json.dumps(request(compute_seconds=-1)), 2, "compute_seconds is -1"),
        (json.dumps(request(algorithm="star")), 1, "algorithm"),
        (json.dumps(request(background=[{"from": 0, "to": 8, "flows": 1}])), 2, "background[0].to is 8"),
    ],
)
def test_what_cannot_be_simulated_is_refused_by_name(text, code, said):
    done = simulate(text, code)
    assert said in done.stderr
    assert done.stdout == ""
