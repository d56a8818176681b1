"""What primitives compute, in numpy and double precision; and the cases on which workers in Python are held to it.

Tensors have the names that the workers give them, and torch's layouts.
"""

import itertools

import assay_primitive
import numpy

CONVOLUTION = {"channels_in": 4, "channels_out": 6, "kernel": 3, "padding": 1}
CASES = {
    "gemm": ("gemm", 1, {"m": 5, "n": 7, "k": 3}),
    "batched gemm": ("batched_gemm", 4, {"m": 5, "n": 7, "k": 3}),
    "attention": ("attention", 2, {"heads": 3, "sequence": 5, "head_features": 4}),
    "lstm": ("rnn", 3, {"features": 5, "hidden": 6, "sequence": 4}),
    "gru": ("rnn", 3, {"features": 5, "hidden": 6, "sequence": 4, "cell": "gru"}),
    "embedding": ("embedding", 2, {"rows": 11, "features": 3, "lookups": 7}),
    "layer norm": ("layer_norm", 2, {"sequence": 3, "features": 20}),
    "copy": ("copy", 1, {"elements": 1000}),
    "triad": ("triad", 1, {"elements": 1000}),
    **{
        "%s %s" % (network, part): (network, 2, {**CONVOLUTION, **more, "pass": part})
        for part in assay_primitive.PASSES
        for network, more in {
            "conv1d": {"width": 9, "stride": 2},
            "conv2d": {"height": 8, "width": 7, "groups": 2},
            "conv3d": {"depth": 3, "height": 4, "width": 5},
        }.items()
    },
}


def workload(network, batch, options, precision="fp32"):
    return {"network": network, "mode": "infer", "batch": batch, "precision": precision, "options": options}


def wanted(network, options, tensors):
    """The result for these tensors, as arrays of any type."""
    values = {name: numpy.asarray(tensor, numpy.int64 if name == "ids" else float) for name, tensor in tensors.items()}
    if network.startswith("conv"):
        return _convolution(options, **values)
    return _FORMULAS[network](options, values)


def difference(found, expected):
    """Relative L2 norm."""
    found = numpy.asarray(found, float)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    return numpy.linalg.norm(found - expected) / numpy.linalg.norm(expected)


def _convolution(options, input, weight, gradient=None):
    """Sums over the places of a window; all three passes are the same products, added up elsewhere."""
    stride, padding, groups = options.get("stride", 1), options["padding"], options.get("groups", 1)
    kernel, dimensions = options["kernel"], input.ndim - 2
    batch, channels_in, *axes = input.shape
    windows = [(size + 2 * padding - kernel) // stride + 1 for size in axes]
    padded = numpy.pad(input, ((0, 0), (0, 0), *[(padding, padding)] * dimensions))
    seen_shape = (batch, groups, channels_in // groups, *padded.shape[2:])
    weights = weight.reshape(groups, -1, *weight.shape[1:])
    seen, output = padded.reshape(seen_shape), numpy.zeros((batch, *weights.shape[:2], *windows))
    if gradient is not None:
        gradient = gradient.reshape(output.shape)
    of_data, of_weights = numpy.zeros_like(seen), numpy.zeros_like(weights)
    for tap in itertools.product(range(kernel), repeat=dimensions):
        at = (..., *[slice(t, t + (n - 1) * stride + 1, stride) for t, n in zip(tap, windows)])
        part = (slice(None), slice(None), slice(None), *tap)
        output += numpy.einsum("bgi...,goi->bgo...", seen[at], weights[part])
        if gradient is not None:
            of_data[at] += numpy.einsum("bgo...,goi->bgi...", gradient, weights[part])
            flat = (batch, groups, -1, int(numpy.prod(windows)))
            of_weights[part] = numpy.einsum("bgop,bgip->goi", gradient.reshape(flat), seen[at].reshape(flat))
    if options["pass"] == "forward":
        return output.reshape(batch, -1, *windows)
    if options["pass"] == "backward_weights":
        return of_weights.reshape(weight.shape)
    inside = (..., *[slice(padding, padding + size) for size in axes])
    return of_data.reshape(padded.shape)[inside]


def _attention(_, values):
    scores = values["query"] @ values["key"].swapaxes(-1, -2) / values["query"].shape[-1] ** 0.5
    shares = numpy.exp(scores - scores.max(-1, keepdims=True))
    return shares / shares.sum(-1, keepdims=True) @ values["value"]


def _sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def _rnn(options, values):
    """Gates in torch's order: lstm input, forget, candidate, output; gru reset, update, candidate."""
    state = kept = numpy.zeros((values["input"].shape[1], options["hidden"]))
    outputs = []
    for now in values["input"]:
        given = now @ values["weight_ih_l0"].T + values["bias_ih_l0"]
        recurrent = state @ values["weight_hh_l0"].T + values["bias_hh_l0"]
        if options.get("cell", "lstm") == "lstm":
            enter, forget, candidate, leave = numpy.split(given + recurrent, 4, -1)
            kept = _sigmoid(forget) * kept + _sigmoid(enter) * numpy.tanh(candidate)
            state = _sigmoid(leave) * numpy.tanh(kept)
        else:
            given, recurrent = numpy.split(given, 3, -1), numpy.split(recurrent, 3, -1)
            reset, update = (_sigmoid(given[i] + recurrent[i]) for i in (0, 1))
            state = update * state + (1 - update) * numpy.tanh(given[2] + reset * recurrent[2])
        outputs.append(state)
    return numpy.stack(outputs)


def _layer_norm(_, values):
    x = values["input"]
    centred = x - x.mean(-1, keepdims=True)
    return centred / numpy.sqrt(x.var(-1, keepdims=True) + 1e-5) * values["scale"] + values["shift"]


_FORMULAS = {
    "gemm": lambda _, values: values["a"] @ values["b"],
    "batched_gemm": lambda _, values: values["a"] @ values["b"],
    "attention": _attention,
    "rnn": _rnn,
    "embedding": lambda _, values: values["table"][values["ids"]],
    "layer_norm": _layer_norm,
    "copy": lambda _, values: values["b"],
    "triad": lambda _, values: values["b"] + 3 * values["c"],
}
