"""A user's own network: a function in a Python file, `path/file.py:function`."""

import hashlib
import importlib.util
import inspect
import os
import sys

import assay_worker
import torch
from torch import nn

EXPECTED = (
    "It must return a torch.nn.Module with a method example_input(batch), or (module, make_input), or "
    "(module, make_input, loss)."
)
HASH_DIGITS = 32  # of the SHA-256, as the core writes it


class UserNetwork:
    """The module, its input batch as a tuple, and loss(output), or None for the default."""

    def __init__(self, module, inputs, loss):
        self.module, self.inputs, self.loss = module, inputs, loss


def load(prepare, seed, data_seed):
    """Imports the file and calls its function with the workload's options. What it draws follows from the seeds."""
    path, name = prepare.file["path"], prepare.file["function"]
    _check_hash(path, prepare.file["hash"])
    function = getattr(_import(path), name, None)
    if not callable(function):
        raise assay_worker.Refused("%s has no function '%s'." % (path, name))
    options = prepare.workload.get("options") or {}
    try:
        inspect.signature(function).bind(**options)
    except TypeError as error:
        raise assay_worker.Refused("%s:%s does not take these options: %s." % (path, name, error)) from None
    torch.manual_seed(seed)
    module, make_input, loss = _parts(function(**options), "%s:%s" % (path, name))
    torch.manual_seed(data_seed)
    return UserNetwork(module, _inputs(make_input, prepare.workload["batch"], "%s:%s" % (path, name)), loss)


def mean_square(output):
    """The loss where the file gives none."""
    if not isinstance(output, torch.Tensor):
        message = "the output is a %s, not a tensor: return (module, make_input, loss) to train on it."
        raise assay_worker.Refused(message % type(output).__name__)
    return output.square().mean()


def _check_hash(path, wanted):
    try:
        with open(path, "rb") as file:
            found = hashlib.sha256(file.read()).hexdigest()[:HASH_DIGITS]
    except OSError as error:
        raise assay_worker.Refused("%s cannot be read: %s." % (path, error.strerror)) from None
    if found != wanted:
        message = "%s has changed since the campaign was planned (its hash is %s, planned was %s). Plan it anew."
        raise assay_worker.Refused(message % (path, found, wanted))


def _import(path):
    """Neighbours of the file can be imported by it, as when Python runs it."""
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules or name in sys.stdlib_module_names:
        name = "assay_user_" + name  # it must not stand for a module that others import
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise assay_worker.Refused("%s is no Python file: its name must end with .py." % path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _parts(returned, where):
    if isinstance(returned, nn.Module):
        make_input = getattr(returned, "example_input", None)
        if not callable(make_input):
            raise assay_worker.Refused("%s returned a module without example_input(batch). %s" % (where, EXPECTED))
        return returned, make_input, None
    if not isinstance(returned, tuple) or len(returned) not in (2, 3) or not isinstance(returned[0], nn.Module):
        raise assay_worker.Refused("%s returned a %s. %s" % (where, type(returned).__name__, EXPECTED))
    if not all(callable(part) for part in returned[1:]):
        raise assay_worker.Refused("%s returned a tuple in which something is no function. %s" % (where, EXPECTED))
    return (*returned, None)[:3]


def _inputs(make_input, batch, where):
    made = make_input(batch)
    inputs = made if isinstance(made, tuple) else (made,)
    for value in inputs:
        if not isinstance(value, torch.Tensor):
            message = "%s: make_input(%d) returned a %s; it must return a tensor or a tuple of tensors."
            raise assay_worker.Refused(message % (where, batch, type(value).__name__))
    return inputs
