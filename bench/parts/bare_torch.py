"""The pytorch worker's steps beside torch called bare, in one process and in turns. A line of JSON for each shape:
{"shape": "…", "rounds": [[worker_ns, bare_ns], …]}, nanoseconds of the median step.

usage: bare_torch.py FOLDER_OF_COMMON FOLDER_OF_WORKER ROUNDS MILLISECONDS wall|cpu

A side of a round lasts so many milliseconds, or one step; time is that of the clock on the wall or of this thread.
"""

import json
import statistics
import sys
import time

sys.path[:0] = sys.argv[1:3]
ROUNDS, SIDE_NS = int(sys.argv[3]), float(sys.argv[4]) * 1e6
NOW_NS = time.thread_time_ns if sys.argv[5] == "cpu" else time.monotonic_ns

import assay_worker  # noqa: E402
import torch  # noqa: E402
import worker as worker_program  # noqa: E402
from torch.nn import functional  # noqa: E402

BACKWARD = ([1, 1], [1, 1], [1, 1], False, [0, 0], 1)  # stride, padding, dilation, transposed, output padding, groups


# What a person would write, on the worker's own tensors: where tensors lie in memory is worth some percent by itself.
def gemm(t):
    return lambda: torch.mm(t["a"], t["b"], out=t["out"])


def int8_gemm(t):
    return lambda: torch._int_mm(t["a"], t["b"], out=t["out"])


def convolution(t):
    return lambda: functional.conv2d(t["input"], t["weight"], padding=1)


def backward(wanted):
    call = torch.ops.aten.convolution_backward
    return lambda t: lambda: call(t["gradient"], t["input"], t["weight"], None, *BACKWARD, wanted)


def attention(t):
    return lambda: functional.scaled_dot_product_attention(t["query"], t["key"], t["value"])


def lstm(t):
    layer = torch.nn.LSTM(512, 512)
    layer.load_state_dict({name: value for name, value in t.items() if name != "input"}, assign=True)
    return lambda: layer(t["input"])


def layer_norm(t):
    return lambda: functional.layer_norm(t["input"], (768,), t["scale"], t["shift"])


def image(channels, size, part="forward"):
    return {"channels_in": channels, "channels_out": channels, "height": size, "width": size, "pass": part}


SHAPES = {
    "gemm 512": ("gemm", "fp32", 1, {"m": 512, "n": 512, "k": 512}, gemm),
    "gemm 128x3072x768": ("gemm", "fp32", 1, {"m": 128, "n": 3072, "k": 768}, gemm),
    "gemm bf16 1024": ("gemm", "bf16", 1, {}, gemm),
    "gemm int8 1024": ("gemm", "int8", 1, {}, int8_gemm),
    "conv2d 56x56 64": ("conv2d", "fp32", 1, image(64, 56), convolution),
    "conv2d backward data": ("conv2d", "fp32", 1, image(128, 28, "backward_data"), backward([True, False, False])),
    "conv2d backward weights": (
        "conv2d",
        "fp32",
        1,
        image(128, 28, "backward_weights"),
        backward([False, True, False]),
    ),
    "attention 128": ("attention", "fp32", 4, {}, attention),
    "lstm 512": ("rnn", "fp32", 16, {}, lstm),
    "layer_norm 1024x768": ("layer_norm", "fp32", 1, {"sequence": 1024}, layer_norm),
}


def median_ns(step, steps):
    """One that lost its CPU meanwhile does not count."""
    clock, taken = NOW_NS, []
    for _ in range(steps):
        begin = clock()
        step()
        taken.append(clock() - begin)
    return statistics.median(taken)


def bare_ns(call, steps):
    with torch.no_grad():
        return median_ns(call, steps)


def rounds(network, precision, batch, options, make_bare):
    framework = worker_program.PyTorch()
    workload = {"network": network, "mode": "infer", "batch": batch, "precision": precision, "options": options}
    framework.prepare(assay_worker.Prepare({"workload": workload, "seed": 1}))
    call = make_bare(framework._steps.tensors)
    median_ns(framework.step, 3)
    bare_ns(call, 3)
    steps = max(1, int(SIDE_NS / bare_ns(call, 3)))
    found = []
    for turn in range(ROUNDS):
        if turn % 2 == 0:
            worker, bare = median_ns(framework.step, steps), bare_ns(call, steps)
        else:
            bare, worker = bare_ns(call, steps), median_ns(framework.step, steps)
        found.append((worker, bare))
    return found


for name, shape in SHAPES.items():
    print(json.dumps({"shape": name, "rounds": rounds(*shape)}), flush=True)
