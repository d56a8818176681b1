"""What is measured, put together: a primitive, a network of Assay's, a user's own, or a replayed step."""

import functools

import assay_data
import assay_digits
import assay_graph
import assay_worker
import torch

from . import collectives, evaluate, exchange, files, learning, network, primitives, ranks, replay, steps, user_file
from .device import Device, layout_of
from .values import Values


class Work:
    """Steps to time, the parameters they have, settings that took effect, and why a detail is not to be had.
    `evaluate(asked)` says what a network computes on given values, `write_output(path)` what the last step did."""

    def __init__(self, steps, parameters, effective=None, refusals=None):
        self.steps, self.parameters = steps, parameters
        self.effective, self.refusals = effective or {}, refusals or {}
        self.evaluate = self.write_output = None


def build(prepare):
    device = Device(prepare)
    is_replay = prepare.file is not None and prepare.file["path"].endswith(".replay")
    if is_replay:
        replay.read(prepare)
    elif prepare.file is None and prepare.graph is None:
        _refuse_early(prepare)
    if prepare.ranks > 1:
        ranks.join(prepare)  # before anything that takes long: the others see at once when this rank fails
    if is_replay:
        return Work(replay.build(prepare), None, refusals={"layers": "what a replay computes is only waited for."})
    generator = torch.Generator().manual_seed(assay_graph.data_seed(prepare))
    if prepare.file is not None:
        return _user_network(prepare, device)
    if prepare.graph is not None:
        return _graph_network(prepare, device, generator)
    return _primitive(prepare, device, generator)


def _refuse_early(prepare):
    name = prepare.workload["network"]
    if name in collectives.NETWORKS:
        collectives.refuse_early(prepare)
    elif name not in primitives.TABLE:
        known = ", ".join((*primitives.TABLE, *collectives.NETWORKS))
        raise assay_worker.Refused("network '%s' came without a graph. Without one there is %s." % (name, known))


def _primitive(prepare, device, generator):
    name = prepare.workload["network"]
    is_collective = name in collectives.NETWORKS
    made = collectives.build(prepare) if is_collective else primitives.build(prepare, device, generator)
    return Work(made, 0, refusals={"layers": "%s is a single operation." % name})


def _learning(prepare, device):
    """A network that is trained on digits to an accuracy."""
    lessons = assay_digits.Lessons(prepare)
    built = network.build(prepare.graph, prepare.seed, learning.FirstWeights(prepare))
    module, backend = device.move_module(built.module), prepare.settings.get("compile")
    run = module if backend is None else _compiled(module, backend, whole=True)
    reason = "a training that ends at an accuracy is taken as a whole."
    effective = {} if backend is None else {"compile": backend}
    effective["layout"] = prepare.settings.get("layout") or "nchw"
    made = learning.Learning(run, built, lessons, device)
    work = Work(made, network.count_parameters(module), effective, {"layers": reason, "phases": reason})
    work.evaluate = assay_digits.refuse_evaluation
    return work


def _graph_network(prepare, device, generator):
    if assay_digits.learns(prepare):
        return _learning(prepare, device)
    graph, batch = prepare.graph, prepare.workload["batch"]
    values = Values(prepare.values) if prepare.values else None
    built = network.build(graph, prepare.seed, values)
    data = assay_data.of(prepare)
    if data is not None:
        return _from_files(prepare, device, built, data)
    inputs = values.inputs(graph, batch) if values else network.make_inputs(graph, batch, generator)
    loss = None
    if prepare.trains:
        loss = network.make_loss(graph, _target(graph, batch, values, generator), device.kind)
    return _with_steps(prepare, device, built.module, inputs, loss, built)


def _from_files(prepare, device, built, data):
    """The first batch is taken while preparing."""
    loader = files.Loader(data, prepare.settings)
    inputs, target = loader.next()
    loss = network.make_loss(prepare.graph, target, device.kind) if prepare.trains else None
    ready = _with_steps(prepare, device, built.module, inputs, loss, built)
    ready.steps = files.loaded(ready.steps, loader, device, loss)
    ready.effective.update(loader.effective)
    ready.refusals["layers"] = "a step that loads its input is not split by nodes. Set data to memory."
    return ready


def _target(graph, batch, values, generator):
    if values is None or graph["loss"] == "mean_square":
        return network.make_target(graph, batch, generator)
    return values.target(graph, batch)


def _user_network(prepare, device):
    built = user_file.load(prepare, prepare.seed, assay_graph.data_seed(prepare))
    return _with_steps(prepare, device, built.module, built.inputs, built.loss or user_file.mean_square, None)


def _with_steps(prepare, device, module, inputs, loss, built):
    """`built` is the network whose nodes can be timed, or None."""
    module, inputs = device.move_module(module), device.move_inputs(inputs)
    layout = layout_of(inputs)
    if layout is None and prepare.settings.get("layout") is not None:
        raise assay_worker.Refused("layout '%s': no input is an image. Leave it unset." % prepare.settings["layout"])
    ready = _steps(prepare, device.wait, module.train(prepare.trains), inputs, loss, built)
    if layout is not None:
        ready.effective["layout"] = layout
    if prepare.values is not None:
        _say_what_is_computed(prepare, ready, inputs, loss, built)
    return ready


def _steps(prepare, wait, module, inputs, loss, built):
    run, backend, effective, refusals = module, prepare.settings.get("compile"), {}, {}
    if built is None:
        refusals["layers"] = "the nodes of a user's network are not known."
    if backend is not None:
        run, effective["compile"] = _compiled(module, backend, whole=built is not None), backend
        built, refusals["layers"] = None, "a compiled step runs nodes together. Leave compile unset."
    if prepare.trains and prepare.ranks > 1:
        made = exchange.DistributedTraining(run, inputs, loss, wait, prepare.settings.get("bucket_bytes"))
        effective["bucket_bytes"] = made.bucket_bytes
        refusals["layers"] = "DistributedDataParallel runs the nodes as a whole. Train on one rank."
    elif prepare.trains:
        made = steps.Training(run, inputs, loss, wait, built)
    else:
        made = steps.Inference(run, inputs, wait, built)
    if backend is not None:
        made.step()  # compiles: what stands ready is the compiled step
    return Work(made, network.count_parameters(module), effective, refusals)


def _say_what_is_computed(prepare, ready, inputs, loss, built):
    if prepare.trains:
        ready.evaluate = functools.partial(evaluate.train, ready.steps.module, inputs, loss, built)
        return
    shape = (prepare.workload["batch"], *assay_graph.output_shape(prepare.graph))
    ready.evaluate = functools.partial(evaluate.infer, ready.steps, shape)
    ready.write_output = functools.partial(evaluate.write_output, ready.steps, shape)


def _compiled(module, backend, whole):
    """`whole`: as one graph, or not at all."""
    known = torch._dynamo.list_backends()
    if backend not in known:
        raise assay_worker.Refused("compile '%s' is unknown here. There is %s." % (backend, ", ".join(known)))
    return torch.compile(module, backend=backend, fullgraph=whole)
