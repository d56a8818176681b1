"""Primitives as networks of their own: one call of torch's is the whole step.

An entry of TABLE takes the options, the batch and a Source of tensors, and returns the call and the tensors that it
works on, by name. The call returns its result, or writes it to the tensor `out`.
"""

import assay_primitive
import assay_worker
import torch
from torch.nn import functional

from . import steps

_convolve = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
_INT8 = ("gemm",)


class Primitive(assay_primitive.Single, steps.Steps):
    """No tensor needs a gradient, so that autograd keeps nothing and steps need no mode to tell it so."""

    def __init__(self, run, tensors, wait):
        self.run, self.tensors, self._wait = run, tensors, wait

    def step(self):
        self.run()
        self._wait()


class Source:
    """Draws tensors on the CPU, from the seed, and gives them as device and precision ask."""

    def __init__(self, generator, device):
        self._generator, self.device = generator, device

    def normal(self, *shape):
        if self.device.dtype is torch.int8:
            return torch.randint(-127, 128, shape, generator=self._generator, dtype=torch.int8)
        return torch.randn(shape, generator=self._generator).to(self.device.kind, self.device.dtype)

    def below(self, most, *shape):
        return torch.randint(most, shape, generator=self._generator).to(self.device.kind)

    def zeros(self, *shape, dtype=None):
        """Written once, so that no step meets a new page."""
        return torch.zeros(shape, dtype=dtype or self.device.dtype, device=self.device.kind)


def build(prepare, device, generator):
    name = prepare.workload["network"]
    options = assay_primitive.options_of(prepare, TABLE)
    if device.dtype is torch.int8 and name not in _INT8:
        raise assay_worker.Refused("precision 'int8': only %s has it here, not %s." % (", ".join(_INT8), name))
    run, tensors = TABLE[name](options, prepare.workload["batch"], Source(generator, device))
    return Primitive(run, tensors, device.wait)


def _gemm(options, _, source):
    """c = a b, with a of m x k and b of k x n. Products of int8 are added up, and given, in 32 bits."""
    is_int8 = source.device.dtype is torch.int8
    multiply = torch._int_mm if is_int8 else torch.mm
    a, b = source.normal(options["m"], options["k"]), source.normal(options["k"], options["n"])
    out = source.zeros(options["m"], options["n"], dtype=torch.int32 if is_int8 else None)
    return lambda: multiply(a, b, out=out), {"a": a, "b": b, "out": out}


def _batched_gemm(options, batch, source):
    a = source.normal(batch, options["m"], options["k"])
    b = source.normal(batch, options["k"], options["n"])
    out = source.zeros(batch, options["m"], options["n"])
    return lambda: torch.bmm(a, b, out=out), {"a": a, "b": b, "out": out}


def _convolution(options, batch, source):
    """Backward passes are the calls that autograd makes; each gives one gradient."""
    axes, kernel, groups = assay_primitive.axes_of(options), options["kernel"], options["groups"]
    dimensions = len(axes)
    given = source.normal(batch, options["channels_in"], *axes)
    window = (options["channels_in"] // groups, *[kernel] * dimensions)
    weight = source.normal(options["channels_out"], *window)
    stride, padding = [options["stride"]] * dimensions, [options["padding"]] * dimensions
    tensors = {"input": given, "weight": weight}
    if options["pass"] == "forward":
        convolve = _convolve[dimensions]
        return lambda: convolve(given, weight, None, stride, padding, 1, groups), tensors
    windows = [assay_primitive.windows_along(options, size) for size in axes]
    gradient = source.normal(batch, options["channels_out"], *windows)
    wants_data = options["pass"] == "backward_data"
    backward, fixed = torch.ops.aten.convolution_backward, ([1] * dimensions, False, [0] * dimensions, groups)
    wanted = [wants_data, not wants_data, False]

    def run():
        return backward(gradient, given, weight, None, stride, padding, *fixed, wanted)[0 if wants_data else 1]

    return run, {**tensors, "gradient": gradient}


def _attention(options, batch, source):
    shape = (batch, options["heads"], options["sequence"], options["head_features"])
    query, key, value = (source.normal(*shape) for _ in range(3))
    tensors = {"query": query, "key": key, "value": value}
    return lambda: functional.scaled_dot_product_attention(query, key, value), tensors


def _rnn(options, batch, source):
    """All outputs of one layer, from a state of zeros. Weights are about as large as those of a trained layer."""
    features, hidden = options["features"], options["hidden"]
    kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[options["cell"]]
    layer = kind(features, hidden, device=source.device.kind, dtype=source.device.dtype).requires_grad_(False)
    for parameter in layer.parameters():
        parameter.copy_(source.normal(*parameter.shape) / hidden**0.5)
    given = source.normal(options["sequence"], batch, features)
    return lambda: layer(given)[0], {"input": given, **dict(layer.named_parameters())}


def _embedding(options, batch, source):
    table = source.normal(options["rows"], options["features"])
    ids = source.below(options["rows"], batch, options["lookups"])
    return lambda: functional.embedding(ids, table), {"table": table, "ids": ids}


def _layer_norm(options, batch, source):
    features = options["features"]
    given = source.normal(batch, options["sequence"], features)
    scale, shift = source.normal(features), source.normal(features)
    tensors = {"input": given, "scale": scale, "shift": shift}
    return lambda: functional.layer_norm(given, (features,), scale, shift), tensors


def _copy(options, _, source):
    b, out = source.normal(options["elements"]), source.zeros(options["elements"])
    return lambda: out.copy_(b), {"b": b, "out": out}


def _triad(options, _, source):
    """One pass without temporaries: two elements read and one written for each."""
    b, c = source.normal(options["elements"]), source.normal(options["elements"])
    out = source.zeros(options["elements"])
    return lambda: torch.add(b, c, alpha=3, out=out), {"b": b, "c": c, "out": out}


def _host_to_device(options, _, source):
    """From pinned memory. Untried: there was no GPU where this was written."""
    if source.device.kind == "cpu":
        raise assay_worker.Refused("host_to_device: device cpu has no memory of its own. Use device cuda.")
    given = torch.zeros(options["elements"], dtype=source.device.dtype).pin_memory()
    out = source.zeros(options["elements"])
    return lambda: out.copy_(given, non_blocking=True), {"input": given, "out": out}


TABLE = {
    "gemm": _gemm,
    "batched_gemm": _batched_gemm,
    "conv1d": _convolution,
    "conv2d": _convolution,
    "conv3d": _convolution,
    "attention": _attention,
    "rnn": _rnn,
    "embedding": _embedding,
    "layer_norm": _layer_norm,
    "copy": _copy,
    "triad": _triad,
    "host_to_device": _host_to_device,
}
