"""workers/llamacpp: products of its own kernels. Its text is in test_generate.py."""

import json
import subprocess

import pytest
from conftest import ROOT, interpreter

CHECKS = ROOT / "tests" / "workers" / "llamacpp_checks.py"
GEMM = {"network": "gemm", "mode": "infer", "batch": 1, "precision": "fp32", "options": {"m": 2, "n": 64, "k": 64}}
# Rounding a standard normal value to f bits of fraction is off by 2^-(f+1) / sqrt(3) at most, and both factors are
# rounded. A block of 32 values reaches 2.1 in the mean: a level is 2.1/127 of Q8_0 and 2.1/8 of Q4_0, and rounding
# to it is off by a level / sqrt(12). Twice of that is too much, a fifth too good for the kind.
OFF = {"fp16": 2**-11, "bf16": 2**-8, "q8_0": 2.1 / 127 / 12**0.5, "q4_0": 2.1 / 8 / 12**0.5}


def test_a_product_is_what_numpy_says_in_every_kind():
    done = subprocess.run([interpreter("llamacpp"), CHECKS], capture_output=True, text=True, check=True, timeout=60)
    off = json.loads(done.stdout)
    assert off.pop("fp32") < 1e-6
    assert {kind: 0.2 * OFF[kind] < value < 2 * OFF[kind] for kind, value in off.items()} == dict.fromkeys(OFF, True)


def test_threads_of_a_product_are_those_that_are_asked_for(start):
    worker = start("llamacpp")
    assert worker.prepare(**GEMM, settings={"intra_op": 2})["effective"] == {"intra_op": 2}
    assert len(worker.measure(max_samples=3)["ns"]) == 3


@pytest.mark.parametrize(
    "change, said",
    {
        "blocks": ({"precision": "q8_0", "options": {"k": 48}}, "blocks of 32 values"),
        "kind": ({"precision": "file"}, "fp32, fp16, bf16, q8_0, q4_0"),
        "batch": ({"batch": 2}, "no samples"),
        "setting": ({"settings": {"prefill_tokens": 4}}, "prefill_tokens"),
        "other primitive": ({"network": "triad", "options": {}}, "generates text"),
    }.values(),
)
def test_what_a_product_cannot_be_is_refused_by_name(start, change, said):
    answer = start("llamacpp").prepare(**{**GEMM, **change})
    assert (answer["type"], answer["kind"]) == ("error", "refused") and said in answer["message"], answer
