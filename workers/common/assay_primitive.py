"""Options of primitives, for workers in Python: assay/core/primitive.cpp has the same table, and a test compares them.

An option with a number is an integer from LEAST on (1 where it is not there), one with a tuple is a choice, the first
being the default.
"""

import time

import assay_worker

PASSES = ("forward", "backward_data", "backward_weights")
MOST = 2**40
LEAST = {"padding": 0}
WITHOUT_SAMPLES = ("gemm", "copy", "triad", "host_to_device")


def _convolution(channels, **axes):
    window = {"kernel": 3, "stride": 1, "padding": 1, "groups": 1, "pass": PASSES}
    return {**axes, "channels_in": channels, "channels_out": channels, **window}


OPTIONS = {
    "gemm": {"m": 1024, "n": 1024, "k": 1024},
    "batched_gemm": {"m": 128, "n": 128, "k": 64},
    "conv1d": _convolution(256, width=1024),
    "conv2d": _convolution(64, height=56, width=56),
    "conv3d": _convolution(64, depth=8, height=28, width=28),
    "attention": {"heads": 12, "sequence": 128, "head_features": 64},
    "rnn": {"features": 512, "hidden": 512, "sequence": 25, "cell": ("lstm", "gru")},
    "embedding": {"rows": 100_000, "features": 64, "lookups": 128},
    "layer_norm": {"sequence": 128, "features": 768},
    "copy": {"elements": 1 << 25},
    "triad": {"elements": 1 << 25},
    "host_to_device": {"elements": 1 << 25},
}


class Single:
    """One call, timed as a step; its only phase is forward."""

    phases = ("forward",)

    def step(self):
        raise NotImplementedError

    def step_with_phases(self):
        begin_ns = time.monotonic_ns()
        self.step()
        return (time.monotonic_ns() - begin_ns,)


def refuse_samples(prepare):
    name, batch = prepare.workload["network"], prepare.workload["batch"]
    if prepare.trains:
        raise assay_worker.Refused("mode train: %s has nothing to train. Use mode infer." % name)
    if batch != 1 and name not in OPTIONS.keys() - set(WITHOUT_SAMPLES):
        raise assay_worker.Refused("batch %d: %s has no samples. Use batch 1." % (batch, name))


def options_of(prepare, table):
    """All options of the primitive that is asked for. What is not in the worker's table, and an option that the
    primitive has not or cannot have, is refused by name."""
    network = prepare.workload["network"]
    if network not in table:
        message = "network '%s' came without a graph. Without one there is %s."
        raise assay_worker.Refused(message % (network, ", ".join(table)))
    refuse_samples(prepare)
    known = OPTIONS[network]
    options = prepare.options({key: _default(value) for key, value in known.items()})
    for name, value in options.items():
        if isinstance(known[name], tuple):
            if value not in known[name]:
                raise assay_worker.Refused("option %s=%r: must be one of %s." % (name, value, ", ".join(known[name])))
        elif type(value) is not int or not LEAST.get(name, 1) <= value <= MOST:
            message = "option %s=%r: must be an integer from %d on."
            raise assay_worker.Refused(message % (name, value, LEAST.get(name, 1)))
    if "kernel" in options:
        _check_convolution(options)
    return options


def axes_of(options):
    """Sizes of the axes along which a convolution slides."""
    return [options[axis] for axis in ("depth", "height", "width") if axis in options]


def windows_along(options, size):
    return (size + 2 * options["padding"] - options["kernel"]) // options["stride"] + 1


def _default(known):
    return known[0] if isinstance(known, tuple) else known


def _check_convolution(options):
    for size in axes_of(options):
        if windows_along(options, size) < 1:
            message = "option kernel=%d: does not fit %d values with padding %d."
            raise assay_worker.Refused(message % (options["kernel"], size, options["padding"]))
    for name in ("channels_in", "channels_out"):
        if options[name] % options["groups"]:
            message = "option %s=%d: cannot be dealt out to %d groups."
            raise assay_worker.Refused(message % (name, options[name], options["groups"]))
