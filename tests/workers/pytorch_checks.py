"""Checks of workers/pytorch that need torch beside them. Run by the interpreter of that worker's environment:

    ENVIRONMENT/bin/python tests/workers/pytorch_checks.py

Prints a line of JSON for each check. test_pytorch_values.py shows each as a test. The oracle is plain torch.nn and
torch.nn.functional code, written here from the graph contract and fed with the worker's weights.
"""

import json
import math
import pathlib
import sys
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "workers" / "pytorch"), str(ROOT / "workers" / "common")]

import assay_graph  # noqa: E402
import assay_worker  # noqa: E402
import graphs  # noqa: E402
import torch  # noqa: E402
from assay_pytorch import collectives, evaluate, network, work  # noqa: E402
from torch.nn import functional as F  # noqa: E402

BATCH = 3


def relative_l2(value, truth):
    return float((value.double() - truth.double()).norm() / truth.double().norm())


def assert_same(value, truth):
    assert value.shape == truth.shape, f"{tuple(value.shape)} instead of {tuple(truth.shape)}"
    assert relative_l2(value, truth) <= 1e-5, relative_l2(value, truth)


def draw(graph):
    return network.make_inputs(graph, BATCH, torch.Generator().manual_seed(5))


def weights_of(built, name):
    """Weight, then bias, of the node called `name`."""
    layer = next(n.call for n in built.nodes if n.name == name)
    return layer.weight, getattr(layer, "bias", None)


def run_infer(graph, seed=1):
    built, inputs = network.build(graph, seed), draw(graph)
    with torch.inference_mode():
        return built, inputs, built.module.eval()(*inputs)


def prepare(graph, mode="infer", batch=BATCH, **more):
    workload = {"network": graph["name"], "mode": mode, "batch": batch, "precision": "fp32", **more.pop("workload", {})}
    return assay_worker.Prepare({"workload": workload, "graph": graph, "seed": 7, **more})


def check_one_input_operators():
    """Each elementwise operator and softmax, by its formula in double precision."""
    x64 = draw(graphs.graph([graphs.image([4, 5, 6])], [graphs.node("a", "relu", "image", [4, 5, 6])]))[0].double()
    inner = math.sqrt(2 / math.pi) * (x64 + 0.044715 * x64**3)
    clamped = ((x64 + 3) / 6).clamp(0, 1)
    exponentials = (x64 - x64.amax(-1, keepdim=True)).exp()
    formulas = {
        "relu": x64.clamp(min=0),
        "relu6": x64.clamp(0, 6),
        "gelu": x64 * (1 + torch.erf(x64 / math.sqrt(2))) / 2,
        "gelu_tanh": x64 * (1 + torch.tanh(inner)) / 2,
        "tanh": (x64.exp() - (-x64).exp()) / (x64.exp() + (-x64).exp()),
        "sigmoid": 1 / (1 + (-x64).exp()),
        "silu": x64 / (1 + (-x64).exp()),
        "hard_swish": x64 * clamped,
        "hard_sigmoid": clamped,
        "softmax": exponentials / exponentials.sum(-1, keepdim=True),
        "global_average_pool": None,
    }
    for op, truth in formulas.items():
        wanted = x64.sum((2, 3)) / 30 if truth is None else truth
        graph = graphs.graph([graphs.image([4, 5, 6])], [graphs.node("a", op, "image", list(wanted.shape[1:]))])
        assert_same(run_infer(graph)[2], wanted)


def check_convolution_with_groups_stride_and_padding():
    graph = graphs.graph(
        [graphs.image([4, 9, 9])],
        [
            graphs.convolution("plain", "image", [6, 5, 5], 4, kernel=3, stride=2, padding=1),
            graphs.convolution("grouped", "plain", [6, 5, 5], 6, kernel=5, padding=2, groups=3, bias=False),
            graphs.convolution("depthwise", "grouped", [6, 3, 3], 6, groups=6, padding=0),
        ],
    )
    built, (x,), output = run_infer(graph)
    x = F.conv2d(x, *weights_of(built, "plain"), stride=2, padding=1)
    x = F.conv2d(x, weights_of(built, "grouped")[0], None, padding=2, groups=3)
    assert_same(output, F.conv2d(x, *weights_of(built, "depthwise"), groups=6))


def check_a_window_need_not_be_square():
    shape = [2, 7, 5]
    tall = graphs.node(
        "tall", "convolution", "image", shape, [[2, 3, 1, 3]],
        channels=2, kernel=[1, 3], stride=[1, 1], padding=[0, 1], groups=1, bias=False,
    )  # fmt: skip
    built, (x,), output = run_infer(graphs.graph([graphs.image([3, 7, 5])], [tall]))
    assert_same(output, F.conv2d(x, weights_of(built, "tall")[0], None, padding=(0, 1)))


def check_norms():
    graph = graphs.graph(
        [graphs.image([6, 4, 4])],
        [
            graphs.norm("batch", "batch_norm", "image", [6, 4, 4], 6, epsilon=1e-3),
            graphs.node("local", "local_response_norm", "batch", [6, 4, 4], size=5, alpha=1e-2, beta=0.75, k=2.0),
            graphs.norm("layer", "layer_norm", "local", [6, 4, 4], 4, epsilon=1e-12),
        ],
    )
    built, (x,), output = run_infer(graph)
    layer = next(n.call for n in built.nodes if n.name == "batch")
    mean, var = (b.view(1, 6, 1, 1) for b in (layer.running_mean, layer.running_var))
    weight, bias = (p.view(1, 6, 1, 1) for p in weights_of(built, "batch"))
    x = (x - mean) / (var + 1e-3).sqrt() * weight + bias
    # Krizhevsky's formula: the sum of squares over five channels around each.
    squares = F.pad(x.square(), (0, 0, 0, 0, 2, 2))
    total = sum(squares[:, i : i + 6] for i in range(5))
    x = x / (2 + 1e-2 / 5 * total) ** 0.75
    weight, bias = weights_of(built, "layer")
    centred = x - x.mean(-1, keepdim=True)
    assert_same(output, centred / (centred.square().mean(-1, keepdim=True) + 1e-12).sqrt() * weight + bias)


def check_pools_that_count_a_window_that_is_not_full():
    """8 wide, windows of 3 every 2: three fit, a fourth begins at 6 and has two columns."""
    for ceil, size in ((False, 3), (True, 4)):
        graph = graphs.graph(
            [graphs.image([2, 8, 8])], [graphs.pool("pool", "max_pool", "image", [2, size, size], ceil=ceil)]
        )
        _, (x,), output = run_infer(graph)
        rows = [x[:, :, 2 * i : 2 * i + 3] for i in range(size)]
        truth = torch.stack(
            [torch.stack([r[..., 2 * j : 2 * j + 3].amax((2, 3)) for j in range(size)], -1) for r in rows], -2
        )
        assert_same(output, truth)


def check_average_pools_count_padding_only_when_told():
    for counted in (False, True):
        pool = graphs.pool(
            "pool", "average_pool", "image", [2, 4, 4], stride=1, padding=1, ceil=False, count_padding=counted
        )
        _, (x,), output = run_infer(graphs.graph([graphs.image([2, 4, 4])], [pool]))
        padded = F.pad(x, (1, 1, 1, 1))
        total = sum(padded[:, :, i : i + 4, j : j + 4] for i in range(3) for j in range(3))
        ones = F.pad(torch.ones(1, 1, 4, 4), (1, 1, 1, 1))
        inside = sum(ones[:, :, i : i + 4, j : j + 4] for i in range(3) for j in range(3))
        assert_same(output, total / (9 if counted else inside))


def check_joins_and_shapes():
    """concat, add, multiply with fewer dimensions and with ones, flatten, select and slice."""
    graph = graphs.graph(
        [graphs.image([4, 6, 6])],
        [
            graphs.pool("pooled", "average_pool", "image", [4, 1, 1], kernel=6, stride=6, count_padding=True),
            graphs.node("gated", "multiply", ["image", "pooled"], [4, 6, 6]),
            graphs.node("both", "concat", ["gated", "image"], [8, 6, 6]),
            graphs.node("twice", "add", ["both", "both"], [8, 6, 6]),
            graphs.node("means", "global_average_pool", "twice", [8]),
            graphs.node("flat", "flatten", "twice", [288]),
            graphs.node("part", "slice", "flat", [8], begin=16, length=8),
            graphs.node("sum", "add", ["part", "means"], [8]),
        ],
    )
    _, (x,), output = run_infer(graph)
    twice = 2 * torch.cat([x * x.mean((2, 3), keepdim=True), x], 1)
    assert_same(output, twice.reshape(BATCH, -1)[:, 16:24] + twice.mean((2, 3)))


def check_a_second_input_may_lack_leading_dimensions():
    """[5, 8] plus [8]: one row for each sample, not one for each position."""
    graph = graphs.graph(
        [{"name": "rows", "shape": [5, 8], "type": "real"}],
        [
            graphs.node("third", "select", "rows", [8], index=2),
            graphs.node("sum", "add", ["rows", "third"], [5, 8]),
        ],
    )
    _, (x,), output = run_infer(graph)
    assert_same(output, torch.stack([sample + sample[2] for sample in x]))


def transformer(causal=True, dropout=0.0):
    """Embeddings, one attention, and a head that shares the token embedding's weight."""
    return graphs.graph(
        [graphs.tokens(6, 11)],
        [
            graphs.node("words", "embedding", "tokens", [6, 8], [[11, 8]], rows=11, features=8),
            graphs.node("places", "position_embedding", "tokens", [6, 8], [[9, 8]], rows=9, features=8),
            graphs.node("sum", "add", ["words", "places"], [6, 8]),
            graphs.linear("qkv", "sum", [6, 24], 8),
            graphs.node("q", "slice", "qkv", [6, 8], begin=0, length=8),
            graphs.node("k", "slice", "qkv", [6, 8], begin=8, length=8),
            graphs.node("v", "slice", "qkv", [6, 8], begin=16, length=8),
            graphs.node("mix", "attention", ["q", "k", "v"], [6, 8], heads=2, causal=causal, dropout=dropout),
            graphs.linear("head", "mix", [6, 11], 8, bias=False, shared="words"),
        ],
        loss="cross_entropy",
    )


def check_embeddings_attention_and_a_shared_weight():
    for causal in (False, True):
        graph = transformer(causal)
        built, (ids,), output = run_infer(graph)
        table = weights_of(built, "words")[0]
        x = table[ids] + weights_of(built, "places")[0][:6]
        weight, bias = weights_of(built, "qkv")
        q, k, v = (x @ weight.T + bias).split(8, -1)
        heads = []
        for part in (slice(0, 4), slice(4, 8)):
            scores = q[..., part] @ k[..., part].transpose(1, 2) / 2  # the square root of 4 features a head
            if causal:
                scores = scores.masked_fill(torch.ones(6, 6).triu(1).bool(), -math.inf)
            heads.append(scores.softmax(-1) @ v[..., part])
        assert_same(output, torch.cat(heads, -1) @ table.T)
        assert network.count_parameters(built.module) == 11 * 8 + 9 * 8 + 24 * 8 + 24
        assert weights_of(built, "head")[0] is table


def check_dropout_acts_only_when_training():
    drop = graphs.node("drop", "dropout", "image", [3, 8, 8], probability=0.5)
    graph = graphs.graph([graphs.image([3, 8, 8])], [drop])
    built, (x,), output = run_infer(graph)
    assert torch.equal(output, x)
    trained = built.module.train()(x)
    kept = trained != 0
    assert torch.allclose(trained[kept], 2 * x[kept]) and 0.3 < kept.float().mean() < 0.7


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


def check_an_activation_overwrites_only_what_nobody_else_needs():
    """`conv` goes to relu and to the sum, so relu must leave it alone; `sum` goes to relu6 alone."""
    graph = graphs.graph(
        [graphs.image([3, 8, 8])],
        [
            graphs.convolution("conv", "image", [4, 8, 8], 3),
            graphs.node("relu", "relu", "conv", [4, 8, 8]),
            graphs.node("sum", "add", ["relu", "conv"], [4, 8, 8]),
            graphs.node("capped", "relu6", "sum", [4, 8, 8]),
            graphs.node("again", "relu", "capped", [4, 8, 8]),
        ],
    )
    built, (x,), output = run_infer(graph)
    conv = F.conv2d(x, *weights_of(built, "conv"), padding=1)
    assert_same(output, (conv.clamp(min=0) + conv).clamp(0, 6))
    code = built.module.code
    assert code.count("inplace = True") == 1 and code.count("relu6") >= 1


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
    """Twenty times the arithmetic in one convolution: most of the time must be found there, forward and backward."""
    graph = graphs.graph(
        [graphs.image([16, 32, 32])],
        [
            graphs.convolution("light1", "image", [16, 32, 32], 16, kernel=1, padding=0),
            graphs.convolution("heavy", "light1", [16, 32, 32], 16, kernel=7, padding=3),
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


def check_primitives_compute_what_they_say():
    workload = {"network": "gemm", "mode": "infer", "batch": 1, "precision": "fp32"}
    workload["options"] = {"m": 5, "n": 7, "k": 3}
    made = work.build(assay_worker.Prepare({"workload": workload, "seed": 1})).steps
    made.step()
    cells = {c: v.cell_contents for c, v in zip(made._run.__code__.co_freevars, made._run.__closure__)}
    assert cells["c"].shape == (5, 7)
    assert_same(cells["c"].double(), cells["a"].double() @ cells["b"].double())
    workload = {**workload, "network": "triad", "options": {"elements": 1000}}
    made = work.build(assay_worker.Prepare({"workload": workload, "seed": 1})).steps
    made.step()
    cells = {c: v.cell_contents for c, v in zip(made._run.__code__.co_freevars, made._run.__closure__)}
    assert_same(cells["a"], cells["b"] + 3 * cells["c"])


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


def main():
    torch.set_num_threads(1)  # small tensors: more threads would mostly wait for each other on a busy host
    for name, check in list(globals().items()):
        if not name.startswith("check_"):
            continue
        try:
            check()
            text = None
        except Exception:
            text = traceback.format_exc()
        print(json.dumps({"check": name, "failure": text}), flush=True)


if __name__ == "__main__":
    main()
