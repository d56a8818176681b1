"""A graph's values in the variables of Keras' layers, which lie in another order."""

import numpy
from keras import layers as kl


def variables_of(nodes, layers):
    """For each name of a value (`node/weight`): its variable, and what turns the graph's array into the variable's."""
    found = {}
    for node in nodes:
        layer = layers.get(node["name"])
        for parameter in node["parameters"]:
            found["%s/%s" % (node["name"], parameter["name"])] = _variable(layer, parameter["name"])
        if isinstance(layer, kl.BatchNormalization):
            found[node["name"] + "/mean"] = layer.moving_mean, _same
            found[node["name"] + "/variance"] = layer.moving_variance, _same
    return found


def load(variables, values):
    for name, (variable, order) in variables.items():
        variable.assign(numpy.ascontiguousarray(order(values[name])))


def count(model):
    """Trainable numbers; what is shared counts once."""
    return sum(int(numpy.prod(v.shape)) for v in model.trainable_variables)


def _variable(layer, name):
    if isinstance(layer, (kl.LSTM, kl.GRU)):
        return _recurrent_variable(layer, name)
    if name == "bias":
        return (layer.beta if hasattr(layer, "beta") else layer.bias), _same
    if isinstance(layer, kl.DepthwiseConv2D):
        return layer.kernel, lambda w: w.transpose(2, 3, 0, 1).reshape(layer.kernel.shape)
    if isinstance(layer, (kl.Conv2D, kl.Conv2DTranspose)):  # [out, in, …], or [in, out, …]
        return layer.kernel, lambda w: w.transpose(2, 3, 1, 0)
    if isinstance(layer, kl.Conv3D):
        return layer.kernel, lambda w: w.transpose(2, 3, 4, 1, 0)
    if isinstance(layer, kl.Dense):
        return layer.kernel, numpy.transpose
    if isinstance(layer, kl.RMSNormalization):
        return layer.scale, _same
    return (layer.gamma if hasattr(layer, "gamma") else layer.embeddings), _same


def _recurrent_variable(layer, name):
    """Keras has the gates side by side, and those of a GRU in another order."""
    variable = {"weight": layer.cell.kernel, "weight_state": layer.cell.recurrent_kernel, "bias": layer.cell.bias}[name]
    if isinstance(layer, kl.LSTM):
        return variable, (_same if name == "bias" else numpy.transpose)

    def ordered(array):
        reset, update, new = numpy.split(array if name == "bias" else array.T, 3, -1)
        return numpy.concatenate([update, reset, new], -1)

    return variable, ordered


def _same(array):
    return array
