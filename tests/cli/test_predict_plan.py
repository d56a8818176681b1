"""assay predict --search and --training: splits, whole trainings, clusters beside each other, and their pictures."""

import itertools
import json
import pathlib
import xml.etree.ElementTree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "examples/clusters/h100_400gbit.yaml"
TRAINING = ROOT / "examples/trainings/llama3.1_405b.yaml"
SEARCH = ["predict", "llama3-8b", "--search", "--global-batch", "256", "--sequence", "8192"]
# Of Hugging Face: the shape of Llama 3 8B.
CONFIG = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}


@pytest.fixture
def slow_links(tmp_path):
    text = CLUSTER.read_text().replace("400 Gbit/s", "10 Gbit/s").replace("name: 2,048", "name: slow 2,048")
    path = tmp_path / "slow.yaml"
    path.write_text(text.replace("{device: 2, ", "{device: 1, "))
    return path


def test_the_best_split_of_each_number_and_one_to_take(assay):
    said = json.loads(assay(*SEARCH, "--cluster", CLUSTER, "--devices", "8,12,56,64", "--json").stdout)
    assert [(p.get("best") is not None, p.get("reason", "")[:2]) for p in said["points"]] == [
        (True, ""),
        (False, "12"),
        (False, "56"),
        (True, ""),
    ]
    assert said["points"][said["chosen"]]["devices"] == 64
    ranked = [one["seconds"] for one in said["search"]["ranked"]]
    assert ranked == sorted(ranked) and len(ranked) == 10
    for one in said["search"]["ranked"]:
        split = one["split"]
        assert split["tensor"] * split["pipeline"] * split["context"] * split["data"] == 64
        assert split["data"] * split["microbatch"] * split["microbatches"] == 256
        assert one["low_seconds"] < one["seconds"] < one["high_seconds"]
    text = assay(*SEARCH, "--cluster", CLUSTER, "--devices", "8,56").stdout
    assert "56 devices cannot be split" in text and "Its neighbourhood" in text


def test_a_config_json_is_the_model_it_describes(assay, tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))
    flags = [*SEARCH[2:], "--cluster", CLUSTER, "--devices", "64", "--json"]
    ours = json.loads(assay("predict", path, *flags).stdout)
    named = json.loads(assay("predict", "llama3-8b", *flags).stdout)
    assert ours["parameters"] == named["parameters"] == 8_030_261_248
    assert ours["search"]["ranked"] == named["search"]["ranked"]


def test_limits_of_time_and_price(assay):
    asked = [*SEARCH, "--cluster", CLUSTER, "--devices", "64-1024*2", "--tokens", "1T", "--json"]
    free = json.loads(assay(*asked).stdout)
    hours = {p["devices"]: p["bill"]["hours"] for p in free["points"]}
    limited = json.loads(assay(*asked, "--within", f"{1.01 * hours[256]}h").stdout)
    chosen = limited["points"][limited["chosen"]]
    within = [p for p in limited["points"] if p["within_limits"]]
    assert {p["devices"] for p in within} == {d for d, h in hours.items() if h <= 1.01 * hours[256]}
    assert chosen["bill"]["price"] == min(p["bill"]["price"] for p in within)
    assert "No number of devices is within the limits." in assay(*asked[:-1], "--price", "1").stdout
    assert "add --tokens" in assay(*SEARCH, "--cluster", CLUSTER, "--within", "3d", code=2).stderr


def test_two_clusters_stand_beside_each_other(assay, slow_links):
    asked = [*SEARCH, "--cluster", CLUSTER, "--cluster", slow_links, "--devices", "64", "--tokens", "1T"]
    said = json.loads(assay(*asked, "--json").stdout)
    (ratio,) = said["ratios"]
    fast, slow = (p["best"] for p in said["points"])
    assert ratio["step"]["ratio"] == pytest.approx(slow["seconds"] / fast["seconds"])
    # Errors that both share cancel: the ratio is known better than either step.
    assert ratio["step"]["high"] / ratio["step"]["ratio"] < fast["high_seconds"] / fast["seconds"]
    assert ratio["step"]["low"] <= ratio["step"]["ratio"] <= ratio["step"]["high"]
    twice = assay(*SEARCH, "--cluster", CLUSTER, "--cluster", CLUSTER, code=2).stderr
    assert "are both named '2,048 x 8 H100, 400 Gbit rails'. Give each its own name:" in twice
    text = assay(*asked).stdout
    assert "Beside 2,048 x 8 H100" in text and "what changes both alike cancels" in text


def test_other_devices_and_other_links_stand_beside_each_other(assay, tmp_path):
    """H100 with 400 Gbit beside B200 with 100 Gbit: one table, ratios, and a range wider than that of one device."""
    text = CLUSTER.read_text().replace("400 Gbit/s", "100 Gbit/s").replace("2,048 x 8 H100, 400", "2,048 x 8 B200, 100")
    text = text.replace("device: {name: h100, peak: 989 TFLOP/s, memory_bandwidth: 3350 GB/s, memory: 80 GB}", "")
    path = tmp_path / "b200.yaml"
    path.write_text(text + "device: {name: b200}\n")
    asked = [*SEARCH, "--devices", "64", "--tokens", "1T"]
    said = json.loads(assay(*asked, "--cluster", CLUSTER, "--cluster", path, "--json").stdout)
    (alone,) = json.loads(assay(*asked, "--cluster", path, "--json").stdout)["points"]
    first, other = said["points"]
    assert other["best"] == alone["best"] and other["bill"] == alone["bill"]
    (ratio,) = said["ratios"]
    step = ratio["step"]
    assert step["ratio"] == pytest.approx(other["best"]["seconds"] / first["best"]["seconds"])
    # B200 has 2.27 times the peak of H100: less than that is gained, and something is.
    assert 1 / 2.27 < step["ratio"] < 1
    # Laws of two devices, each off by 5 %, do not cancel: e^(1.645 sqrt(2) .05) = 1.123.
    assert step["high"] / step["ratio"] > 1.123
    assert step["low"] < step["ratio"] < step["high"]
    assert ratio["price_ratio"] == pytest.approx(other["bill"]["price"] / first["bill"]["price"])
    assert ratio["energy_ratio"] == pytest.approx(other["bill"]["energy_kwh"] / first["bill"]["energy_kwh"])
    text = " ".join(assay(*asked, "--cluster", CLUSTER, "--cluster", path).stdout.split())
    assert "The devices differ, so that errors of their laws are added." in text
    # The memory of the chosen cluster's device, not of the first one's: 180 GB and 80 GB.
    chosen = said["points"][said["chosen"]]["cluster"]
    assay(*asked, "--cluster", CLUSTER, "--cluster", path, "--pictures", "pictures")
    drawn = (tmp_path / "pictures" / "memory.svg").read_text()
    assert "B200" in chosen and "a device has 180 GiB" in drawn


def test_a_published_training_has_its_goodput_price_and_energy(assay):
    said = json.loads(assay("predict", "llama3-405b", "--training", TRAINING, "--cluster", CLUSTER, "--json").stdout)
    (plan,) = said["plans"]
    assert len(plan["stages"]) == 7
    # With a failure in 3.09 h on 16,384 devices, 30 s for a checkpoint every 798 s of work and restarts of 600 s,
    # a second of work takes e^(600 f) (e^(828 f) - 1) / (798 f) = 1.137 s: 88 % count. On 8,192 devices, with half
    # the failures, more do.
    assert 0.88 < plan["goodput"] < 0.95
    assert plan["low"]["price"] < plan["bill"]["price"] < plan["high"]["price"]
    # 16 dollars, 1.5 and 1 for a node of 8 an hour.
    assert plan["bill"]["price"] == pytest.approx(plan["bill"]["device_hours"] / 8 * 18.5)
    assert plan["bill"]["carbon_kg"] == pytest.approx(plan["bill"]["energy_kwh"] * 0.35)
    assert plan["simulated_seconds"] == pytest.approx(plan["time"]["seconds"], rel=0.01)
    text = assay("predict", "llama3-405b", "--training", TRAINING, "--cluster", CLUSTER).stdout
    assert "What it rests on" in text and "Goodput if checkpoints and restarts took other times" in text
    # It ran, so that it fits; 16 microbatches of 8,192 tokens leave less free than a search would.
    assert "of a device's 80 GiB, as stated: that leaves less free than the 10 % of --reserve." in text
    assert "would not fit" not in text and " 200B " in text


def test_pictures_are_svg_and_a_page(assay, tmp_path):
    folder = tmp_path / "pictures"
    page = tmp_path / "plan.html"
    assay(*SEARCH, "--cluster", CLUSTER, "--devices", "64,128", "--pictures", folder, "--page", page)
    assay("predict", "llama3-405b", "--training", TRAINING, "--cluster", CLUSTER, "--pictures", folder)
    names = {path.name for path in folder.iterdir()}
    assert names == {"front.svg", "step.svg", "memory.svg", "calendar.svg"}
    for path in folder.iterdir():
        root = xml.etree.ElementTree.parse(path).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(root.iter("{http://www.w3.org/2000/svg}rect"))) > 0 or path.name == "front.svg"
    html = page.read_text()
    assert "Which configuration?" in html and "Predicted, not measured" in html
    assert "medians over fresh processes" not in html


def bars_of(path):
    """Names of the rows of a drawn step, and its bars by row: (left, width)."""
    svg = "{http://www.w3.org/2000/svg}"
    root = xml.etree.ElementTree.parse(path).getroot()
    rows = {}
    texts = [one for one in root.iter(f"{svg}text") if one.get("text-anchor") == "end"]
    for text in texts:
        rows[float(text.get("y")) - 4] = text.text
    bars = {name: [] for name in rows.values()}
    for rect in root.iter(f"{svg}rect"):
        middle = float(rect.get("y")) + float(rect.get("height")) / 2
        if float(rect.get("height")) != 20:
            continue
        row = min(rows, key=lambda at: abs(at - middle))
        bars[rows[row]].append((float(rect.get("x")), float(rect.get("width"))))
    return bars


def test_a_step_is_drawn_as_streams_of_its_stages(assay, tmp_path):
    """Four stages, eight microbatches, 1F1B: each stage makes 8 forward and 8 backward passes, the next one later."""
    split = ["--tensor", "2", "--pipeline", "4", "--sequence-parallel", "--sequence", "4096", "--global-batch", "16"]
    asked = ["predict", "llama3-8b", "--node", "h100", "--devices", "16", *split]
    assay(*asked, "--pictures", "pictures", "--page", "step.html")
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == {"step.svg", "memory.svg"}
    bars = bars_of(tmp_path / "pictures" / "step.svg")
    stages = [bars[f"stage {number} compute"] for number in (1, 2, 3, 4)]
    # The last stage computes the output layer of each microbatch too; all of them the update.
    assert [len(one) for one in stages] == [17, 17, 17, 25]
    begins = [min(left for left, _ in one) for one in stages]
    assert begins == sorted(begins) and begins[0] < begins[1] < begins[2] < begins[3]
    for number in (1, 2, 3, 4):
        # Nothing overlaps on a stream; a tenth of a pixel is lost by rounding at each end.
        for stream in ("compute", "sums", "copies"):
            found = sorted(bars[f"stage {number} {stream}"])
            assert found and all(a[0] + a[1] <= b[0] + 0.2 for a, b in itertools.pairwise(found))
    assert "Where does a step go?" in (tmp_path / "step.html").read_text()
    assert "One step, llama3-8b on 16 devices" in (tmp_path / "pictures" / "step.svg").read_text()
    memory = (tmp_path / "pictures" / "memory.svg").read_text()
    assert "a device has 80 GiB" in memory and "16 devices" in memory


def test_of_many_microbatches_and_stages_some_are_drawn_and_it_is_said(assay, tmp_path):
    split = ["--tensor", "8", "--pipeline", "16", "--sequence-parallel", "--sequence", "4096", "--global-batch", "512"]
    assay("predict", "llama3-70b", "--node", "h100", "--devices", "128", *split, "--pictures", "pictures")
    text = (tmp_path / "pictures" / "step.svg").read_text()
    # 64 passes of a stage, forward and backward: 32 of 512 microbatches, a multiple of 16 stages.
    assert "seconds of a step with 32 of its 512 microbatches" in text
    # Three streams a stage and at most 24 rows.
    assert "Drawn: 8 of 16 stages." in text


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--tensor", "8"], "--tensor changes nothing here: --search chooses the split itself"),
        (["--batch", "8"], "--batch changes nothing here"),
        (["--calibrate", "x.csv"], "--calibrate and --columns belong together"),
        (["--reserve", "200%"], "--reserve: '200%' would leave nothing of a device to use. Give less than 100%"),
        (["--training", "t.yaml"], "--search and --training are two questions"),
        (["--precision", "fp32"], "--precision: 'fp32' is not known. There are bf16, fp8, fp4."),
    ],
)
def test_what_changes_nothing_is_refused(assay, flags, message):
    assert message in assay(*SEARCH, "--cluster", CLUSTER, *flags, code=2).stderr


def test_flags_of_a_plan_need_one(assay):
    refused = assay("predict", "resnet50", "--cluster", CLUSTER, "--tokens", "1T", code=2)
    assert "--tokens belongs to a plan. Add --search, or --training with its file." in refused.stderr
    both = assay("predict", "resnet50", "--cluster", CLUSTER, "--cluster", CLUSTER, code=2)
    assert "two and more with --search or --training" in both.stderr


def test_constants_come_from_measured_jobs(assay, tmp_path):
    rows = ["gpus,b,m,gpu,seconds"]
    sizes = {"llama3-8b": 8.03, "qwen3-8b": 8.19, "mistral-7b": 7.24}
    rows += [f"8,{b},{m},h100,{b * size / 5}" for m, size in sizes.items() for b in (1, 2, 3, 4, 6, 8)]
    (tmp_path / "jobs.csv").write_text("\n".join(rows) + "\n")
    columns = {
        "stack": "made",
        "columns": {"devices": "gpus", "microbatch": "b", "model": "m", "device": "gpu"},
        "fixed": {"sequence": "4096", "microbatches": "4"},
        "measured_column": "seconds",
        "group": ["m"],
        "constants": ["product"],
    }
    (tmp_path / "map.json").write_text(json.dumps(columns))
    asked = [*SEARCH, "--cluster", CLUSTER, "--devices", "8"]
    said = json.loads(
        assay(*asked, "--calibrate", tmp_path / "jobs.csv", "--columns", tmp_path / "map.json", "--json").stdout
    )
    plain = json.loads(assay(*asked, "--json").stdout)
    assert said["notes"][0].startswith("Constants of made from 18 measured jobs")
    assert said["points"][0]["best"]["seconds"] != plain["points"][0]["best"]["seconds"]
