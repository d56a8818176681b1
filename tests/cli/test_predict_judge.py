"""bench/predict_llm --judge: rows that were never seen, of whatever files there are. Tables here are made: what is
tested is that each row is judged, or named with the reason."""

import csv
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build/dev"), "bench/predict_llm")
pytestmark = pytest.mark.skipif(not (ROOT / PROGRAM).is_file(), reason="bench/programs are not built")

FOUNDRY = ["model", "d_model", "n_heads", "n_layers", "vocab", "seq_len", "gpu", "num_gpus", "precision", "mp_mode"]
FOUNDRY += ["act_ckpt", "micro_batch", "global_batch_seqs", "step_s"]
SHAPES = {"1b": (2048, 16, 24), "3b": (2560, 20, 32), "7b": (4096, 32, 32)}
BRIDGE = ["nemo_release", "phase", "model", "system", "num_gpus", "precision", "global_batch", "micro_batch", "seq_len"]
BRIDGE += ["fsdp", "tp", "pp", "cp", "vp", "ep", "tokens_per_s_per_gpu"]


def foundry_row(model, gpus, micro_batch, gpu="h100_80gb", slower=1.0):
    """At 40 % of an H100's peak, by 6 FLOPs for each parameter and token."""
    hidden, heads, layers = SHAPES[model]
    batch = 4 * micro_batch * gpus
    seconds = slower * 6 * 12 * layers * hidden**2 * batch * 2048 / (gpus * 0.4 * 989e12)
    fixed = [50368, 2048, gpu, gpus, "amp_bf16", "DEFAULT", "True", micro_batch, batch, f"{seconds:.5f}"]
    return dict(zip(FOUNDRY, [model, hidden, heads, layers, *fixed], strict=True))


def bridge_row(model, system, batch, rate):
    fixed = [64, "FP8", batch, 1, 8192, "", 4, 2, 1, 1, 1, rate]
    return dict(zip(BRIDGE, ["26.02", "Pre-Training", model, system, *fixed], strict=True))


def write(folder, name, columns, rows):
    folder.mkdir(exist_ok=True)
    with (folder / f"{name}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)


def judge(known, other):
    argv = [sys.executable, ROOT / "bench/predict_llm", "--published", known, "--judge", other]
    done = subprocess.run(argv, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stdout


@pytest.fixture
def known(tmp_path):
    rows = [foundry_row(m, gpus, b) for m in SHAPES for gpus in (8, 16) for b in (2, 4, 8)]
    write(tmp_path / "known", "llmfoundry_train", FOUNDRY, rows)
    return tmp_path / "known"


def test_larger_runs_and_new_devices_are_judged_apart(known, tmp_path):
    rows = [foundry_row(m, 512, 4) for m in SHAPES] + [foundry_row("1b", 64, 4, "x9000_1tb", 1.1)]
    write(tmp_path / "other", "llmfoundry_train", FOUNDRY, rows)
    line, said = judge(known, tmp_path / "other")
    assert line["detail"]["llmfoundry_train:h100"]["rows"] == 3
    assert line["detail"]["llmfoundry_train:h100"]["goal"] == 0.03
    assert line["detail"]["llmfoundry_train:h100"]["mean"] < 0.1  # rows follow one rate, which calibration finds
    assert line["detail"]["llmfoundry_train:x9000_1tb"]["rows"] == 1
    assert line["detail"]["llmfoundry_train:x9000_1tb"]["guessed"] == 1
    assert "not judged: torchtitan: torchtitan.csv is missing in" in said
    assert "4 rows judged, 0 not predicted" in said


def test_a_row_that_cannot_be_predicted_is_named_with_the_reason(known, tmp_path):
    rows = [foundry_row("1b", 32, 4), foundry_row("3b", 32, 4), foundry_row("7b", 32, 4), foundry_row("1b", 8, 2)]
    rows[1]["seq_len"] = "long"
    rows[2]["step_s"] = ""
    write(tmp_path / "other", "llmfoundry_train", FOUNDRY, rows)
    line, said = judge(known, tmp_path / "other")
    assert line["detail"]["llmfoundry_train:h100"]["rows"] == 1
    assert line["detail"]["llmfoundry_train:h100"]["refused"] == 2
    assert "1 rows are not predicted (2): sequence is long; it is a number above zero" in said.replace("'", "")
    assert "1 rows are not predicted (3): it has no measured time" in said
    assert "llmfoundry_train: 1 rows of" in said  # the last one is in both folders: it calibrates


def test_systems_and_models_that_nobody_knows(known, tmp_path):
    sizes = {"LLAMA3_8B": 16000, "LLAMA3_70B": 1600}
    rows = [bridge_row(m, "DGX-H100", b, rate) for m, rate in sizes.items() for b in (64, 128, 256)]
    write(known, "megatron_bridge_train", BRIDGE, rows)
    others = [bridge_row("LLAMA3_8B", "DGX-H100", 512, 16000), bridge_row("LLAMA3_8B", "DGX-B200", 64, 32000)]
    others += [bridge_row("Mystery_12B", "DGX-X9", 64, 9000), bridge_row("nameless", "DGX-B200", 64, 9000)]
    write(tmp_path / "other", "megatron_bridge_train", BRIDGE, others)
    line, said = judge(known, tmp_path / "other")
    assert line["detail"]["megatron_bridge_train:known system"]["rows"] == 1
    assert line["detail"]["megatron_bridge_train:new system"]["rows"] == 2
    assert "1 rows are not predicted (4): the model" in said


def test_empty_files_and_tables_without_calibration_are_reported(known, tmp_path):
    other = tmp_path / "other"
    write(other, "torchtitan", ["model"], [])
    (other / "vtrain_multi.csv").write_text("")
    (other / "megatron_2022.csv").write_bytes(b"\xff\xfe,x\n1,2\n")
    write(other, "megatron_bridge_train", BRIDGE, [bridge_row("LLAMA3_8B", "DGX-H100", 64, 16000)])
    line, said = judge(known, other)
    assert line["holds"] is False
    assert line["value"] is None
    assert "not judged: torchtitan: torchtitan.csv in" in said
    assert "not judged: vtrain_multi: vtrain_multi.csv in" in said
    assert "not judged: megatron_bridge_train: nothing to calibrate on" in said
    assert "0 rows judged, 0 not predicted" in said
