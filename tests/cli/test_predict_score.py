"""`assay predict --score`: predictions of a store beside what was measured after them, and what was published."""

import json
import pathlib

import pytest
from published_tables import path_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The fake worker trains a batch of 8 in 3 * (200,000 + 8 * 100,000) ns = 3 ms without noise. These layers say 3.3 ms.
LAYERS = "layer,forward_us,backward_us,gradient_bytes\na,1100,2200,1000\n"
RUN = ["run", "toy", "--worker", "fake", "--mode", "train", "--batch", "8", "--option", "noise=0", "--runs", "3"]
PREDICT = ["predict", "toy", "--cluster", "c.yaml", "--layers", "layers.csv", "--batch", "8", "--option", "noise=0"]


@pytest.fixture
def place(tmp_path):
    (tmp_path / "layers.csv").write_text(LAYERS)
    (tmp_path / "c.yaml").write_text("name: two\nnodes: 2\nacross: {latency: 1 us, bandwidth: 1 GB/s}\nslow_down: 1\n")
    return tmp_path


@pytest.fixture
def score(assay, validate):
    def call(*argv):
        return validate(json.loads(assay("predict", "--score", "--store", "s.db", *argv, "--json").stdout), "score")

    return call


def test_only_what_was_measured_later_counts(assay, score, place):
    run = [*RUN, "--seconds", "0.05", "--store", "s.db", "--quiet"]
    assay(*run, "--name", "before")
    told = assay(*PREDICT, "--store", "s.db", "--devices", "1,2").stdout
    assert "Kept in s.db" in told
    assert "s.db has this prediction since" in assay(*PREDICT, "--store", "s.db", "--devices", "1,2").stdout
    [point] = score()["points"]
    assert point["truth"] == "known_before" and point["runs"] == 3
    assert score()["counted"] == 0 and score()["mean_error"] is None
    assay(*run, "--name", "after")
    assay(*RUN, "--seconds", "0.05", "--store", "s.db", "--quiet", "--name", "other", "--option", "base_ns=1")
    found = score()
    assert [point["truth"] for point in found["points"]] == ["later", "known_before"]
    assert found["points"][0]["error"] == pytest.approx(0.1)
    assert found["mean_error"] == found["worst_error"] == pytest.approx(0.1)
    assert found["coverage"] == [] and found["unmatched"] == []
    told = assay("predict", "--score", "--store", "s.db", "--markdown", "out.md").stdout
    assert "| later, 3 runs |" in (place / "out.md").read_text()
    assert "Error of 1 point: mean 10.0 %" in told and "does not count" in told


def test_published_rows_are_joined_and_the_rest_is_told(assay, score, place):
    """Two devices: 3.3 ms and 2 us + 1 us of ring behind it; 16 samples in that time."""
    assay(*PREDICT, "--store", "s.db", "--devices", "2", "--fusion", "one", "--all-reduce", "ring")
    other = ["4" if word == "8" else word for word in PREDICT]
    assay(*other, "--store", "s.db", "--devices", "1")
    (place / "t.csv").write_text(
        "network,batch_per_device,method,devices,samples_per_second\n"
        f"toy,8,good,2,{16 / 3.303e-3}\ntoy,8,bad,2,100\ntoy,16,good,2,1\n"
    )
    found = score("--published", "t.csv", "--where", "method=good")
    [point] = found["points"]
    assert point["truth"] == "published" and point["error"] == pytest.approx(0, abs=1e-9)
    [left] = found["unmatched"]
    assert left["devices"] == [1] and left["batches"] == [4]
    assert len(score("--published", "t.csv")["points"]) == 2
    assert "Nothing was measured of" in assay("predict", "--score", "--store", "s.db").stdout


def test_published_tables_are_such_tables(assay, score, place):
    """With a range of the slow-down, what lies within it is told."""
    cluster = ROOT / "examples/clusters/v100_100gbe.yaml"
    assay("predict", "resnet50", "--cluster", cluster, "--batch", "64", "--devices", "1-32*2", "--store", "s.db")
    table = path_of("ddl_2020.csv")
    where = ["--where", "interconnect=100gbe/tcp", "--where", "method=wfbp-a2a"]
    found = score("resnet50", "--cluster", cluster, "--published", table, *where)
    assert [point["devices"] for point in found["points"]] == [1, 4, 8, 16, 32]
    for point in found["points"]:
        inside = point["low_seconds"] <= point["measured_seconds"] <= point["high_seconds"]
        assert point["inside"] == inside
    [coverage] = found["coverage"]
    assert coverage["range"] == "what_if" and coverage["points"] == 5
    assert coverage["inside"] == sum(point["inside"] for point in found["points"])


@pytest.mark.parametrize(
    "argv, code, words",
    [
        (["predict", "--score", "--store", "s.db"], 2, "has no prediction"),
        (["predict", "--score", "--store", "none.db"], 2, "none.db"),
        ([*PREDICT, "--published", "t.csv"], 2, "Add --score"),
        (["predict", "toy"], 2, "--cluster is missing"),
        (["predict", "--cluster", "c.yaml"], 2, "name the network"),
    ],
)
def test_what_cannot_be_is_refused(assay, place, argv, code, words):
    assay(*RUN, "--seconds", "0.05", "--store", "s.db", "--quiet")
    assert words in assay(*argv, code=code).stderr
