"""Checks beside torch: primitives against numpy, and their FLOPs against torch's own counter. See pytorch_checks.py."""

import json
import os
import pathlib
import subprocess

import assay_primitive
import assay_worker
import primitive_oracle
import torch
from assay_pytorch import primitives, work
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

BUILD = pathlib.Path(os.environ["ASSAY_BUILD"])


def made(workload, **more):
    return work.build(assay_worker.Prepare({"workload": workload, "seed": 1, **more})).steps


def plain(tensor):
    return (
        tensor.detach() if tensor.dtype in (torch.int8, torch.int32, torch.int64) else tensor.detach().double()
    ).numpy()


def check_primitives_compute_what_numpy_does():
    for precision, most in (("fp32", 1e-5), ("bf16", 0.02)):
        for case, (network, batch, options) in primitive_oracle.CASES.items():
            built = made(primitive_oracle.workload(network, batch, options, precision))
            built.step()  # the timed step must run too
            found = built.run()
            assert not found.requires_grad, case
            tensors = {name: plain(tensor) for name, tensor in built.tensors.items() if name != "out"}
            expected = primitive_oracle.wanted(network, options, tensors)
            off = primitive_oracle.difference(plain(found), expected)
            assert off < most, "%s at %s is off by %g" % (case, precision, off)


def check_int8_products_are_exact():
    built = made(primitive_oracle.workload("gemm", 1, {"m": 33, "n": 16, "k": 64}, "int8"))
    built.step()
    a, b, out = (plain(built.tensors[name]) for name in ("a", "b", "out"))
    assert out.dtype.name == "int32" and abs(out).max() > 127
    assert (out == a.astype(int) @ b.astype(int)).all()


def check_what_a_primitive_cannot_do_is_refused_by_name():
    cases = [
        ("conv2d", {"options": {"banana": 1}}, "banana"),
        ("conv2d", {"options": {"stride": 0}}, "stride=0"),
        ("conv2d", {"options": {"stride": 1.5}}, "stride=1.5"),
        ("conv2d", {"options": {"pass": "sideways"}}, "sideways"),
        ("conv2d", {"options": {"kernel": 59}}, "kernel=59"),
        ("conv2d", {"options": {"groups": 3}}, "channels_in=64"),
        ("gemm", {"batch": 2}, "batch 2"),
        ("gemm", {"mode": "train"}, "train"),
        ("conv2d", {"precision": "int8"}, "int8"),
        ("host_to_device", {}, "device cpu"),
    ]
    for network, more, part in cases:
        try:
            made({**primitive_oracle.workload(network, 1, {}), **more})
        except assay_worker.Refused as refusal:
            assert part in str(refusal), refusal
        else:
            raise AssertionError("%s was taken with %r" % (network, more))


def check_options_are_those_of_the_core():
    """And every default is one there too."""
    assert primitives.TABLE.keys() == assay_primitive.OPTIONS.keys()
    for name, options in assay_primitive.OPTIONS.items():
        shown = core(name, {}, 1)
        first = {key: value[0] if isinstance(value, tuple) else value for key, value in options.items()}
        assert shown["options"] == first, name
        assert shown["has_samples"] == (name not in assay_primitive.WITHOUT_SAMPLES), name


def check_flops_are_those_that_torch_counts():
    """torch counts matrix products and convolutions by the shapes its operators are called with; attention as the two
    products that it is where no kernel of its own computes it."""
    for network, batch, options in primitive_oracle.CASES.values():
        if network not in ("gemm", "batched_gemm", "attention", "conv1d", "conv2d", "conv3d"):
            continue
        if options.get("groups", 1) > 1 and options["pass"] == "backward_weights":
            continue  # there torch counts products between groups, which nobody computes
        built = made(primitive_oracle.workload(network, batch, options))
        with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
            built.run()
        flops = core(network, options, batch)["flops"]
        assert counter.get_total_flops() == flops, (network, options, counter.get_total_flops(), flops)


def core(network, options, batch):
    words = [word for key, value in options.items() for word in ("--option", "%s=%s" % (key, value))]
    argv = [BUILD / "assay", "show", "--network", network, *words, "--batch", str(batch), "--json"]
    return json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)
