#!/usr/bin/env python3
"""A meter for `assay run --meter`: answers each line on its input with the joules used so far.

This one adds up the watts of a device."""

import sys
import threading
import time


class Meter:
    def __init__(self):
        self.joules = 0.0
        threading.Thread(target=self.sample, daemon=True).start()

    def watts(self):
        return 15.0  # ask your device here

    def sample(self):
        before = time.monotonic()
        while True:
            time.sleep(0.1)
            now = time.monotonic()
            self.joules += self.watts() * (now - before)
            before = now


meter = Meter()
for _ in sys.stdin:
    print(meter.joules, flush=True)
