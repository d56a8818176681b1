"""What Assay prints for other programs is what docs/formats promises."""

import csv
import hashlib
import io
import json
import shutil

import jsonschema
import pytest
import referencing

FAILING = "misbehave: error_failed, misbehave_step: 5"


def load(place, name):
    return json.loads((place.root / "docs" / "formats" / f"{name}.schema.json").read_text())


@pytest.fixture
def validate(place):
    """Validates a document against a published schema, its references resolved among the published ones."""
    names = ["result", "record", "trial", "worker", "graph"]
    resources = [(f"{name}.schema.json", referencing.Resource.from_contents(load(place, name))) for name in names]
    registry = referencing.Registry().with_resources(resources)

    def check(name, document):
        jsonschema.Draft202012Validator(load(place, name), registry=registry).validate(document)

    return check


def campaign_file(place):
    """A campaign with a bit of everything: phases, layers, settings, failures, instances and text to be quoted."""
    entry = "  - {network: toy, worker: fake, %s}\n"
    text = 'name: "quotes \\" and, commas"\nruns: 6\n'
    text += "measure: {seconds: 20ms, warmup_seconds: 5ms, retries: 0, phases: true, layers: true}\ntrials:\n"
    text += entry % "mode: [infer, train], batch: [1, 8], options: {noise: 0}"
    text += entry % 'settings: {instances: 2, affinity: spread, intra_op: 2, env: {QUOTED: "a \\"b\\", c\\nd"}}'
    text += entry % f"options: {{{FAILING}}}"
    return place.write("formats.yaml", text)


@pytest.fixture
def campaign(place):
    return campaign_file(place)


@pytest.fixture(scope="module")
def store(common_places):
    """What was measured, once for all tests."""
    place = common_places("formats")
    place.assay("run", campaign_file(place), "--quiet", expect=4)
    return place.store


@pytest.fixture
def measured(place, campaign, store):
    """A place with its own copy of that."""
    shutil.copy(store, place.store)
    return place


def test_the_results_of_run_and_show_keep_their_schema(measured, campaign, validate):
    place = measured
    printed = place.assay("run", campaign, "--json", "--quiet", expect=4).json()
    validate("result", printed)
    shown = place.assay("show", "--json").json()
    validate("result", shown)
    assert printed == shown
    assert len(shown["results"]) == 6
    assert sum(result["runs"] for result in shown["results"]) == 36 + 6  # the same command tried the failed ones again
    [failed] = [result for result in shown["results"] if result["failures"]]
    assert failed["failures"]["failed"]["runs"] == 12
    assert failed["median_ns"] is None


def test_one_trial_and_all_campaigns_keep_the_schema_too(measured, validate):
    place = measured
    place.assay("run", "toy", "--worker", "fake", "--seconds", "5ms", "--runs", "1", "--quiet")
    everything = place.assay("show", "--all", "--json").json()
    validate("result", everything)
    assert len(everything["campaigns"]) == 2
    identity = everything["results"][0]["trial_id"]
    one = place.assay("show", "--trial", identity[:10], "--json").json()
    validate("result", one)
    assert [result["trial_id"] for result in one["results"]] == [identity]


def test_a_campaign_of_which_nothing_is_measured_keeps_the_schema(place, validate):
    """Told to stop while another run has the host: planned, and not one record."""
    holder = place.start("run", "toy", "--worker", "fake", "--option", "pace=1", "--seconds", "20s", "--runs", "1",
                         "--store", place.path / "other.db")  # fmt: skip
    place.until(lambda: any(place.name_of(pid) == "assay-worker-fake" for pid in place.marked()), "the host is taken")
    waiting = place.start("run", "toy", "--worker", "fake", "--runs", "1", "--json")
    place.until(lambda: "another run has the host" in waiting.err.read_text(), "it waits for the host")
    waiting.signal(15)
    ended = waiting.wait()
    assert ended.code == 130
    validate("result", ended.json())
    assert ended.json()["results"] == []
    holder.signal(15)
    assert holder.wait().code == 130


def test_exported_records_keep_their_schema(measured, validate):
    lines = measured.assay("export").stdout.splitlines()
    records = [json.loads(line) for line in lines]
    assert len(records) == 36
    for record in records:
        validate("record", record)
    document = measured.assay("export", "--format", "json").json()
    assert document["records"] == records
    assert len(document["trials"]) == 6
    for entry in document["trials"]:
        validate("trial", entry["trial"])
    assert {entry["trial_id"] for entry in document["trials"]} == {record["trial"] for record in records}


def test_csv_has_a_line_for_each_run_and_the_figures_of_the_records(measured):
    text = measured.assay("export", "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
    assert len(rows) == 36
    assert all(None not in row and None not in row.values() for row in rows), "a line has too many or too few fields"
    records = {(record["trial"], record["index"]): record for record in measured.records()}
    for row in rows:
        record = records[row["trial"], int(row["index"])]
        assert row["outcome"] == record["outcome"]["kind"]
        assert row["message"] == record["outcome"]["message"]
        median = record["summary"]["median_ns"]
        assert row["median_ns"] == ("" if median is None else str(median))
    [quoted] = {row["settings"] for row in rows if "QUOTED" in row["settings"]}
    assert json.loads(quoted)["env"] == {"QUOTED": 'a "b", c\nd'}


def test_a_file_of_an_export_holds_what_is_printed(measured):
    for form in ("jsonl", "json", "csv"):
        measured.assay("export", "--format", form, "-o", measured.path / "out")
        assert (measured.path / "out").read_text() == measured.assay("export", "--format", form).stdout


def test_the_list_of_workers_keeps_its_schema(place, validate):
    workers = place.assay("worker", "list", "--json").json()
    assert {worker["name"] for worker in workers} >= {"fake", "command"}
    for worker in workers:
        validate("worker", worker)


def test_the_plan_of_a_dry_run_holds_valid_trials(place, campaign, validate):
    plan = place.assay("run", campaign, "--dry-run", "--json").json()
    assert plan["name"] == 'quotes " and, commas'
    for entry in plan["trials"]:
        validate("trial", entry["trial"])
        assert entry["runs"] == 6
    assert not place.store.exists()


def test_the_trial_id_is_the_hash_of_the_exported_trial(measured):
    """DESIGN: 128 bits of SHA-256 over canonical JSON, nulls dropped, so that any program can compute it."""

    def without_nulls(value):
        if isinstance(value, dict):
            return {key: without_nulls(item) for key, item in value.items() if item is not None}
        return value

    for entry in measured.assay("export", "--format", "json").json()["trials"]:
        canonical = json.dumps(without_nulls(entry["trial"]), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert hashlib.sha256(canonical.encode()).hexdigest()[:32] == entry["trial_id"]


@pytest.mark.parametrize("network", ["resnet50", "googlenet", "bert_base", "gpt2"])
def test_a_network_keeps_its_schema(place, validate, network):
    shown = place.assay("show", "--network", network, "--json").json()
    validate("network", shown)
    validate("graph", shown["graph"])
    assert sum(layer["parameters"] for layer in shown["layers"]) == shown["parameters"] == shown["graph"]["parameters"]


@pytest.mark.parametrize("primitive", ["gemm", "conv3d", "rnn", "embedding", "all_reduce"])
def test_a_primitive_keeps_its_schema(place, validate, primitive):
    shown = place.assay("show", "--network", primitive, "--json").json()
    validate("primitive", shown)
    assert (shown["flops"] is None) == shown["exchanges"]
