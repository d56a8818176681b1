"""The published schemas are valid, and those that are written from describe() are as it would write them now."""

import copy
import importlib.machinery
import importlib.util
import json
import os
import subprocess
from pathlib import Path

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
DESCRIBED = BUILD / "schemas" / "described"
NAMES = sorted(path.name.removesuffix(".schema.json") for path in (ROOT / "docs/formats").glob("*.schema.json"))


def load_writer():
    loader = importlib.machinery.SourceFileLoader("schemas_write", str(ROOT / "schemas/write"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


write = load_writer()


@pytest.fixture(scope="module")
def described():
    return json.loads(subprocess.run([DESCRIBED], capture_output=True, check=True).stdout)


def schema(name):
    return json.loads((ROOT / "docs/formats" / f"{name}.schema.json").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_is_valid_itself(name):
    jsonschema.Draft202012Validator.check_schema(schema(name))


def check(program):
    return subprocess.run([ROOT / "schemas/write", program, "--check"], capture_output=True, text=True, check=False)


def test_the_files_are_as_describe_and_the_comments_say():
    checked = check(DESCRIBED)
    found = checked.stdout + checked.stderr
    assert checked.returncode == 0, f"run `cmake --build --preset dev --target schemas` for:\n{found}"


def test_a_field_that_describe_has_and_the_file_has_not_is_seen(described, tmp_path):
    more = copy.deepcopy(described)
    more["structs"]["assay::Disturbance"]["fields"]["later"] = {"schema": {"type": ["integer", "null"]}}
    (tmp_path / "described.json").write_text(json.dumps(more))
    program = tmp_path / "described"
    program.write_text(f"#!/bin/sh\nexec cat '{tmp_path}/described.json'\n")
    program.chmod(0o755)
    checked = check(program)
    assert (checked.returncode, checked.stdout) == (1, "docs/formats/record.schema.json\n")


# Members that are no part of the file, and structs whose describe() gathers fields from others.
NOT_DESCRIBED = {"assay::plan::WorkerInfo": {"folder", "environment_folder"}}
GATHERING = {"assay::report::CampaignProgress", "assay::report::Result"}


def test_every_member_of_a_struct_is_described_under_its_own_name(described):
    comments = write.read_comments()
    for struct in described["structs"].keys() - GATHERING:
        noted = described["structs"][struct]
        members = set(comments[struct][1]) - NOT_DESCRIBED.get(struct, set())
        assert members == set(noted["fields"]), struct


def test_each_type_becomes_its_schema():
    record = schema("record")
    rank = record["$defs"]["RankResult"]["properties"]
    assert record["properties"]["record_version"] == {"const": 1}
    assert record["properties"]["pair"]["anyOf"] == [{"$ref": "#/$defs/Pair"}, {"type": "null"}]
    assert record["$defs"]["Pair"]["properties"]["side"] == {"enum": ["a", "b"]}
    assert record["$defs"]["Pair"]["required"] == ["id", "side"]
    assert rank["prepare_ns"]["type"] == ["integer", "null"]
    assert rank["phases_ns"]["additionalProperties"] == {"type": "array", "items": {"type": "integer"}}
    assert rank["slices"]["items"] == {"$ref": "#/$defs/Slice"}
    assert rank["samples_ns"]["items"] == {"type": "integer", "minimum": 0}
    assert rank["effective"] == {"description": "settings that took effect, read back by the worker"}
    assert schema("trial")["$defs"]["Settings"]["properties"]["affinity"]["enum"] == ["none", "compact", "spread", None]
    assert schema("history")["$defs"]["HistorySeries"]["properties"]["trial"]["$ref"] == "trial.schema.json"


def test_comments_become_descriptions():
    text = """namespace assay::plan {
/// What it is,
/// in two lines.
struct Thing {
  std::string name;  ///< after it,
                     ///< and below
  /// Before it.
  std::optional<std::vector<int>>
      values;
  // For readers of the source alone.
  int plain = 0;

  /// Of a function.
  int twice() const { return 2 * plain; }
  bool last = true;
};

struct Other {
  int plain = 0;  ///< of the other
};
"""
    found = write.comments_in(text)
    members = {"name": "after it, and below", "values": "Before it.", "plain": "", "last": ""}
    assert found["assay::plan::Thing"] == ("What it is, in two lines.", members)
    assert found["assay::plan::Other"] == ("", {"plain": "of the other"})


def made(overlay):
    """What is written of a struct with one field, whose file is `thing`."""
    fields = {"batch": {"schema": {"type": "integer"}, "default": 1}}
    described = {"files": {"thing": "assay::Thing"}, "structs": {"assay::Thing": {"fields": fields, "required": []}}}
    return write.Writer(described, {}, {"files": {}, "structs": {}} | overlay).document("thing")


def test_the_overlay_adds_bounds_and_may_not_name_what_is_not_there():
    bounds = {"structs": {"Thing": {"batch": {"minimum": 1}}}}
    assert made(bounds)["properties"]["batch"] == {"type": "integer", "minimum": 1}
    with pytest.raises(write.Problem, match="has no field batches"):
        made({"structs": {"Thing": {"batches": {"minimum": 1}}}})


def campaign_is_valid(text):
    return is_valid("campaign", yaml.safe_load(text))


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda path: path.name)
def test_the_examples_of_campaign_files_are_valid(path):
    assert campaign_is_valid(path.read_text())


@pytest.mark.parametrize(
    ("fields", "valid"),
    [
        ("batch: 1-64*2", True),
        ("batch: [1, 2-8+2]", True),
        ("batch: many", False),
        ("mode: 'infer, train'", True),
        ("mode: null", False),
        ("settings: {affinity: [compact, null], spin: true, bucket_bytes: 4MiB}", True),
        ("settings: {affinity: everywhere}", False),
        ("settings: {intra_op: null}", True),
        ("settings: {threads: 4}", False),
        ("placement: {ranks: 1-4*2}", True),
        ("placement: {links: abc}", False),
        ("graph: abc", False),
    ],
)
def test_fields_of_a_trial_are_swept_in_campaign_files(fields, valid):
    assert campaign_is_valid(f"trials:\n  - network: toy\n    worker: fake\n    {fields}\n") is valid


@pytest.mark.parametrize(
    ("fields", "valid"),
    [
        ("seconds: 200ms", True),
        ("seconds: -1", False),
        ("memory_limit_bytes: 4GiB", True),
        ("phases: null", True),
        ("max_samples: 0", False),
        ("platform: ABC", False),
        ("stop: null", False),
    ],
)
def test_how_to_measure_is_written_with_units_in_campaign_files(fields, valid):
    assert campaign_is_valid(f"measure: {{{fields}}}\ntrials: [{{network: toy, worker: fake}}]\n") is valid


def is_valid(name, document):
    return jsonschema.Draft202012Validator(schema(name)).is_valid(document)


def test_a_record_with_unknown_fields_is_valid_and_with_an_unknown_outcome_not():
    record = {"record_version": 1, "campaign": "c", "trial": "t", "index": 0, "outcome": {"kind": "ok"}, "later": 1}
    assert is_valid("record", record)
    assert not is_valid("record", {**record, "outcome": {"kind": "exploded"}})
    assert not is_valid("record", {**record, "record_version": 2})
    assert not is_valid("record", {key: value for key, value in record.items() if key != "trial"})


def test_a_null_setting_is_valid_and_an_unknown_affinity_not():
    trial = {"workload": {"network": "toy"}, "worker": {"name": "fake"}, "settings": {"affinity": None}}
    assert is_valid("trial", trial)
    assert not is_valid("trial", {**trial, "settings": {"affinity": "everywhere"}})
    assert not is_valid("trial", {**trial, "workload": {"network": "toy", "options": {"shape": [1, 2]}}})
