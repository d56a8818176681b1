"""The same module in a bare loop: what a person times without Assay. It has only enough of the protocol to take turns.

BARE_GC=off takes Python's garbage collection out of the loop.

usage: bare_worker.py FOLDER_OF_COMMON FOLDER_OF_PYTORCH
"""

import gc
import json
import os
import sys
import time

answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
prepare = json.loads(sys.stdin.readline())
sys.path[:0] = sys.argv[1:3]

import torch  # noqa: E402
from assay_pytorch import network  # noqa: E402

graph = prepare["graph"]
built = network.build(graph, prepare["seed"])
module = built.module.eval()
(image,) = network.make_inputs(graph, prepare["workload"]["batch"], torch.Generator().manual_seed(prepare["seed"]))
answer = {"type": "prepared", "protocol": 1, "versions": {"torch": torch.__version__}, "effective": {}}
print(json.dumps({**answer, "parameters": network.count_parameters(module)}), file=answers)

if os.environ.get("BARE_GC") == "off":
    gc.collect()
    gc.freeze()
    gc.disable()
for line in sys.stdin:
    command = json.loads(line)
    if command["type"] == "exit":
        break
    ns = []
    with torch.inference_mode():
        begin = before = time.monotonic_ns()
        while len(ns) < command["max_samples"] and before - begin < command["seconds"] * 1e9:
            module(image)
            after = time.monotonic_ns()
            ns.append(after - before)
            before = after
    print(json.dumps({"type": "samples", "ns": ns}), file=answers)
    print(json.dumps({"type": "done", "samples": len(ns), "begin_ns": begin, "end_ns": before}), file=answers)
