"""`bench/predict_inference --judge` on folders as others may hold them: other splits, devices, models, gaps."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()

CLOSED = (
    "id,model,gpu_system,backend,backend_version,precision,mode,input_tokens,output_tokens,concurrency,batch_size,tp,pp,"
    "ttft_ms,tpot_ms\n"
)
STATIC = "model,gpu,tensor_parallel,prompt_tokens,batch_size,output_tokens,ttft_ms_median,tpot_ms_median,check_flags\n"


def closed(number, model="Llama-3.1-8B", gpu="h100_sxm", tp=1, clients=8, tpot="8.0", tokens=1024):
    return f"r{number},{model},{gpu},trtllm,1.0,,agg,{tokens},256,{clients},{clients},{tp},1,150,{tpot}\n"


@pytest.fixture
def judge(tmp_path):
    """Runs the figure on two folders of these tables; its last line and what it printed."""
    if not (BUILD / "bench" / "predict_inference").exists():
        pytest.skip("the programs of bench are not built")

    def call(known, other):
        for name, tables in (("known", known), ("other", other)):
            (tmp_path / name).mkdir()
            for table, text in tables.items():
                (tmp_path / name / table).write_text(text)
        argv = [ROOT / "bench" / "predict_inference", "--published", tmp_path / "known", "--judge", tmp_path / "other"]
        env = {**os.environ, "ASSAY_BUILD": str(BUILD)}
        done = subprocess.run([sys.executable, *argv], env=env, capture_output=True, text=True, check=False)
        assert done.stderr == "" and done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout.splitlines()[-1])["detail"], done.stdout

    return call


def test_rows_of_other_splits_and_devices_are_predicted_and_the_rest_has_a_reason(judge):
    points = [(1, 1024), (8, 1024), (8, 4096)]
    known = CLOSED + "".join(closed(i, clients=c, tokens=t) for i, (c, t) in enumerate(points))
    other = CLOSED + "".join(
        [
            closed(1, tp=4),
            closed(2, tp=8),
            closed(3, gpu="b200_sxm", tp=2),
            closed(4, gpu="l40s"),
            closed(5, model="acme/Zebra-30B"),
            closed(6, model="acme/Zebra"),
            closed(7, gpu="abacus"),
            closed(8, gpu="abacus"),
            closed(9, tp=3),
            closed(10, tpot=""),
            closed(11, tokens=""),
        ]
    )
    detail, printed = judge({"aic_llm_serving_dense.csv": known}, {"aic_llm_serving_dense.csv": other})
    assert detail["aic_llm_serving_dense, judged, rows"] == {"predicted": 6, "refused": 5}
    assert detail["aic_llm_serving_dense, tensor 4"]["tpot"]["rows"] == 1
    assert detail["aic_llm_serving_dense, new devices"]["tpot"]["rows"] == 2
    assert "the device 'abacus' is not in the catalogue. (row r7 and 1 more)" in printed
    assert "the model 'Zebra' is not in the catalogue, and states no size. (row r6)" in printed
    assert "The model 'Zebra-30B' is not in the catalogue: a decoder of 30 billion" in printed
    assert "not judged: splitwise" in printed
    assert "laws of kernels are those of the program" in printed


def test_a_folder_without_rows_or_without_the_table_ends_with_the_reason(judge):
    static = STATIC + "llama2-70b,a100-80gb,2,512,1,128,196.8,54.8,\nllama2-70b,a100-80gb,4,512,1,128,120,40,\n"
    detail, printed = judge(
        {"splitwise_inference.csv": static, "aic_llm_serving_dense.csv": CLOSED},
        {"splitwise_inference.csv": static.replace("a100-80gb,4", "h100-80gb,8"), "aic_llm_serving_dense.csv": ""},
    )
    assert detail["splitwise, judged, rows"] == {"predicted": 2, "refused": 0}
    assert "not judged: aic_llm_serving_dense" in printed and "has no rows" in printed


def test_a_table_that_lacks_a_column_is_not_judged_and_the_others_are(judge):
    known = CLOSED + closed(1)
    static = STATIC + "llama2-70b,a100-80gb,2,512,1,128,196.8,54.8,\n"
    detail, printed = judge(
        {"aic_llm_serving_dense.csv": known, "splitwise_inference.csv": static},
        {"aic_llm_serving_dense.csv": "id,model\nr1,Llama-3.1-8B\n", "splitwise_inference.csv": static},
    )
    assert "there is no column" in printed
    assert detail["splitwise, judged, rows"]["predicted"] == 1
