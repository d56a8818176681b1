"""Checks beside torch: what each operator of a graph computes. See pytorch_checks.py."""

import math
import tempfile

import assay_graph
import graphs
import numpy_oracle
import operator_cases_more
import torch
from assay_pytorch import network, values
from pytorch_oracle import BATCH, assert_same, draw, run_infer, transformer, weights_of
from torch.nn import functional as F


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


def check_operators_of_a_few_networks():
    """By numpy, on the same values."""
    for graph in operator_cases_more.CASES.values():
        drawn = numpy_oracle.draw(graph, BATCH)
        with tempfile.NamedTemporaryFile() as file:
            assay_graph.write_values(file.name, drawn)
            given = values.Values(file.name)
            built, inputs = network.build(graph, 1, given), given.inputs(graph, BATCH)
        with torch.inference_mode():
            output = built.module.eval()(*inputs)
        assert_same(output, torch.from_numpy(numpy_oracle.infer(graph, drawn)))


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
