"""A worker's own step in a bare loop: what a person times without Assay. It has just enough protocol to take turns.

BARE_GC=off takes Python's garbage collection out of the loop.

usage: bare_step.py FOLDER_OF_COMMON FOLDER_OF_WORKER
"""

import gc
import json
import os
import sys
import time

answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
asked = json.loads(sys.stdin.readline())
sys.path[:0] = sys.argv[1:3]

import assay_worker  # noqa: E402
import worker  # noqa: E402

(described,) = (
    kind
    for kind in vars(worker).values()
    if isinstance(kind, type) and issubclass(kind, assay_worker.Framework) and kind is not assay_worker.Framework
)
framework = described()
prepared = framework.prepare(assay_worker.Prepare(asked))
answer = {"type": "prepared", "protocol": 1, "versions": prepared.versions, "effective": {}}
print(json.dumps({**answer, "parameters": prepared.parameters}), file=answers)

if os.environ.get("BARE_GC") == "off":
    gc.collect()
    gc.freeze()
    gc.disable()
for line in sys.stdin:
    command = json.loads(line)
    if command["type"] == "exit":
        break
    ns = []
    begin = before = time.monotonic_ns()
    while len(ns) < command["max_samples"] and before - begin < command["seconds"] * 1e9:
        framework.step()
        after = time.monotonic_ns()
        ns.append(after - before)
        before = after
    print(json.dumps({"type": "samples", "ns": ns}), file=answers)
    print(json.dumps({"type": "done", "samples": len(ns), "begin_ns": begin, "end_ns": before}), file=answers)
