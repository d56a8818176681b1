"""A user's own network: a function in a Python file, `path/file.py:function`."""

import assay_file
import assay_worker
import torch
from torch import nn

EXPECTED = (
    "It must return (module, make_input) or (module, make_input, loss), or a torch.nn.Module with a method "
    "example_input(batch). To infer, any function of tensors may stand for the module."
)
TEMPLATE = """
import torch
def {name}():
    module = torch.nn.Linear(64, 10)
    make_input = lambda batch: torch.randn(batch, 64)
    return module, make_input
"""


class Called(nn.Module):
    """A function that is not a module, as one without parameters."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class UserNetwork:
    """The module, its input batch as a tuple, and loss(output), or None for the default."""

    def __init__(self, module, inputs, loss):
        self.module, self.inputs, self.loss = module, inputs, loss


def load(prepare, seed, data_seed):
    """Imports the file and calls its function with the workload's options. What it draws follows from the seeds."""
    make, where = assay_file.function_of(prepare)
    torch.manual_seed(seed)
    module, make_input, loss = _parts(make(), where)
    if prepare.trains and not any(True for _ in module.parameters()):
        raise assay_worker.Refused("%s has no parameters to train. Return a torch.nn.Module, or infer." % where)
    torch.manual_seed(data_seed)
    return UserNetwork(module, _inputs(make_input, prepare.workload["batch"], where), loss)


def mean_square(output):
    """The loss where the file gives none."""
    if not isinstance(output, torch.Tensor):
        message = "the output is a %s, not a tensor: return (module, make_input, loss) to train on it."
        raise assay_worker.Refused(message % type(output).__name__)
    return output.square().mean()


def _parts(returned, where):
    if isinstance(returned, nn.Module):
        make_input = getattr(returned, "example_input", None)
        if not callable(make_input):
            assay_file.refuse(where, "a module without example_input(batch)", EXPECTED, TEMPLATE)
        return returned, make_input, None
    if not isinstance(returned, tuple) or len(returned) not in (2, 3):
        assay_file.refuse(where, "a " + type(returned).__name__, EXPECTED, TEMPLATE)
    if not all(callable(part) for part in returned):
        assay_file.refuse(where, "a tuple in which something is not a function", EXPECTED, TEMPLATE)
    module, *functions = returned
    if not isinstance(module, nn.Module):
        module = Called(module)
    return (module, *functions, None)[:3]


def _inputs(make_input, batch, where):
    made = make_input(batch)
    inputs = made if isinstance(made, tuple) else (made,)
    for value in inputs:
        if not isinstance(value, torch.Tensor):
            message = "%s: make_input(%d) returned a %s; it must return a tensor or a tuple of tensors."
            raise assay_worker.Refused(message % (where, batch, type(value).__name__))
    return inputs
