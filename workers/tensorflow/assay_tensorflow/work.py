"""What is measured, put together: a primitive, a network of Assay's, or a user's own."""

import functools

import assay_data
import assay_digits
import assay_graph
import assay_worker
import keras
import tensorflow as tf

from . import files, learning, network, operators, primitives, settings, steps, user_file, weights


class Work:
    """Steps to time, the parameters they have, settings that took effect, and the network where it is Assay's."""

    def __init__(self, steps, parameters, effective=None, network=None):
        self.steps, self.parameters = steps, parameters
        self.effective, self.network = effective or {}, network


def build(prepare, ranks):
    """`ranks`: the others to exchange gradients with, or None."""
    dtype = settings.PRECISIONS[prepare.workload["precision"]]
    keras.config.set_floatx(dtype)
    keras.config.set_dtype_policy(dtype)
    keras.utils.set_random_seed(assay_graph.data_seed(prepare) % 2**32)  # what dropout drops
    exchange = None if ranks is None else ranks.mean
    if prepare.file is not None:
        return _user_network(prepare, exchange)
    if prepare.graph is not None:
        return _graph_network(prepare, exchange)
    return Work(primitives.build(prepare), 0)


def evaluate(prepare, work, evaluate):
    """What the protocol asks for, on the values as they were given, whatever was measured before."""
    if assay_digits.learns(prepare):
        assay_digits.refuse_evaluation(evaluate)
    values = assay_graph.values_of(prepare)
    weights.load(work.network.variables, values)
    if not prepare.trains:
        work.steps.step()
        write_output(work, evaluate.output)
        return None
    losses, first = work.steps.evaluate(evaluate.updates, evaluate.learning_rate, evaluate.momentum)
    names = {id(variable): name for name, (variable, _) in work.network.variables.items()}
    trained = [names[id(variable)] for variable in work.network.model.trainable_variables]
    return losses, {name: float(tf.norm(tf.cast(g, "float64"))) for name, g in zip(trained, first)}


def write_output(work, path):
    """What the last step of inference computed."""
    output = tf.cast(operators.to_graph_order(work.steps.output), "float32")
    assay_graph.write_values(path, {"output": output.numpy()})


def _learning(prepare):
    """A network that is trained on digits to an accuracy."""
    compiler = prepare.settings.get("compile")
    made = learning.Learning(prepare, functools.partial(tf.function, jit_compile=compiler == "xla", autograph=False))
    return Work(made, made.parameters, {"layout": "nhwc", **({"compile": compiler} if compiler else {})})


def _graph_network(prepare, exchange):
    if assay_digits.learns(prepare):
        return _learning(prepare)
    values = assay_graph.values_of(prepare)
    built = network.build(prepare, values)
    loss, target = network.make_loss(prepare, values) if prepare.trains else (None, None)
    work = _with_steps(prepare, built.model, built.inputs, loss, target, exchange)
    work.network = built
    data = assay_data.of(prepare)
    if data is not None:
        loader = files.Loader(data, prepare.settings)
        work.steps = files.loaded(work.steps, loader)
        work.effective.update(loader.effective)
    return work


def _user_network(prepare, exchange):
    built = user_file.load(prepare)
    loss = built.loss or user_file.mean_square
    return _with_steps(prepare, built.model, built.inputs, lambda output, _: loss(output), None, exchange)


def _with_steps(prepare, model, inputs, loss, target, exchange):
    effective, compiler = {}, prepare.settings.get("compile")
    if any(len(x.shape) == 4 for x in tf.nest.flatten(inputs)):
        effective["layout"] = "nhwc"
    elif prepare.settings.get("layout") is not None:
        raise assay_worker.Refused("layout '%s': no input is an image. Leave it unset." % prepare.settings["layout"])
    if compiler is not None:
        effective["compile"] = compiler
    # As in Keras' own loop, TensorFlow does not rewrite the code of a model.
    function = functools.partial(tf.function, jit_compile=compiler == "xla", autograph=False)
    if prepare.trains:
        made = steps.Training(function, model, (inputs, target), loss, exchange)
    else:
        made = steps.Inference(function, lambda given: model(given, training=False), (inputs,))
    for way in (made.step, made.step_with_phases):
        way()  # traces, optimises and compiles: what stands ready are functions
    return Work(made, weights.count(model), effective)
