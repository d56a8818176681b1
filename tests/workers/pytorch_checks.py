"""Checks of workers/pytorch that need torch beside them. Run by the interpreter of that worker's environment:

    ENVIRONMENT/bin/python tests/workers/pytorch_checks.py

Prints a line of JSON for each function check_* of the files below. test_pytorch_values.py shows each as a test.
"""

import importlib
import json
import pathlib
import sys
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = ("pytorch_operator_checks", "pytorch_step_checks", "pytorch_primitive_checks")


def main():
    sys.path[:0] = [str(ROOT / "workers" / "pytorch"), str(ROOT / "workers" / "common")]
    import torch

    torch.set_num_threads(1)  # small tensors: more threads would mostly wait for each other on a busy host
    for file in FILES:
        for name, check in vars(importlib.import_module(file)).items():
            if not name.startswith("check_"):
                continue
            try:
                check()
                text = None
            except Exception:
                text = traceback.format_exc()
            print(json.dumps({"check": name, "failure": text}), flush=True)


if __name__ == "__main__":
    main()
