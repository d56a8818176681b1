"""assay predict --rows: every training job of a table, and options that change nothing are refused by name."""

import json
import pathlib

import pytest

CLUSTER = pathlib.Path(__file__).resolve().parents[2] / "examples/clusters/a100_megatron.yaml"

MAP = {
    "stack": "made",
    "columns": {"devices": "gpus", "microbatch": "b", "model": "m", "device": "gpu"},
    "fixed": {"sequence": "4096", "microbatches": "4"},
    "measured_column": "seconds",
    "group": ["m"],
    "constants": ["product"],
}
MODELS = {"llama3-8b": 8.03, "qwen3-8b": 8.19, "mistral-7b": 7.24}


@pytest.fixture
def table(tmp_path):
    """Steps in proportion to a model's parameters and batch: what is left over is small, but not nothing."""
    lines = ["gpus,b,m,gpu,seconds"]
    lines += [f"8,{b},{m},h100,{b * size / 5}" for m, size in MODELS.items() for b in (1, 2, 3, 4, 6, 8)]
    (tmp_path / "jobs.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "map.json").write_text(json.dumps(MAP))
    return ["predict", "--rows", tmp_path / "jobs.csv", "--columns", tmp_path / "map.json"]


def test_every_job_is_predicted_and_scored(assay, table, tmp_path):
    said = json.loads(assay(*table, "--json").stdout)
    assert [row["row"] for row in said["rows"]] == list(range(1, 19))
    assert said["calibrated_rows"] == 18
    for row in said["rows"]:
        assert row["error"] == pytest.approx(row["seconds"] / row["measured_seconds"] - 1)
        assert row["low_seconds"] <= row["seconds"] <= row["high_seconds"]
    assert said["mean_error"] == pytest.approx(sum(abs(r["error"]) for r in said["rows"]) / 18)
    assert said["mean_error"] < 0.2
    told = assay(*table, "--markdown", "out.md").stdout
    assert "Each of 3 groups of jobs is predicted with constants of the others." in told
    assert len([line for line in (tmp_path / "out.md").read_text().splitlines() if "| h100 |" in line]) == 18


def test_constants_come_from_another_table(assay, table, tmp_path):
    (tmp_path / "asked.csv").write_text("gpus,b,m,gpu\n16,2,llama3-70b,h100\n8,1,Unheard_13B,q1\n8,1,nameless,h100\n")
    asked = ["predict", "--rows", tmp_path / "asked.csv", "--columns", tmp_path / "map.json"]
    said = json.loads(assay(*asked, "--calibrate", table[2], "--json").stdout)
    assert [len(row["assumed"]) for row in said["rows"]] == [0, 2]
    assert said["rows"][1]["new_device"]
    assert len(said["refused"]) == 1 and "row 3" in said["refused"][0] and "nameless" in said["refused"][0]
    assumed = json.loads(assay(*asked, "--json").stdout)  # without any measured job
    assert assumed["calibrated_rows"] == 0 and "what-if" in assumed["notes"][0]
    assert assumed["rows"][0]["high_seconds"] == pytest.approx(1.522 * assumed["rows"][0]["seconds"], rel=1e-3)
    (tmp_path / "few.csv").write_text("gpus,b,m,gpu,seconds\n16,2,llama3-70b,h100,3\n")
    few = ["predict", "--rows", tmp_path / "few.csv", "--columns", tmp_path / "map.json"]
    assert "too few to calibrate on" in assay(*few, code=2).stderr


@pytest.mark.parametrize("flag", [["--zero", "2"], ["--cluster", "c.yaml"], ["--tensor", "8"], ["--precision", "fp8"]])
def test_other_options_are_refused_with_rows(assay, table, flag):
    assert f"{flag[0]} changes nothing here" in assay(*table, *flag, code=2).stderr


@pytest.mark.parametrize("missing", ["--rows", "--columns"])
def test_table_and_map_need_each_other(assay, table, missing):
    at = table.index(missing)
    assert missing in assay(*table[:at], *table[at + 2 :], code=2).stderr


SPLIT = ["predict", "gpt3", "--hidden", "4096", "--blocks", "32", "--heads", "32", "--sequence", "2048",
         "--vocabulary", "51200", "--global-batch", "64"]  # fmt: skip
NOTHING = [
    ["--precision", "fp8"], ["--optimizer", "adam"], ["--overlap", "none"], ["--accumulate", "2"],
    ["--all-reduce", "ring"], ["--fusion", "one"], ["--slow-down", "1.1"], ["--call", "20 us"], ["--scaling", "strong"],
    ["--replay", "x.replay"], ["--store", "x.db"], ["--bucket", "1MiB"], ["--first-bucket", "1MiB"],
]  # fmt: skip


@pytest.mark.parametrize("flag", NOTHING, ids=lambda flag: flag[0])
def test_what_changes_nothing_for_a_split_transformer_is_refused(assay, flag):
    asked = [*SPLIT, "--cluster", CLUSTER, "--devices", "8"]
    assert f"{flag[0]} changes nothing here" in assay(*asked, *flag, code=2).stderr
