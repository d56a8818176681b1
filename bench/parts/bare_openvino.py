"""An ONNX file in a bare loop of OpenVINO's Python interface, as bare_step.py has it for workers in Python.

usage: bare_openvino.py
"""

import json
import os
import sys
import time

answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
asked = json.loads(sys.stdin.readline())

import numpy  # noqa: E402
import openvino  # noqa: E402

core = openvino.Core()
model = core.read_model(asked["file"]["path"])
(port,) = model.inputs
shape = [asked["workload"]["batch"] if side.is_dynamic else side.get_length() for side in port.partial_shape]
model.reshape({port: shape})
config = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}
request = core.compile_model(model, "CPU", config).create_infer_request()
image = numpy.random.default_rng(asked["seed"]).standard_normal(shape, numpy.float32)
request.set_input_tensor(openvino.Tensor(image))
print(json.dumps({"type": "prepared", "protocol": 1, "versions": {"openvino": openvino.__version__}}), file=answers)

for line in sys.stdin:
    command = json.loads(line)
    if command["type"] == "exit":
        break
    ns = []
    begin = before = time.monotonic_ns()
    while len(ns) < command["max_samples"] and before - begin < command["seconds"] * 1e9:
        request.infer()
        after = time.monotonic_ns()
        ns.append(after - before)
        before = after
    print(json.dumps({"type": "samples", "ns": ns}), file=answers)
    print(json.dumps({"type": "done", "samples": len(ns), "begin_ns": begin, "end_ns": before}), file=answers)
