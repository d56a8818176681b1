"""The PyTorch worker with extra work in every step: PLANTED_SHARE=0.05 makes it 5 % slower.

usage: planted_worker.py FOLDER_OF_COMMON FOLDER_OF_WORKER
"""

import os
import sys
import time

sys.path[:0] = sys.argv[1:3]

import assay_worker  # noqa: E402
import worker  # noqa: E402

EXTRA = float(os.environ.get("PLANTED_SHARE", "0"))


class Planted(worker.PyTorch):
    def step(self):
        begin = time.monotonic_ns()
        super().step()
        end = time.monotonic_ns()
        end += int((end - begin) * EXTRA)
        while time.monotonic_ns() < end:
            pass


if __name__ == "__main__":
    sys.exit(assay_worker.serve(Planted))
