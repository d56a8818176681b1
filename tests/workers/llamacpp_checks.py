"""Products of workers/llamacpp against numpy; run by the interpreter of that worker's environment. Prints how far each
kind of weights is off, as a line of JSON: {"PRECISION": relative L2 norm}."""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "workers" / "llamacpp"), str(ROOT / "workers" / "common")]

import assay_llama  # noqa: E402
import assay_worker  # noqa: E402
import primitive_oracle  # noqa: E402
import product  # noqa: E402

SIZES = {"m": 5, "n": 70, "k": 320}
off = {}
for precision in assay_llama.PRECISIONS:
    workload = primitive_oracle.workload("gemm", 1, SIZES, precision)
    made = product.Product(assay_worker.Prepare({"workload": workload, "seed": 7, "settings": {}}), 2)
    made.step()
    off[precision] = primitive_oracle.difference(made.result(), primitive_oracle.wanted("gemm", SIZES, made.tensors))
print(json.dumps(off))
