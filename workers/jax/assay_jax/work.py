"""What is measured, put together: a primitive, a network of Assay's, or a user's own."""

import functools

import assay_digits
import assay_graph
import assay_worker
import jax
import jax.numpy as jnp
import numpy

from . import learning, network, primitives, settings, steps, user_file
from .layout import Layout


class Work:
    """Steps to time, the parameters they have, and settings that took effect. `evaluate(asked)` says what a network
    computes on given values, `write_output(path)` what the last step did."""

    def __init__(self, steps, parameters, effective=None):
        self.steps, self.parameters, self.effective = steps, parameters, effective or {}
        self.evaluate = self.write_output = None


def build(prepare, ranks):
    """`ranks`: the others to exchange gradients with, or None."""
    dtype = jnp.dtype(settings.PRECISIONS[prepare.workload["precision"]])
    if prepare.file is not None:
        return _user_network(prepare, dtype, ranks)
    if prepare.graph is not None:
        return _graph_network(prepare, dtype, ranks)
    return Work(primitives.build(prepare, dtype), 0)


def _learning(prepare, dtype):
    """A network that is trained on digits to an accuracy."""
    layout, effective = _layout(prepare)
    made = learning.Learning(prepare, network.Network(prepare, layout, dtype), layout)
    work = Work(made, made.parameters, effective)
    work.evaluate = assay_digits.refuse_evaluation
    return work


def _graph_network(prepare, dtype, ranks):
    if assay_digits.learns(prepare):
        return _learning(prepare, dtype)
    layout, effective = _layout(prepare)
    built, values = network.Network(prepare, layout, dtype), assay_graph.values_of(prepare)
    parameters, inputs = built.parameters(values), built.inputs(values)
    statistics, count = built.statistics(values), _count(parameters)
    if prepare.trains:

        def loss(parameters, statistics, key, batch):
            output, left = built.run(parameters, statistics, batch[0], key)
            return built.loss(output, batch[1]), left

        first = steps.State.first(parameters, statistics, _key(prepare))
        made = steps.Training(loss, first, (inputs, built.target(values)), ranks)
    else:
        made = steps.Inference(lambda *arguments: built.run(*arguments)[0], (parameters, statistics, inputs))
    work = Work(_compiled(made), count, effective)
    work.evaluate = functools.partial(_train if prepare.trains else _infer, prepare, built, made)
    work.write_output = functools.partial(_write_output, built, made)
    return work


def _user_network(prepare, dtype, ranks):
    _refuse_layout(prepare, "a user's network has its own")
    built = user_file.load(prepare, dtype)
    count = _count(built.parameters)
    if prepare.trains:

        def loss(parameters, statistics, key, batch):
            return built.loss(built.apply(parameters, batch)), statistics

        first = steps.State.first(built.parameters, {}, _key(prepare))
        made = steps.Training(loss, first, built.inputs, ranks)
    else:
        made = steps.Inference(built.apply, (built.parameters, built.inputs))
    return Work(_compiled(made), count)


def _compiled(made):
    for way in (made.step, made.step_with_phases):
        way()
    return made


def _layout(prepare):
    """And what took effect: nothing where no input is an image."""
    name = prepare.settings.get("layout") or settings.LAYOUTS[0]
    if any(len(wanted["shape"]) == 3 for wanted in prepare.graph["inputs"]):
        return Layout(name), {"layout": name}
    _refuse_layout(prepare, "no input is an image")
    return Layout(name), {}


def _refuse_layout(prepare, reason):
    if prepare.settings.get("layout") is not None:
        raise assay_worker.Refused("layout '%s': %s. Leave it unset." % (prepare.settings["layout"], reason))


def _key(prepare):
    """What dropout draws from follows from seed, rank and instance."""
    return jax.random.PRNGKey(assay_graph.data_seed(prepare) % 2**31)


def _count(parameters):
    return sum(array.size for array in jax.tree.leaves(parameters))


def _infer(prepare, built, made, asked):
    """On the values as they were given: steps of inference change none."""
    made.step()
    _write_output(built, made, asked.output)


def _write_output(built, made, path):
    """What the last step of inference computed."""
    assay_graph.write_values(path, {"output": built.to_graph(made.output)})


def _train(prepare, built, made, asked):
    """From the values as they were given, whatever was measured before."""
    values = assay_graph.values_of(prepare)
    state = steps.State.first(built.parameters(values), built.statistics(values), _key(prepare))
    losses, first = made.evaluate(state, asked.updates, asked.learning_rate, asked.momentum)
    return losses, {name: float(numpy.linalg.norm(numpy.asarray(g, "float64"))) for name, g in first.items()}
