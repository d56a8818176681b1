"""Primitives of workers/onnxruntime against numpy; run by the interpreter of that worker's environment. Prints how far
each case is off, as a line of JSON: {"CASE": relative L2 norm}."""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "workers" / "onnxruntime"), str(ROOT / "workers" / "common")]

import assay_worker  # noqa: E402
import primitive_oracle  # noqa: E402
from assay_onnxruntime import primitives  # noqa: E402

off = {}
for case, (network, batch, options) in primitive_oracle.CASES.items():
    if network not in primitives.TABLE or options.get("pass", "forward") != "forward":
        continue
    workload = primitive_oracle.workload(network, batch, options)
    made = primitives.Primitive(assay_worker.Prepare({"workload": workload, "seed": 7, "settings": {"intra_op": 1}}))
    made.step()
    found = made.outputs()[0]
    if network == "rnn":
        found = found[:, 0]  # ONNX has the direction as an axis
    off[case] = primitive_oracle.difference(found, primitive_oracle.wanted(network, options, made.tensors))
print(json.dumps(off))
