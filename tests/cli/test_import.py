"""`assay import` on what PyTorch's profiler writes, and on what is no such thing."""

import gzip
import json
import os
import pathlib
import subprocess

import pytest

PYTHON = pathlib.Path(os.environ.get("ASSAY_ENVIRONMENTS", "none")) / "pytorch-2.13.0" / "bin" / "python"

# Five steps; the first two are for warming up.
PROFILE = """
import sys, torch
torch.manual_seed(1)
net = torch.nn.Sequential(
    torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Conv2d(8, 16, 3),
    torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(16 * 28 * 28, 10))
best = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
schedule = torch.profiler.schedule(wait=1, warmup=1, active=3)
keep = lambda profile: profile.export_chrome_trace(sys.argv[1])
with torch.profiler.profile(schedule=schedule, on_trace_ready=keep, record_shapes=True) as profile:
    for _ in range(5):
        best.zero_grad()
        out = net(torch.randn(4, 3, 32, 32))
        torch.nn.functional.cross_entropy(out, torch.randint(10, (4,))).backward()
        best.step()
        profile.step()
print(sum(p.numel() for p in net.parameters()))
"""


@pytest.mark.skipif(not PYTHON.exists(), reason="the worker pytorch is not installed")
def test_a_profile_becomes_layers_that_predict_takes(assay, validate, tmp_path):
    argv = [PYTHON, "-c", PROFILE, tmp_path / "trace.json"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=300, check=True)
    asked = ["import", "trace.json", "--batch", "4", "-o", "layers.json", "--json"]
    table = validate(json.loads(assay(*asked).stdout), "layers")
    layers = table["layers"]
    assert sum(sum(layer["gradient_bytes"]) for layer in layers) == 4 * int(done.stdout.split()[-1])
    # Two convolutions, a norm and a linear layer have two tensors each.
    with_gradients = [layer for layer in layers if layer["gradient_bytes"]]
    assert [len(layer["gradient_bytes"]) for layer in with_gradients] == [2, 2, 2, 2]
    kinds = [layer["name"].split("::")[-1] for layer in with_gradients]
    assert kinds == ["conv2d", "batch_norm", "conv2d", "linear"]
    assert all(layer["forward_seconds"] > 0 and layer["backward_seconds"] > 0 for layer in with_gradients)
    assert table["update_seconds"] > 0
    # The parts take no longer than the longest step that was profiled.
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    steps = [event["dur"] for event in events if str(event.get("name")).startswith("ProfilerStep#")]
    parts = sum(layer["forward_seconds"] + layer["backward_seconds"] for layer in layers) + table["update_seconds"]
    assert 0.2 * min(steps) < 1e6 * parts < max(steps)
    (tmp_path / "c.yaml").write_text("nodes: 2\nacross: {latency: 1 us, bandwidth: 1 GB/s}\nslow_down: 1\n")
    asked = ["predict", "mine", "--cluster", "c.yaml", "--layers", "layers.json", "--devices", "1", "--json"]
    said = json.loads(assay(*asked).stdout)["points"][0]["step"]["seconds"]
    assert said == pytest.approx(parts, rel=1e-6)


def profile_of(rank, slower=1.0, operator="aten::linear", ranks=4):
    """A step of a rank: a layer of 10 us forward and 20 us backward, times `slower`, with 40 values of gradients."""
    events = []

    def add(category, name, begin, us, **args):
        thread = 2 if "autograd" in name else 1
        written = {"ph": "X", "cat": category, "name": name, "pid": rank, "tid": thread}
        events.append(written | {"ts": begin, "dur": us, "args": args})

    add("user_annotation", "ProfilerStep#7", 0, 1000)
    add("cpu_op", operator, 10, 10 * slower, **{"Sequence number": 1})
    add("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 200, 20 * slower, **{"Sequence number": 1})
    sizes = {"Input Dims": [[10, 4]], "Input type": ["float"]}
    add("cpu_op", "torch::autograd::AccumulateGrad", 500, 1, **sizes)
    return json.dumps({"distributedInfo": {"rank": rank, "world_size": ranks}, "traceEvents": events})


def test_ranks_of_a_job_become_one_table(assay, validate, tmp_path):
    folder = tmp_path / "traces"
    folder.mkdir()
    (folder / "a.json.gz").write_bytes(gzip.compress(profile_of(1, 3.0).encode()))
    (folder / "b.json").write_text(profile_of(0, 1.0))
    (folder / "c.json.gz").write_bytes(gzip.compress(profile_of(2, 1.5).encode()))
    asked = ["import", "traces", "--batch", "4", "-o", "layers.json", "--json"]
    table = validate(json.loads(assay(*asked).stdout), "layers")
    # The median of 1, 1.5 and 3 times as long.
    assert [layer["forward_seconds"] for layer in table["layers"]] == [pytest.approx(15e-6)]
    assert [layer["backward_seconds"] for layer in table["layers"]] == [pytest.approx(30e-6)]
    assert [layer["gradient_bytes"] for layer in table["layers"]] == [[160]]
    assert [(one["rank"], one["file"]) for one in table["ranks"]] == [
        (0, "traces/b.json"),
        (1, "traces/a.json.gz"),
        (2, "traces/c.json.gz"),
    ]
    assert [one["forward_seconds"] for one in table["ranks"]] == pytest.approx([10e-6, 30e-6, 15e-6])
    text = assay("import", "traces", "--batch", "4").stdout
    assert "Every time above is the median over 3 ranks." in text
    (tmp_path / "c.yaml").write_text("nodes: 4\nacross: {latency: 1 us, bandwidth: 1 GB/s}\nslow_down: 1\n")
    asked = ["predict", "mine", "--cluster", "c.yaml", "--layers", "layers.json", "--devices", "1", "--json"]
    assert json.loads(assay(*asked).stdout)["points"][0]["step"]["seconds"] == pytest.approx(45e-6)


def test_ranks_that_are_not_alike_are_named(assay, tmp_path):
    for rank in range(2):
        (tmp_path / f"r{rank}.json").write_text(profile_of(rank, 1.0 + rank))
    (tmp_path / "same.json").write_text(profile_of(0))
    (tmp_path / "other.json").write_text(profile_of(1, ranks=8))
    (tmp_path / "stage.json").write_text(profile_of(1, 2.0, "aten::embedding"))
    (tmp_path / "nodes.json").write_text('{"nodes": []}')
    asked = ["import", "--batch", "4", "r0.json"]
    assert "both of rank 0" in assay(*asked, "same.json", code=2).stderr
    assert "'r0.json' is of a job of 4 ranks and 'other.json' of one of 8" in assay(*asked, "other.json", code=2).stderr
    assert "'nodes.json' is not what PyTorch's profiler wrote" in assay(*asked, "nodes.json", code=2).stderr
    said = assay(*asked, "stage.json").stdout
    assert "layer 1 is 'aten::linear' on rank 0 and 'aten::embedding' on rank 1" in said
    assert "The table is 'stage.json', the rank that computes longest." in " ".join(said.split())


@pytest.mark.parametrize(
    "text, words",
    [
        ("{}", "export_chrome_trace"),
        ('{"traceEvents": []}', "no backward pass"),
        ("x", "trace.json"),
        ('{"traceEvents": [{"ph": "X", "name": 3}]}', "trace.json"),
    ],
)
def test_what_is_no_trace_is_refused(assay, tmp_path, text, words):
    (tmp_path / "trace.json").write_text(text)
    assert words in assay("import", "trace.json", "--batch", "1", code=1).stderr
