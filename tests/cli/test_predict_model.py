"""`assay predict MODEL`: a model of the catalogue or a config.json on nodes as they are sold; and every flag of
`assay predict` changes the answer or is refused."""

import itertools
import json
import os
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIMULATOR = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build/dev")).resolve() / "libexec/assay-simulate"
CLUSTER = ROOT / "examples/clusters/v100_100gbe.yaml"
JOB = ["--sequence", "8192", "--global-batch", "512"]
LLAMA = ["predict", "llama3-70b", "--node", "h100", "--devices", "256", *JOB]
CONFIG = {
    "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256, "tie_word_embeddings": False,
}  # fmt: skip


def said_of(assay, *argv):
    return json.loads(assay(*argv, "--json").stdout)


def test_a_model_by_name_has_step_range_memory_and_limit(assay):
    [row] = said_of(assay, *LLAMA, "--shard", "all", "--recompute", "full")["rows"]
    # 512 x 8,192 tokens, 6 FLOPs for each of 70.55 - 1.05 billion parameters that a token meets, and 12 x 80 layers x
    # 64 heads x 128 values x 4,096 pairs of the scores, on 256 devices of 989.4 TFLOP/s.
    flops = 512 * 8192 * (6 * (70.553706496e9 - 128256 * 8192) + 12 * 80 * 64 * 128 * 4096)
    assert row["utilization"] == pytest.approx(flops / (row["seconds"] * 256 * 989.4e12), rel=1e-6)
    assert 0.2 < row["utilization"] < 0.6
    # Without measured jobs the range is a what-if: exp(.42) to either side.
    assert row["high_seconds"] / row["seconds"] == pytest.approx(1.522, rel=1e-3)
    assert row["range_rows"] == 0
    assert row["memory_bytes"] == pytest.approx(sum(row["memory"].values()))
    assert row["limit"] == "compute" and row["fits"]
    parts = sum(v for k, v in row["step"].items() if k.endswith("_seconds"))
    assert parts == pytest.approx(row["step"]["seconds"])
    told = assay(*LLAMA, "--shard", "all").stdout
    assert "On 256 devices" in told and "gathers and scatters of shards" in told
    assert "No measured job: constants are usual ones" in told


def test_a_config_file_is_the_model_of_that_shape(assay, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    asked = ["--node", "h100", "--devices", "8,16", "--shard", "all", *JOB]
    by_file = said_of(assay, "predict", tmp_path / "config.json", *asked)["rows"]
    by_name = said_of(assay, "predict", "llama3-8b", *asked)["rows"]
    assert [row["seconds"] for row in by_file] == [row["seconds"] for row in by_name]
    assert [row["devices"] for row in by_file] == [8, 16]


def test_measured_jobs_give_constants_and_an_interval(assay, tmp_path):
    rows = ["n,b,m,gpu,seconds"]
    sizes = {"llama3-8b": 8.03, "qwen3-8b": 8.19, "mistral-7b": 7.24}
    rows += [f"8,{b},{m},h100,{b * size / 5}" for m, size in sizes.items() for b in (1, 2, 3, 4, 6, 8)]
    (tmp_path / "rows.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "map.json").write_text(json.dumps({
        "stack": "made", "columns": {"devices": "n", "microbatch": "b", "model": "m", "device": "gpu"},
        "fixed": {"sequence": "4096", "microbatches": "4"}, "measured_column": "seconds", "group": ["m"],
        "constants": ["product"],
    }))  # fmt: skip
    asked = [*LLAMA, "--shard", "all", "--calibrate", tmp_path / "rows.csv"]
    said = said_of(assay, *asked, "--columns", tmp_path / "map.json")
    assert said["stack"] == "made" and said["calibrated_rows"] == 18
    assert said["rows"][0]["range_rows"] == 18
    assert "--columns is missing" in assay(*asked, code=2).stderr


def device_file(assay, path, **changes):
    """The file of H100 with another sheet: the laws of its kernels stay."""
    document = json.loads(assay("fit", "--device", "h100", "--json").stdout)
    document = document["devices"][0] if "devices" in document else document
    document["sheet"].update(changes)
    path.write_text(json.dumps(document))
    return path


def test_a_device_file_is_the_device_whatever_it_is_called(assay, tmp_path):
    asked = ["predict", "llama3-8b", "--devices", "8", "--shard", "all", *JOB, "--recompute", "full"]
    [known] = said_of(assay, *asked, "--node", "h100")["rows"]
    same = device_file(assay, tmp_path / "h100_copy.json")
    assert said_of(assay, *asked, "--node", same)["rows"][0]["seconds"] == pytest.approx(known["seconds"])
    # Half the peak, the memory's rate and the memory: a step that computing limits takes nearly twice as long.
    slow = device_file(assay, tmp_path / "my_h100.json", name="half", bf16_flops_per_second=989.4e12 / 2,
                       memory_bytes_per_second=3350e9 / 2, memory_bytes=1e9)  # fmt: skip
    [half] = said_of(assay, *asked, "--node", slow)["rows"]
    assert 1.6 < half["seconds"] / known["seconds"] < 2.1
    assert half["device"] == "half" and known["fits"] and not half["fits"]
    missing = assay(*asked, "--node", tmp_path / "no_h100.json", code=1).stderr
    assert "no_h100.json" in missing and "No such file" in missing
    (tmp_path / "h100.json").write_text("{}")
    assert "h100.json" in assay(*asked, "--node", tmp_path / "h100.json", code=1).stderr


def test_a_size_that_cannot_be_divided_is_a_row_with_its_reason(assay):
    asked = ["predict", "llama3-8b", "--node", "h100", "--shard", "all", *JOB]
    said = said_of(assay, *asked, "--devices", "8,12,16")
    assert [row["devices"] for row in said["rows"]] == [8, 16]
    [refused] = said["refused_devices"]
    assert (refused["devices"], refused["after_row"]) == (12, 1)
    assert "512 sequences of --global-batch cannot be divided by replicas x --microbatch = 12" in refused["why"]
    lines = assay(*asked, "--devices", "8,12,16").stdout.splitlines()
    assert " 8  " in lines[1] and " 12  cannot be divided" in lines[2] and " 16  " in lines[3]
    assert any(line.startswith("Not predicted on 12 devices: ") for line in lines)
    assert "cannot be divided" in assay(*asked, "--devices", "12,24", code=2).stderr


def flags_of(split):
    flags = ["--tensor", split["tensor"], "--pipeline", split["pipeline"], "--context", split["context"],
             "--microbatch", split["microbatch"], "--recompute", split["recompute"]]  # fmt: skip
    if split["pipeline"] > 1:
        flags += ["--interleave", split["interleaving"], "--schedule", split["schedule"]]
    if split["tensor"] > 1:
        flags.append("--sequence-parallel")
    return flags + (["--shard", split["shard"]] if split["shard"] > 1 else [])


@pytest.mark.parametrize(
    "model, devices, cluster", [("llama3-8b", 64, "h100"), ("llama3-405b", 1024, "h100"), ("mixtral-8x7b", 32, "h100")]
)
def test_a_split_takes_as_long_as_the_search_says(assay, model, devices, cluster):
    file = ROOT / f"examples/clusters/{cluster}_400gbit.yaml"
    asked = ["predict", model, "--cluster", file, "--devices", str(devices), *JOB]
    found = said_of(assay, *asked, "--search", "--top", "200", "--reserve", "1%")["search"]["ranked"]
    # Without --shard the optimizer is sharded; groups of experts are asked for by --experts.
    shown = [one for one in found if one["split"]["sharded_optimizer"] or one["split"]["shard"] > 1]
    assert shown
    pipelines = [one for one in shown if one["split"]["pipeline"] > 1]
    for one in [shown[0], *pipelines[:2]]:
        flags = flags_of(one["split"])
        if one["split"]["experts"] > 1:
            flags += ["--experts", one["split"]["experts"]]
        [row] = said_of(assay, *asked, *map(str, flags))["rows"]
        for field in ("seconds", "low_seconds", "high_seconds"):
            assert row[field] == pytest.approx(one[field], rel=1e-9), (one["split"], field)


@pytest.mark.parametrize(
    "flags, words",
    [
        (["--tensor", "6"], "64 heads cannot be divided by --tensor = 6. Take 60 or 66."),
        (["--pipeline", "3"], "devices cannot be divided by --tensor x --pipeline x --context = 3"),
        (["--microbatch", "3"], "sequences of --global-batch cannot be divided"),
        (["--interleave", "2"], "--interleave changes nothing here: there is one stage"),
        (["--schedule", "zero_bubble"], "--schedule changes nothing here"),
        (["--async-tensor"], "--async-tensor changes nothing here: no layer is shared"),
        (["--sequence-parallel"], "--sequence-parallel changes nothing here"),
        (["--experts", "8"], "--experts changes nothing here: llama3-70b has no experts"),
        (["--hidden", "64"], "--hidden changes nothing here: llama3-70b has a shape of its own"),
        (["--shard", "some"], "is not a number of devices from 2 on"),
        (["--precision", "fp32"], "There are bf16, fp8, fp4"),
        (["--cluster", "c.yaml"], "--node and --cluster are both given"),
        (["--zero", "1"], "--zero changes nothing here"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(assay, flags, words):
    assert words in assay(*LLAMA, *flags, code=2).stderr


def test_flags_of_models_are_refused_for_networks(assay):
    asked = ["predict", "resnet50", "--cluster", CLUSTER, "--devices", "8"]
    assert "--shard is for a model of the catalogue" in assay(*asked, "--shard", "8", code=2).stderr
    assert "--node is for a model" in assay(*asked, "--node", "h100", code=2).stderr


def spans_of(path):
    return [event for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"]


def test_a_trace_is_the_scheduled_step_with_a_process_for_each_stage(assay, tmp_path):
    split = ["--tensor", "4", "--pipeline", "4", "--interleave", "2", "--shard", "4"]
    [row] = said_of(assay, *LLAMA, *split, "--trace", "step.json")["rows"]
    events = json.loads((tmp_path / "step.json").read_text())["traceEvents"]
    names = {e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    assert names == {"compute", "sums", "shards", "copies"}  # FSDP over all replicas: no gradients of their own
    spans = spans_of(tmp_path / "step.json")
    assert {span["pid"] for span in spans} == {1, 2, 3, 4}
    # 512 sequences over 256 / 16 replicas are 32 microbatches; their passes end with the step that was predicted.
    assert {span["args"]["microbatch"] for span in spans if "microbatch" in span["args"]} == set(range(32))
    assert max(span["ts"] + span["dur"] for span in spans) * 1e-6 == pytest.approx(row["seconds"], rel=1e-9)
    for stream in {(span["pid"], span["tid"]) for span in spans}:  # a stream does one thing at a time
        own = sorted((s["ts"], s["dur"]) for s in spans if (s["pid"], s["tid"]) == stream)
        assert all(a[0] + a[1] <= b[0] + 1e-3 for a, b in itertools.pairwise(own))
    odd = assay(*LLAMA, "--pipeline", "4", "--interleave", "2", "--microbatch", "4", "--trace", "t.json",
                code=2)  # fmt: skip
    assert "2 microbatches cannot be interleaved over 4 stages" in odd.stderr


def test_what_would_help_is_predicted_by_the_same_model(assay):
    asked = [*LLAMA, "--shard", "all", "--recompute", "full", "--rail", "50 Gbit/s"]
    said = said_of(assay, *asked)
    gains = {one["change"]: one for one in said["advice"]}
    faster = said_of(assay, *[w if w != "50 Gbit/s" else "100 Gbit/s" for w in asked])["rows"][0]["seconds"]
    assert gains["twice the bandwidth between nodes"]["seconds"] == pytest.approx(faster)
    assert gains["twice the bandwidth between nodes"]["gain"] == pytest.approx(said["rows"][0]["seconds"] / faster)
    assert sorted((one["gain"] for one in said["advice"]), reverse=True) == [one["gain"] for one in said["advice"]]
    assert all(one["gain"] >= 1.01 for one in said["advice"])
    # 16 bytes for each of 70.6 billion parameters are more than one device has: what fits is what helps.
    lost = assay(*LLAMA, "--tensor", "1").stdout
    assert "does not fit" in lost and "What would fit on 256 devices:" in lost
    assert "--shard all --recompute full" in lost


def test_a_kept_prediction_is_scored_by_a_table(assay, tmp_path, validate):
    said = said_of(assay, *LLAMA, "--shard", "all", "--store", "s.db")
    [row] = said["rows"]
    assert any("Kept in s.db" in note for note in said["notes"])
    table = f"network,devices,batch,seconds\nllama3-70b,256,2,{row['seconds'] / 1.1}\nllama3-70b,256,4,1\n"
    (tmp_path / "t.csv").write_text(table)
    scored = json.loads(assay("predict", "--score", "--store", "s.db", "--published", "t.csv", "--json").stdout)
    [point] = validate(scored, "score")["points"]  # the other row has another batch
    assert point["error"] == pytest.approx(0.1) and point["inside"] and point["range"] == "what_if"
    uneven = assay(*with_flag(LLAMA, "--devices", "1024"), "--shard", "all", "--store", "s.db", code=2)
    assert "512 sequences" in uneven.stderr or "cannot be divided" in uneven.stderr


@pytest.mark.skipif(not SIMULATOR.exists(), reason="built without SimGrid")
def test_simgrid_plays_the_graph(assay):
    def simulated(*flags):
        [row] = said_of(assay, *LLAMA, *flags, "--simulate")["rows"]
        return row["simulated_seconds"], row["seconds"]

    split = ["--tensor", "4", "--pipeline", "4"]
    for flags in ([*split], [*split, "--interleave", "2"], [*split, "--schedule", "zero_bubble"], ["--shard", "all"]):
        played, said = simulated(*flags)
        assert played == pytest.approx(said, rel=0.01), flags  # nothing contends
    # Sums of a tensor group and gathers of shards inside of a node share its links, which the formula does not see.
    played, said = simulated("--tensor", "4", "--pipeline", "4", "--shard", "2")
    assert played > said
    slow, said = simulated(*split, "--straggler", "1=2")
    assert slow > 1.5 * said  # a stage that computes for twice as long holds all others up
    shared, said = simulated(*split, "--background", "0-1=3")
    assert shared > said
    none = assay(*LLAMA, "--straggler", "1=2", code=2)
    assert "Add --simulate" in none.stderr
    near = ["predict", "llama3-8b", "--node", "h100", "--devices", "8", "--pipeline", "2", *JOB]
    idle = assay(*near, "--simulate", "--background", "0-1=1", code=2)
    assert "--background changes nothing here: 8 devices send nothing to other nodes" in idle.stderr


MODEL = ["predict", "mixtral-8x7b", "--node", "h100", "--devices", "64", "--tensor", "2", "--pipeline", "2", *JOB]
SPLIT = ["predict", "bert_base", "--cluster", CLUSTER, "--devices", "16", "--tensor", "2", "--pipeline", "2",
         "--global-batch", "64"]  # fmt: skip
NETWORK = ["predict", "resnet50", "--cluster", CLUSTER, "--devices", "16", "--batch", "64"]
# A value for each flag. One that --help has and that is not here fails: say what it does.
VALUES = {
    "--option": "image=128", "--batch": "32", "--precision": "fp8", "--store": "none.db", "--campaign": "none",
    "--layers": "none.csv", "--cluster": str(CLUSTER.parent / "k80_ib56.yaml"), "--new-cluster": "new.yaml",
    "--devices": "32", "--samples": "1e6", "--scaling": "strong", "--overlap": "none", "--fusion": "one",
    "--bucket": "4 MiB",
    "--first-bucket": "4 MiB", "--all-reduce": "binary_tree", "--call": "1 ms", "--accumulate": "2", "--zero": "1",
    "--slow-down": "1.5", "--optimizer": "adam", "--trace": "trace.json", "--replay": "step.replay", "--simulate": None,
    "--straggler": "0=2", "--background": "0-1=2", "--hidden": "1024", "--blocks": "8", "--heads": "8",
    "--sequence": "4096", "--vocabulary": "1000", "--feedforward": "2048", "--tensor": "4", "--pipeline": "4",
    "--interleave": "2", "--microbatch": "2", "--global-batch": "1024", "--recompute": "full",
    "--sequence-parallel": None, "--node": "h200", "--rail": "100 Gbit/s", "--context": "2", "--experts": "8",
    "--shard": "all", "--schedule": "zero_bubble", "--async-tensor": None, "--explicit-scores": None,
    "--rows": "none.csv", "--columns": "none.json", "--score": None, "--published": "none.csv", "--where": "a=b",
    "--calibrate": "none.csv", "--servers": "own", "--server-count": "2",
    "--serve": "llama3-8b", "--server": "vllm", "--rate": "5", "--concurrency": "4", "--prompt-tokens": "128",
    "--output-tokens": "64", "--slo": "ttft p99<1s", "--on": "h100", "--splits": "1", "--weights": "fp8",
    "--sequences": "8", "--lengths": "lognormal:1", "--step-tokens": "256", "--routing": "round_robin",
    "--price-of": "h100=2", "--disaggregate": None, "--seed": "7", "--markdown": "out.md",
    "--search": None, "--training": "none.yaml", "--tokens": "1T", "--within": "30d", "--price": "2e6",
    "--until": "accuracy>=97%", "--learning-rate": "0.1",
    "--reserve": "5%", "--top": "3", "--pictures": "pictures", "--page": "page.html",
}  # fmt: skip
WRITES = {
    "--trace": "trace.json", "--replay": "step.replay", "--new-cluster": "new.yaml", "--store": "none.db",
    "--pictures": "pictures", "--page": "page.html", "--markdown": "out.md",
}  # fmt: skip


def flags_of_help(assay):
    return set(re.findall(r"^\s+(?:-\w,\s*)?(--[a-z][a-z-]+)", assay("predict", "--help").stdout, re.MULTILINE))


def with_flag(asked, flag, value):
    """The command with this flag in place of the one that it has."""
    asked = list(asked)
    if flag in asked:
        at = asked.index(flag)
        del asked[at : at + (1 if value is None else 2)]
    return [*asked, flag] if value is None else [*asked, flag, value]


@pytest.mark.parametrize("base", [MODEL, NETWORK, SPLIT], ids=["model", "network", "split"])
def test_every_flag_changes_the_answer_or_is_refused(assay, base, tmp_path):
    before = assay(*base, "--json").stdout
    idle = []
    for flag in sorted(flags_of_help(assay) - {"--help", "--json", "--verbose", "--quiet", "--version"}):
        assert flag in VALUES, f"{flag} is new: give it a value here"
        done = assay(*with_flag(base, flag, VALUES[flag]), "--json", code=None)
        written = flag in WRITES and (tmp_path / WRITES[flag]).exists()
        if done.returncode == 0 and done.stdout == before and not written:
            idle.append(flag)
        if done.returncode != 0:
            assert done.returncode in (1, 2) and "assay: " in done.stderr, (flag, done.stderr)
    assert not idle
