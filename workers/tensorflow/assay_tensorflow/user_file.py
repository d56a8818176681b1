"""A user's own network: a function in a Python file, `path/file.py:function`."""

import assay_file
import assay_graph
import assay_worker
import keras
import tensorflow as tf

EXPECTED = (
    "It must return a keras.Model with a method example_input(batch), or (model, make_input), or "
    "(model, make_input, loss)."
)
TEMPLATE = """
import keras
def {name}():
    model = keras.Sequential([keras.layers.Dense(10)])
    make_input = lambda batch: keras.random.normal((batch, 64))
    return model, make_input
"""


class UserNetwork:
    """The model, what it is called with, and loss(output), or None for the default."""

    def __init__(self, model, inputs, loss):
        self.model, self.inputs, self.loss = model, inputs, loss


def load(prepare):
    """Imports the file and calls its function. What it draws follows from the seeds."""
    make, where = assay_file.function_of(prepare)
    keras.utils.set_random_seed(prepare.seed % 2**32)
    model, make_input, loss = _parts(make(), where)
    keras.utils.set_random_seed(assay_graph.data_seed(prepare) % 2**32)
    inputs = _inputs(make_input, prepare.workload["batch"], where)
    model(inputs)  # a model may make its variables when it is first called
    return UserNetwork(model, inputs, loss)


def mean_square(output):
    """The loss where the file gives none."""
    if not tf.is_tensor(output):
        message = "the output is a %s, not a tensor: return (model, make_input, loss) to train on it."
        raise assay_worker.Refused(message % type(output).__name__)
    return tf.reduce_mean(tf.square(output))


def _parts(returned, where):
    if isinstance(returned, keras.Model):
        make_input = getattr(returned, "example_input", None)
        if not callable(make_input):
            assay_file.refuse(where, "a model without example_input(batch)", EXPECTED, TEMPLATE)
        return returned, make_input, None
    if not isinstance(returned, tuple) or len(returned) not in (2, 3) or not isinstance(returned[0], keras.Model):
        assay_file.refuse(where, "a " + type(returned).__name__, EXPECTED, TEMPLATE)
    if not all(callable(part) for part in returned[1:]):
        assay_file.refuse(where, "a tuple in which something is not a function", EXPECTED, TEMPLATE)
    return (*returned, None)[:3]


def _inputs(make_input, batch, where):
    """What the model is called with: as Keras has it, one tensor, or a list, tuple or dictionary of them."""
    made = make_input(batch)
    for value in tf.nest.flatten(made):
        if not hasattr(value, "shape"):
            message = "%s: make_input(%d) returned a %s with a %s; it must hold tensors or numpy arrays."
            raise assay_worker.Refused(message % (where, batch, type(made).__name__, type(value).__name__))
    return tf.nest.map_structure(_in_precision, made)


def _in_precision(value):
    """Real values take the precision, integers stay."""
    tensor = tf.convert_to_tensor(value)
    return tf.cast(tensor, keras.config.floatx()) if tensor.dtype.is_floating else tensor
