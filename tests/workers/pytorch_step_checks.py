"""Checks beside torch: weights, steps, layers, precision, layout and collectives. See pytorch_checks.py."""

import math

import assay_graph
import assay_worker
import graphs
import torch
from assay_pytorch import collectives, evaluate, network, work
from pytorch_oracle import BATCH, assert_same, prepare, relative_l2, run_infer, transformer


def check_another_number_of_parameters_fails():
    graph = {**graphs.small_network(), "parameters": 12345}
    try:
        network.build(graph, 1)
    except RuntimeError as error:
        assert "12345" in str(error) and "906" in str(error)
    else:
        raise AssertionError("built all the same")


def check_weights_follow_from_the_seed_and_data_from_the_process():
    graph = graphs.small_network()
    a, b, other = (network.build(graph, seed).module.state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(a[name], b[name]) for name in a)
    assert not torch.equal(a["n0_conv1.weight"], other["n0_conv1.weight"])
    seeds = {assay_graph.data_seed(prepare(graph, rank=r, instance=i)) for r in (0, 1) for i in (0, 1)}
    assert len(seeds) == 4


def loss_and_gradients(graph, seed=7):
    """An independent training step on the same network and data: loss, and gradients by name."""
    asked = prepare(graph, "train", seed=seed)
    generator = torch.Generator().manual_seed(assay_graph.data_seed(asked))
    inputs = network.make_inputs(graph, BATCH, generator)
    loss = network.make_loss(graph, network.make_target(graph, BATCH, generator), "cpu")
    module = network.build(graph, asked.seed).module.train()
    value = loss(module(*inputs))
    value.backward()
    return float(value), {name: p.grad for name, p in module.named_parameters()}


def caught_gradients(made, step):
    """Gradients as the optimizer meets them in one call of `step`."""
    found, optimizer = {}, made._optimizer
    handle = optimizer.register_step_pre_hook(
        lambda *_: found.update({n: p.grad.clone() for n, p in made.module.named_parameters()})
    )
    step()
    handle.remove()
    return found


def check_a_step_by_layers_is_the_same_step():
    """Gradients and weights after it equal those of plain autograd. No dropout: it would draw other numbers."""
    for graph in (graphs.small_network(), transformer()):
        truth = loss_and_gradients(graph)[1]
        for way in ("step", "step_with_phases", "step_with_layers"):
            made = work.build(prepare(graph, "train")).steps
            found = caught_gradients(made, getattr(made, way))
            assert found.keys() == truth.keys()
            for name, gradient in truth.items():
                assert_same(found[name], gradient)
            before = network.build(graph, 7).module
            for (name, now), old in zip(made.module.named_parameters(), before.parameters()):
                assert_same(now.detach(), (old - 1e-5 * truth[name]).detach())


def check_gradients_are_named_as_in_the_graph():
    """A shared weight stands once, under its owner, with the gradient of both uses."""
    graph = transformer()
    first, truth = loss_and_gradients(graph)
    made, built = work.build(prepare(graph, "train")).steps, network.build(graph, 7)
    asked = assay_worker.Evaluate({"output": None, "updates": 0, "learning_rate": 0.1, "momentum": 0.9})
    losses, norms = evaluate.train(built.module.train(), made._inputs, made._loss, built, asked)
    assert losses == [first]
    assert list(norms) == ["words/weight", "places/weight", "qkv/weight", "qkv/bias"]
    for norm, gradient in zip(norms.values(), truth.values()):
        assert math.isclose(norm, float(gradient.double().norm()), rel_tol=1e-5)


def check_layers_are_timed_where_the_work_is():
    """225 times the arithmetic in one convolution: most of the time must be found there, forward and backward."""
    graph = graphs.graph(
        [graphs.image([16, 32, 32])],
        [
            graphs.convolution("light1", "image", [16, 32, 32], 16, kernel=1, padding=0),
            graphs.convolution("heavy", "light1", [16, 32, 32], 16, kernel=15, padding=7),
            graphs.node("relu", "relu", "heavy", [16, 32, 32]),
            graphs.convolution("light2", "relu", [16, 32, 32], 16, kernel=1, padding=0),
        ],
    )
    made = work.build(prepare(graph, "train", batch=16)).steps
    runs = [made.step_with_layers() for _ in range(30)]
    for direction in (0, 1):
        times = [min(run[direction][i] for run in runs) for i in range(4)]  # neighbours on the host only add time
        assert times[1] > 2 * max(times[0], times[3]), times
    assert made.nodes == ("light1", "heavy", "relu", "light2", "loss", "update")
    assert all(run[1][5] == 0 and run[0][5] > 0 and run[0][4] > 0 for run in runs)


def check_nodes_without_gradients_take_no_time_backward():
    """Pools in front of the first weight need no gradient; dropout that drops nothing has no function of its own."""
    graph = graphs.graph(
        [graphs.image([3, 8, 8])],
        [
            graphs.pool("front", "max_pool", "image", [3, 4, 4], kernel=2),
            graphs.convolution("conv", "front", [4, 4, 4], 3),
            graphs.node("drop", "dropout", "conv", [4, 4, 4], probability=0.0),
            graphs.node("flat", "flatten", "drop", [64]),
            graphs.linear("fc", "flat", [5], 64),
        ],
        loss="cross_entropy",
    )
    made = work.build(prepare(graph, "train")).steps
    _, backward = made.step_with_layers()
    times = dict(zip(made.nodes, backward))
    assert times["front"] == 0 and times["conv"] > 0 and times["fc"] > 0 and times["loss"] > 0


def check_training_reduces_the_loss_as_its_gradient_says():
    """While the gradient g hardly changes, n steps with momentum m move the weights by g * rate * s, where s is the sum
    of (1 - m^k) / (1 - m) for k = 1 to n, and the loss falls by |g|^2 * rate * s. For n = 300 and m = .9, s is 2910."""
    for graph in (graphs.small_network(), transformer()):
        first, gradients = loss_and_gradients(graph)
        made = work.build(prepare(graph, "train")).steps
        for _ in range(300):
            made.step()
        last = float(made._loss(made.module(*made._inputs)))
        expected = 2910 * 1e-5 * sum(float(g.double().square().sum()) for g in gradients.values())
        assert 0.8 * expected < first - last < 1.2 * expected, (first, last, expected)


def check_bf16_is_bf16_throughout():
    graph = graphs.small_network()
    made = work.build(prepare(graph, "train", workload={"precision": "bf16"})).steps
    made.step()
    assert {p.dtype for p in made.module.parameters()} == {torch.bfloat16}
    assert {x.dtype for x in made._inputs} == {torch.bfloat16}
    assert {s["momentum_buffer"].dtype for s in made._optimizer.state.values()} == {torch.bfloat16}
    built, inputs, truth = run_infer(graph)
    output = built.module.to(torch.bfloat16)(*[x.to(torch.bfloat16) for x in inputs])
    # bf16 keeps 8 bits: 2^-8 = 0.4 % for each rounding, some of them in a row.
    assert output.dtype == torch.bfloat16 and 1e-5 < relative_l2(output, truth) < 0.03
    words = work.build(prepare(transformer(), "train", workload={"precision": "bf16"})).steps
    words.step()
    assert words._inputs[0].dtype == torch.int64


def check_layout_is_in_the_tensors():
    graph = graphs.small_network()
    for layout in ("nchw", "nhwc"):
        built = work.build(prepare(graph, settings={"layout": layout}))
        assert built.effective["layout"] == layout
        seen = {}
        layer = dict(built.steps.module.named_modules())["n2_branch_conv"]
        layer.register_forward_hook(lambda _, given, out, seen=seen: seen.update(given=given[0], out=out))
        built.steps.step()
        for tensor in seen.values():
            assert (tensor.stride(1) == 1) == (layout == "nhwc")
    built, inputs, truth = run_infer(graph)
    last = [x.contiguous(memory_format=torch.channels_last) for x in inputs]
    assert_same(built.module.to(memory_format=torch.channels_last)(*last).detach(), truth)


def check_what_a_collective_cannot_do_is_refused_by_name():
    right = {"network": "all_reduce", "mode": "infer", "batch": 1, "precision": "fp32", "options": {"bytes": 24}}
    cases = [
        ({"options": {"bytes": 12}}, {}, "bytes=12"),
        ({"options": {"bytes": "8"}}, {}, "bytes='8'"),
        ({"options": {"size": 8}}, {}, "size"),
        ({}, {"ranks": 1}, "1 rank"),
        ({"network": "ping_pong"}, {"ranks": 3}, "3 ranks"),
        ({"mode": "train"}, {}, "train"),
        ({"batch": 2}, {}, "batch 2"),
        ({"precision": "bf16"}, {}, "bf16"),
        ({}, {"settings": {"intra_op": 1}}, "intra_op"),
    ]
    for workload, more, part in cases:
        try:
            collectives.refuse_early(assay_worker.Prepare({"ranks": 2, "workload": {**right, **workload}, **more}))
        except assay_worker.Refused as refusal:
            assert part in str(refusal), refusal
        else:
            raise AssertionError("%s was not refused" % part)
    collectives.refuse_early(assay_worker.Prepare({"ranks": 2, "workload": right, "settings": {"inter_op": 1}}))


def check_a_wrong_result_of_a_collective_fails():
    """An exchange that does nothing: the sum over ranks is not there."""
    workload = {"network": "all_reduce", "mode": "infer", "batch": 1, "precision": "fp32", "options": {"bytes": 24}}
    asked = assay_worker.Prepare({"workload": workload, "rank": 1, "ranks": 3})
    right = collectives.NETWORKS["all_reduce"]
    collectives.NETWORKS["all_reduce"] = lambda *given: (lambda: None, *right(*given)[1:])
    try:
        collectives.build(asked)
    except RuntimeError as error:
        # Rank r gives (r + 1) (i + 1) at i: rank 1 has 2 at 0, the sum is 1 + 2 + 3.
        assert "element 0 is 2.0, not 6.0" in str(error), error
    else:
        raise AssertionError("taken for right")
    finally:
        collectives.NETWORKS["all_reduce"] = right
