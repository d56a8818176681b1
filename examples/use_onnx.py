"""A program as you might run it: loads an ONNX file and says how many images a second it does.

assay exec --tuned NAME -- python examples/use_onnx.py model.onnx"""

import sys
import time

import numpy
import onnxruntime

SECONDS = 1.0

session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
batch = {"image": numpy.zeros((1, 3, 64, 64), "float32")}
session.run(None, batch)
steps, begin = 0, time.perf_counter()
while time.perf_counter() < begin + SECONDS:
    session.run(None, batch)
    steps += 1
print(f"{steps / (time.perf_counter() - begin):.0f} images/s")
