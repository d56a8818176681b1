"""Puts the workers of worker.py into a folder of workers."""

import json
import pathlib
import sys

WORKER = pathlib.Path(__file__).with_name("worker.py")


def make(root, names):
    for name in names:
        (root / name).mkdir(parents=True)
        described = {
            "name": name,
            "release": "1.0.0",
            "protocol": 1,
            "argv": [sys.executable, str(WORKER), name],
            "networks": [],
            "operators": ["linear", "relu"],
            "modes": ["infer"],
            "precisions": ["fp32"],
            "devices": ["cpu"],
            "details": ["step"],
            "step_output": True,
            "settings": ["intra_op"],
        }
        (root / name / "worker.json").write_text(json.dumps(described))
    return root
