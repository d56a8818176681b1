"""`assay predict` on clusters whose answer can be derived, on every example, and on files that are wrong."""

import json
import os
import pathlib
import sqlite3
import time

import jsonschema
import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTORCH = pathlib.Path(os.environ.get("ASSAY_ENVIRONMENTS", "none")) / "pytorch-2.13.0"
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
SIMULATOR = BUILD / "libexec" / "assay-simulate"
EXAMPLES = sorted((ROOT / "examples" / "clusters").glob("*.yaml"))

# Two nodes, 10 B/us: a ring of n bytes takes 2 us and n / 10 us.
CLUSTER = "nodes: 2\nacross: {latency: 1 us, bandwidth: 10 MB/s}\nslow_down: 1\n"
LAYERS = "layer,forward_us,backward_us,gradient_bytes\na,10,20,100\nb,10,20,300\n"


@pytest.fixture
def predict(assay, validate, tmp_path):
    (tmp_path / "c.yaml").write_text(CLUSTER)
    (tmp_path / "layers.csv").write_text(LAYERS)

    def call(*argv):
        asked = ["predict", "mine", "--cluster", "c.yaml", "--layers", "layers.csv", "--all-reduce", "ring"]
        return validate(json.loads(assay(*asked, *argv, "--json").stdout), "prediction")

    return call


def test_a_step_is_what_the_formulas_say(predict):
    """Forward 20 us; b is ready at 40 and travels for 32 until 72, a is ready at 60 and travels for 12 until 84."""
    said = predict("--fusion", "per_tensor", "--devices", "1,2")
    one, two = said["points"]
    assert one["step"]["seconds"] == pytest.approx(60e-6)
    assert two["step"]["seconds"] == pytest.approx(84e-6)
    assert two["step"]["exposed_seconds"] == pytest.approx(24e-6)
    assert two["efficiency"] == pytest.approx(60 / 84)
    assert said["origin"] == "imported" and said["range"] == "none"


def test_overlap_and_fusion_change_it_as_derived(predict):
    """Both at once, 42 us behind 60; without overlap two rings of 32 and 12 us behind it."""
    assert predict("--fusion", "one")["points"][0]["step"]["seconds"] == pytest.approx(102e-6)
    none = predict("--overlap", "none", "--fusion", "per_tensor")
    assert none["points"][0]["step"]["seconds"] == pytest.approx(104e-6)
    best = predict("--fusion", "optimal")["points"][0]["step"]["seconds"]
    assert best == pytest.approx(84e-6)


def test_a_replay_has_the_buckets_of_the_prediction(predict, validate, tmp_path):
    """Gradients of b are ready at 40 us, those of a at 60; a bucket of all of them when the last is."""
    predict("--fusion", "per_tensor", "--replay", "each.replay")
    each = validate(json.loads((tmp_path / "each.replay").read_text()), "replay")
    assert (each["network"], each["batch"], each["update_seconds"]) == ("mine", 32, 0)
    assert (each["forward_seconds"], each["backward_seconds"]) == (pytest.approx(20e-6), pytest.approx(40e-6))
    ready = [bucket["ready_seconds"] for bucket in each["buckets"]]
    assert ready == pytest.approx([40e-6, 60e-6]) and [bucket["bytes"] for bucket in each["buckets"]] == [300, 100]
    predict("--fusion", "one", "--replay", "one.replay")
    [one] = json.loads((tmp_path / "one.replay").read_text())["buckets"]
    assert one == {"ready_seconds": pytest.approx(60e-6), "bytes": 400}


def test_a_replay_that_cannot_be_is_refused(assay, predict):
    asked = ["predict", "mine", "--cluster", "c.yaml", "--layers", "layers.csv"]
    assert "--zero" in assay(*asked, "--zero", "1", "--replay", "x.replay", code=2).stderr
    assert ".replay" in assay(*asked, "--replay", "x.json", code=2).stderr


def test_a_slow_down_that_nobody_stated_is_a_range(predict, tmp_path):
    """b travels for 12 us beside the 20 us of a: 12 / s us of work are done by 52, the rest after; then a travels."""
    (tmp_path / "c.yaml").write_text(CLUSTER.replace("slow_down: 1\n", ""))
    (tmp_path / "layers.csv").write_text(LAYERS.replace("300", "100"))
    said = predict("--fusion", "per_tensor")
    [point] = said["points"]
    assert said["range"] == "what_if"
    said_seconds = (point["low_seconds"], point["step"]["seconds"], point["high_seconds"])
    for seconds, slow_down in zip(said_seconds, (1, 1.1, 1.2), strict=True):
        assert seconds == pytest.approx(1e-6 * (52 + 20 - 12 / slow_down + 12))
    assert any("--slow-down" in note for note in said["notes"])


def test_what_would_help_comes_first(predict):
    said = predict("--devices", "2", "--fusion", "one")
    gains = [one["gain"] for one in said["advice"]]
    assert gains == sorted(gains, reverse=True) and gains[0] > 1.01
    changes = {one["change"]: one["gain"] for one in said["advice"]}
    # Twice the bandwidth: 60 + 2 + 20 us; gradients joined as is best: 84 us.
    assert changes["twice the bandwidth between nodes"] == pytest.approx(102 / 82)
    assert changes["join gradients as dynamic programming says"] == pytest.approx(102 / 84)


def test_one_iteration_is_a_chrome_trace(predict, tmp_path):
    step = predict("--fusion", "per_tensor", "--trace", "step.json")["points"][0]["step"]["seconds"]
    events = json.loads((tmp_path / "step.json").read_text())["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    assert max(event["ts"] + event["dur"] for event in spans) == pytest.approx(1e6 * step)
    assert {event["tid"] for event in spans} == {2, 3}  # compute and communicate; nothing is loaded here


@pytest.mark.skipif(not SIMULATOR.exists(), reason="built without SimGrid")
def test_a_simulated_step_is_that_of_the_formulas_and_feels_others(predict):
    """A straggler of 1.5 makes 60 us of computing 90; one more flow on the ring's link doubles its bytes' time."""
    [plain] = predict("--fusion", "one", "--simulate")["points"]
    assert plain["simulated_seconds"] == pytest.approx(plain["step"]["seconds"], rel=1e-3)
    [slow] = predict("--fusion", "one", "--simulate", "--straggler", "1=1.5")["points"]
    assert slow["simulated_seconds"] == pytest.approx(132e-6, rel=1e-3)
    [busy] = predict("--fusion", "one", "--simulate", "--background", "0-1=1")["points"]
    assert busy["simulated_seconds"] == pytest.approx((60 + 2 + 80) * 1e-6, rel=1e-3)


def test_growth_to_131072_devices_takes_seconds(assay, validate):
    """By formula: fifteen sizes, and advice for the largest. It takes a fraction of a second; the bound is generous."""
    cluster = ROOT / "examples/clusters/a100_16384_nodes.yaml"
    began = time.monotonic()
    done = assay("predict", "resnet50", "--cluster", cluster, "--devices", "8-131072*2", "--batch", "64", "--json")
    took = time.monotonic() - began
    points = validate(json.loads(done.stdout), "prediction")["points"]
    assert [point["devices"] for point in points] == [2**n for n in range(3, 18)]
    assert points[-1]["efficiency"] < points[0]["efficiency"]
    assert took < 5


def test_nccl_has_no_halving_and_doubling(assay, tmp_path):
    (tmp_path / "c.yaml").write_text("nodes: 64\nacross: {latency: 10 us, bandwidth: 1 GB/s}\nslow_down: 1\n")
    (tmp_path / "layers.csv").write_text(LAYERS)
    asked = ["predict", "mine", "--cluster", "c.yaml", "--layers", "layers.csv", "--fusion", "one", "--json"]
    [free] = json.loads(assay(*asked).stdout)["points"]
    [nccl] = json.loads(assay(*asked, "--all-reduce", "nccl").stdout)["points"]
    assert free["step"]["algorithms"] == ["halving_doubling"] and nccl["step"]["algorithms"] == ["double_tree"]
    # 60 us, and behind them 12 latencies and twice 400 bytes at 1 GB/s.
    assert nccl["step"]["seconds"] == pytest.approx(60e-6 + 120e-6 + 0.8e-6)


@pytest.mark.parametrize("cluster", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_a_cluster(assay, validate, cluster):
    schema = json.loads((ROOT / "docs/formats/cluster.schema.json").read_text())
    described = yaml.safe_load(cluster.read_text())
    jsonschema.Draft202012Validator(schema).validate(described)
    if "peak" not in described.get("device", {}):
        return assert_refused(assay, cluster)
    devices = ",".join(str(n) for n in sorted({1, described["nodes"] * described.get("devices_per_node", 1)}))
    said = json.loads(assay("predict", "resnet50", "--cluster", cluster, "--devices", devices, "--json").stdout)
    assert validate(said, "prediction")["origin"] == "assumed" and said["range"] == "what_if"
    for point in said["points"]:
        assert point["low_seconds"] <= point["step"]["seconds"] <= point["high_seconds"]
        assert 0 < point["efficiency"] <= 1.0001
    return None


def assert_refused(assay, cluster):
    told = assay("predict", "resnet50", "--cluster", cluster, code=2).stderr
    assert "--campaign" in told


def test_it_is_written_for_people(assay):
    cluster = ROOT / "examples/clusters/k80_10gbe.yaml"
    asked = ["predict", "alexnet", "--cluster", cluster, "--devices", "1-16*2", "--batch", "128", "--samples", "1e8"]
    told = assay(*asked).stdout
    assert "what-if range" in told and "assumed: peak and efficiency" in told
    assert "communication limits it" in told  # 244 MB of gradients through one link of 1.25 GB/s
    assert "What would help on 16 devices:" in told
    assert " h" in told


@pytest.mark.skipif(not PYTORCH.exists(), reason="the worker pytorch is not installed")
def test_layers_of_a_measured_campaign(assay, validate, tmp_path):
    """On one device the prediction is the median step that was measured; on two the ring of its gradients is added."""
    run = ["run", "mobilenet_v2", "--worker", "pytorch", "--mode", "train", "--batch", "2", "--option", "image=32"]
    assay(*run, "--runs", "1", "--seconds", "0.1", "--retries", "0", "--layers", "--name", "here", "--no-peak",
          "--quiet")  # fmt: skip
    (tmp_path / "c.yaml").write_text(CLUSTER)
    asked = ["predict", "mobilenet_v2", "--cluster", "c.yaml", "--campaign", "here", "--fusion", "one", "--json"]
    said = validate(json.loads(assay(*asked, "--devices", "1,2").stdout), "prediction")
    assert said["origin"] == "measured"
    one, two = (point["step"] for point in said["points"])
    with sqlite3.connect(tmp_path / "assay.db") as store:
        medians = [row[0] for row in store.execute("select median_ns from record where counted")]
    assert any(one["seconds"] == pytest.approx(1e-9 * ns, rel=1e-6) for ns in medians)
    # 3,504,872 parameters of 4 bytes at 10 MB/s, behind everything.
    assert two["exposed_seconds"] == pytest.approx(2e-6 + 4 * 3_504_872 / 10e6)


@pytest.mark.parametrize(
    "text, words",
    [
        ("nodes: 2\n", "c.yaml:1:1: cluster needs across"),
        ("nodes: 2\nacros: {}\n", "Did you mean 'across'?"),
        (
            "nodes: 2\nacross: {latency: 5, bandwidth: 1 GB/s}\n",
            "c.yaml:2:19: across.latency: '5' is not a valid quantity.",
        ),
        ("nodes: 2\nacross: &a {latency: 5 us, bandwidth: 1 GB/s}\n", "c.yaml:2:"),
    ],
)
def test_a_bad_cluster_file_is_refused_with_line_and_fix(assay, tmp_path, text, words):
    (tmp_path / "c.yaml").write_text(text)
    assert words in assay("predict", "alexnet", "--cluster", "c.yaml", code=2).stderr


@pytest.mark.parametrize(
    "flags, words",
    [
        (["--devices", "3"], "the cluster has 2"),
        (["--fusion", "best"], "There are optimal, per_tensor"),
        (["--layers", "layers.csv", "--campaign", "x"], "Leave one out"),
        (["--scaling", "strong", "--batch", "3", "--devices", "2"], "cannot be divided"),
        (["--straggler", "1=1.5"], "Add --simulate"),
        (["--simulate", "--background", "1=2"], "names no two nodes"),
        (["--optimizer", "lamb"], "sgd (with momentum) or adam"),
    ],
)
def test_what_cannot_be_is_refused(assay, tmp_path, flags, words):
    (tmp_path / "c.yaml").write_text(CLUSTER + "device: {peak: 1 TFLOP/s}\n")
    (tmp_path / "layers.csv").write_text(LAYERS)
    assert words in assay("predict", "alexnet", "--cluster", "c.yaml", *flags, code=2).stderr


def test_parameter_servers_carry_what_they_receive(assay):
    """16 GPUs in 4 nodes: 4 servers of their own take n bytes each way, one takes 4 n, and one on each node 1.5 n."""
    cluster = ROOT / "examples/clusters/k80_10gbe.yaml"

    def communicated(*flags):
        argv = ("alexnet", "--batch", 128, "--cluster", cluster, "--devices", 16, "--overlap", "none")
        argv += ("--fusion", "one")
        said = json.loads(assay("predict", *argv, *flags, "--json").stdout)
        return said["points"][0]["step"]

    four = communicated("--servers", "own")
    assert four["algorithms"] == ["parameter_servers"]
    seconds = [
        communicated("--servers", *flags)["communicate_seconds"]
        for flags in (("own",), ("own", "--server-count", 2), ("own", "--server-count", 1), ("workers",))
    ]
    one_more = seconds[1] - seconds[0]  # once more the bytes through a link
    assert seconds[2] - seconds[1] == pytest.approx(2 * one_more, rel=1e-6)
    assert seconds[3] - seconds[0] == pytest.approx(0.5 * one_more, rel=1e-6)


def test_servers_refuse_what_does_not_go_with_them(assay):
    cluster = ROOT / "examples/clusters/k80_10gbe.yaml"
    base = ("predict", "alexnet", "--batch", 128, "--cluster", cluster, "--devices", 16)
    for flags, why in (
        (("--server-count", 2), "needs --servers"),
        (("--servers", "own", "--all-reduce", "ring"), "--all-reduce"),
        (("--servers", "own", "--zero", 1), "ZeRO"),
        (("--all-reduce", "parameter_servers"), "--servers own or workers"),
        (("--servers", "workers", "--server-count", 5), "do not fit on 4 nodes"),
    ):
        assert why in assay(*base, *flags, code=2).stderr
