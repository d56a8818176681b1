"""A graph of Assay's as a Keras model, with the values it computes on."""

import assay_graph
import keras
import tensorflow as tf

from . import operators, weights


class Network:
    """The model, its inputs as tensors with channels last, and variables by the names of values."""

    def __init__(self, model, inputs, variables):
        self.model, self.inputs, self.variables = model, inputs, variables


def build(prepare, values):
    """Fails where it is not the graph's size. Keras' dtype policy is that of the precision."""
    graph = prepare.graph
    nodes, layers = assay_graph.nodes_of(graph, operators.TABLE), {}
    inputs = [_input(wanted, values, prepare.workload["batch"]) for wanted in graph["inputs"]]
    places = [keras.Input(batch_shape=x.shape, dtype=x.dtype.name) for x in inputs]
    known = {wanted["name"]: place for wanted, place in zip(graph["inputs"], places)}
    for node in nodes:
        made = operators.TABLE[node["op"]](node, layers, *[known[name] for name in node["inputs"]])
        known[node["name"]] = made
    model = keras.Model(places, known[graph["output"]])
    _check_parameters(model, graph)
    variables = weights.variables_of(nodes, layers)
    weights.load(variables, values)
    return Network(model, inputs, variables)


def make_loss(prepare, values):
    """The loss as a function of the output, and its target: a tensor, or None where it needs none."""
    if prepare.graph["loss"] == "mean_square":
        return lambda output, target: tf.reduce_mean(tf.square(output)), None
    target = tf.constant(values["target"])

    def cross_entropy(output, target):
        logits = operators.to_graph_order(output)
        return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(target, logits))

    return cross_entropy, target


def _input(wanted, values, batch):
    """One input as the model is called with it: images with channels last."""
    array = values["input/" + wanted["name"]]
    if list(array.shape) != [batch, *wanted["shape"]]:
        message = "input %s has shape %s, the graph says %s for each of %d samples"
        raise ValueError(message % (wanted["name"], list(array.shape), wanted["shape"], batch))
    tensor = operators.from_graph_order(tf.constant(array))
    return tensor if wanted["type"] == "integer" else tf.cast(tensor, keras.config.floatx())


def _check_parameters(model, graph):
    parameters = weights.count(model)
    if parameters != graph["parameters"]:
        message = "built %d parameters for %s, the graph has %d: this would be another network"
        raise RuntimeError(message % (parameters, graph["name"], graph["parameters"]))
