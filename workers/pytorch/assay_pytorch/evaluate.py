"""What a network computes on given values, so that it can be compared between frameworks."""

import assay_graph
import torch


def infer(steps, shape, asked):
    """Takes a step and writes `asked.output`."""
    steps.step()
    write_output(steps, shape, asked.output)


def write_output(steps, shape, path):
    """What the last step of inference computed. `shape`: the graph's own, with the batch in front."""
    output = steps.output
    if list(output.shape) != list(shape):
        raise RuntimeError("the output has shape %s, the graph says %s" % (list(output.shape), list(shape)))
    assay_graph.write_values(path, {"output": output.float().cpu().contiguous().numpy()})


def train(module, inputs, loss, network, asked):
    """Losses before each update and after the last, and norms of the first gradients by the parameters' names."""
    parameters = network.parameters
    network.fill()  # steps may have been taken to compile them, or been measured
    optimizer = torch.optim.SGD(parameters.values(), lr=asked.learning_rate, momentum=asked.momentum)
    losses, norms = [], {}
    for _ in range(max(1, asked.updates)):  # the first gradient is wanted even where nothing is updated
        value = loss(module(*inputs))
        value.backward()
        losses.append(float(value.detach()))
        if not norms:
            norms = {name: float(p.grad.double().norm()) for name, p in parameters.items()}
        if asked.updates:
            optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    if asked.updates:
        with torch.no_grad():
            losses.append(float(loss(module(*inputs))))
    return losses, norms
