"""One fresh process of bench/parity, run by the Python of the worker's environment.

    parity_pair.py NETWORK THREADS ROUNDS

Reads the graph on stdin. Both modules are alive in this one process, on the same weights and input, and take slices of
two steps in turns, the order swapped each round. The last line is JSON: the median of the rounds' log-ratios, ours over
the reference, and how far the outputs are apart.
"""

import json
import math
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "workers" / "pytorch"), str(ROOT / "workers" / "common")]

STEPS = 2  # of a slice


def copy_weights(network, reference, name_there):
    """Every layer that has weights or buffers; fails where a shape differs or something is left over."""
    copied = 0
    for node in network.nodes:
        state = node.call.state_dict() if hasattr(node.call, "state_dict") else {}
        if state:
            reference.get_submodule(name_there(node.name)).load_state_dict(state, strict=True)
            copied += sum(p.numel() for p in node.call.parameters())
    there = sum(p.numel() for p in reference.parameters())
    if copied != there:
        sys.exit(f"{copied} parameters were copied, the reference has {there}")


def slice_seconds(step):
    times = []
    for _ in range(STEPS):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def log_ratio(ours, reference, rounds):
    ratios = []
    for i in range(rounds + 1):  # the first warms up
        order = (ours, reference) if i % 2 else (reference, ours)
        seconds = {step: slice_seconds(step) for step in order}
        ratios.append(math.log(seconds[ours] / seconds[reference]))
    return statistics.median(ratios[1:])


def main(name, threads, rounds):
    import parity_references
    import torch
    from assay_pytorch import network, steps

    torch.set_num_threads(threads)
    graph = json.load(sys.stdin)
    built = network.build(graph, seed=1)
    inputs = network.make_inputs(graph, 1, torch.Generator().manual_seed(2))
    make, name_there = parity_references.REFERENCES[name]
    reference = make().eval()
    with torch.no_grad():
        copy_weights(built, reference, name_there)
    ours = steps.Inference(built.module.eval(), inputs, lambda: None)
    theirs = steps.Inference(reference, inputs, lambda: None)
    ratio = log_ratio(ours.step, theirs.step, rounds)
    with torch.inference_mode():
        truth, output = reference(*inputs).double(), built.module(*inputs).double()
    apart = float((output - truth).norm() / truth.norm())
    print(json.dumps({"log_ratio": ratio, "relative_l2": apart}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
