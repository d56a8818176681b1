"""A user's own network: a function in a Python file, `path/file.py:function`."""

import assay_file
import assay_worker
import jax
import jax.numpy as jnp

EXPECTED = (
    "It must return (apply, parameters, make_input) or (apply, parameters, make_input, loss), where apply(parameters, "
    "input) gives the output."
)
TEMPLATE = """
import jax.numpy as jnp
def {name}():
    apply = lambda parameters, inputs: inputs @ parameters
    make_input = lambda batch: jnp.ones((batch, 64))
    return apply, jnp.ones((64, 10)), make_input
"""


class UserNetwork:
    """apply(parameters, inputs), both trees of arrays, and loss(output)."""

    def __init__(self, apply, parameters, inputs, loss):
        self.apply, self.parameters, self.inputs, self.loss = apply, parameters, inputs, loss


def load(prepare, dtype):
    """Imports the file and calls its function. Real arrays take the precision, integers stay."""
    make, where = assay_file.function_of(prepare)
    apply, parameters, make_input, loss = _parts(make(), where)
    batch = prepare.workload["batch"]
    inputs = _arrays(make_input(batch), dtype, "%s: make_input(%d)" % (where, batch))
    return UserNetwork(apply, _arrays(parameters, dtype, "%s: parameters" % where), inputs, loss or mean_square)


def mean_square(output):
    """The loss where the file gives none."""
    if not isinstance(output, jax.Array):
        message = "the output is a %s, not an array: return (apply, parameters, make_input, loss) to train on it."
        raise assay_worker.Refused(message % type(output).__name__)
    return jnp.square(output).mean()


def _parts(returned, where):
    if not isinstance(returned, tuple) or len(returned) not in (3, 4):
        assay_file.refuse(where, "a " + type(returned).__name__, EXPECTED, TEMPLATE)
    apply, parameters, *functions = returned
    if not all(callable(part) for part in (apply, *functions)):
        assay_file.refuse(where, "a tuple in which something is not a function", EXPECTED, TEMPLATE)
    return (apply, parameters, *functions, None)[:4]


def _arrays(tree, dtype, what):
    """A copy, which steps may overwrite."""

    def array(leaf):
        if not hasattr(leaf, "shape") or not hasattr(leaf, "dtype"):
            message = "%s holds a %s; it must be a tree of arrays."
            raise assay_worker.Refused(message % (what, type(leaf).__name__))
        return jnp.array(leaf, dtype if jnp.issubdtype(leaf.dtype, jnp.floating) else None)

    return jax.tree.map(array, tree)
