"""Steps of a network: plain, by phases, and by the graph's nodes."""

import itertools
import time

import torch

# On a fixed batch, 0.01 makes resnet50 learn one image in four steps. The loss is then exactly 0, gradients decay into
# denormal numbers, and a step takes many times as long. At this rate thousands of steps are alike.
LEARNING_RATE = 1e-5
MOMENTUM = 0.9
_clock = time.monotonic_ns


class Steps:
    """What every kind of step has: the parts into which it can be split, if any."""

    phases = ()
    nodes = ()

    def take(self, inputs):
        """Computes on these from now on."""
        self._inputs = tuple(inputs)

    def take_buckets(self):
        """See assay_worker.Framework."""
        return []


class Inference(Steps):
    """forward() on a fixed batch."""

    phases = ("forward",)

    def __init__(self, module, inputs, wait, network=None):
        self.module, self._wait, self._network = module.eval(), wait, network
        self.take(inputs)
        self.nodes = tuple(node.name for node in network.nodes) if network else ()
        self.output = None

    def step(self):
        with torch.inference_mode():
            self.output = None  # what the last step left is given back in this one: no memory for two is needed
            self.output = self.module(*self._inputs)
            self._wait()

    def step_with_phases(self):
        begin_ns = _clock()
        self.step()
        return (_clock() - begin_ns,)

    def step_with_layers(self):
        with torch.inference_mode():
            values = dict(zip(self._network.inputs, self._inputs))
            forward_ns = [_forward(node, values, self._wait) for node in self._network.nodes]
        return forward_ns, ()


class Training(Steps):
    """forward() with loss, backward(), and an update by SGD, on a fixed batch."""

    phases = ("forward", "backward", "update")

    def __init__(self, module, inputs, loss, wait, network=None):
        self.module, self._loss, self._wait, self._network = module.train(), loss, wait, network
        self.take(inputs)
        self.nodes = (*(node.name for node in network.nodes), "loss", "update") if network else ()
        self._optimizer = torch.optim.SGD(module.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM)

    def step(self):
        self._loss(self.module(*self._inputs)).backward()
        self._update()
        self._wait()

    def step_with_phases(self):
        marks = [_clock()]
        loss = self._loss(self.module(*self._inputs))
        self._mark(marks)
        loss.backward()
        del loss
        self._mark(marks)
        self._update()
        self._mark(marks)
        return tuple(after - before for before, after in itertools.pairwise(marks))

    def step_with_layers(self):
        """The step itself, forward() one node at a time. In its one backward pass autograd tells when it comes to one;
        it runs functions in the reverse of their order in forward, which is checked."""
        values, backward = dict(zip(self._network.inputs, self._inputs)), _BackwardMarks(self._wait)
        forward_ns = []
        for index, node in enumerate(self._network.nodes):
            before = [values[name].grad_fn for name in node.inputs]  # an activation may overwrite its input
            forward_ns.append(_forward(node, values, self._wait))
            backward.watch(index, before, values.get(node.name))
        marks = [_clock()]
        loss = self._loss(values.pop(self._network.output))
        self._mark(marks)
        loss.backward()
        del loss
        self._mark(marks)
        self._update()
        self._mark(marks)
        loss_ns, nodes_ns = backward.split(marks[1], marks[2], len(self._network.nodes))
        return [*forward_ns, marks[1] - marks[0], marks[3] - marks[2]], [*nodes_ns, loss_ns, 0]

    def _update(self):
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)

    def _mark(self, marks):
        self._wait()
        marks.append(_clock())


class _BackwardMarks:
    """When the backward pass came to each node."""

    def __init__(self, wait):
        self._wait, self._marks = wait, []

    def watch(self, index, before, output):
        """`before`: functions of its inputs. A node without one of its own takes no time: it needs no gradient, or
        returned its input."""
        function = None if output is None else output.grad_fn
        if function is None or function in before:
            return

        def mark(_):
            self._wait()
            self._marks.append((_clock(), index))

        function.register_prehook(mark)

    def split(self, begin_ns, end_ns, count):
        """Nanoseconds of the loss, and of each node."""
        nodes_ns, order = [0] * count, [index for _, index in self._marks]
        if order != sorted(order, reverse=True):
            raise RuntimeError("layers cannot be separated: backward did not run in the reverse order of forward")
        times = [ns for ns, _ in self._marks] + [end_ns]
        for (ns, index), after_ns in zip(self._marks, times[1:]):
            nodes_ns[index] = after_ns - ns
        return times[0] - begin_ns, nodes_ns


def _forward(node, values, wait):
    """Runs one node; returns its nanoseconds. Letting go of what is not needed any more is part of it, as in a step."""
    begin_ns = _clock()
    values[node.name] = node.call(*[values[name] for name in node.inputs])
    for name in node.last_uses:
        del values[name]
    wait()
    return _clock() - begin_ns
