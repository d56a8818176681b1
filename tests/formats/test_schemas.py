"""The published schemas are valid and say the same as the structs that travel."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADERS = {
    "trial": ["core/workload", "core/settings", "core/trial"],
    "record": ["core/record"],
    "cluster_calibration": ["predict/calibration/calibrate", "predict/calibration/calibrated_rows"],
    "doctor": [
        "platform/gpus",
        "platform/machine/machine",
        "platform/machine/state",
        "platform/machine/readable",
        "platform/machine/findings/health",
    ],
    "fleet": ["report/subjects/fleet"],
    "graph": ["network/graph"],
    "history": ["compare/history"],
    "audit": ["vet/audit"],
    "layers": ["predict/layers"],
    "planned": ["store/store"],
    "replay": ["core/replay"],
    "link": ["model/links/collective", "model/links/link_constants", "model/links/link"],
    "report": ["report/pictures/picture", "report/page"],
    "scaling": ["compare/scaling"],
    "model": ["model/role", "model/law", "model/model"],
    "prediction": [
        "predict/collective_cost",
        "predict/fusion",
        "predict/layers",
        "predict/iteration",
        "predict/memory",
        "predict/scaling",
    ],
    "score": ["predict/calibration/score"],
    "transformer": ["predict/memory", "predict/transformer/transformer", "predict/transformer/transformer_scaling"],
    "store_info": ["store/store_info"],
    "verification": ["store/records/verification"],
    "tuning": ["tune/resources", "tune/results", "tune/tuning"],
}
# Parts of a campaign are not in a trial, and what a prediction is made from is not in it.
NOT_IN_A_FILE = {
    "trial": {"Measure", "Stop"},
    "prediction": {"LayerTime", "LayerTable"},
    "transformer": {"TransformerDevice"},
}
DESCRIBE = re.compile(r"void describe\(V& v, (\w+)& \w+\) \{\n(.*?)\n\}", re.DOTALL)
FIELD = re.compile(r'(?:(required)\(v, |v\()"(\w+)", (\w+)\.(\w+)\);')
ENUM_NAMES = re.compile(r"struct (?:assay::)?EnumNames<(?:\w+::)*(\w+)> \{.*?names\{(.*?)\};", re.DOTALL)
STRUCT = re.compile(r"\nstruct (\w+) \{\n(.*?)\n\};", re.DOTALL)
MEMBER = re.compile(r"(?m)^  (?:[\w:]+(?:<.*>)?)\s+(\w+)(?: = [^;]*)?;")


def header_text(name):
    return "".join((ROOT / "assay" / f"{header}.hpp").read_text() for header in HEADERS[name])


def described(name):
    """Per struct: the fields that its describe() names, and which of them are required."""
    structs = {}
    for struct, body in DESCRIBE.findall(header_text(name)):
        fields = FIELD.findall(body)
        assert len(fields) == len(body.strip().splitlines()), f"a line of describe({struct}) is not understood"
        structs[struct] = {field: bool(required) for required, field, _, _ in fields}
    return {struct: fields for struct, fields in structs.items() if struct not in NOT_IN_A_FILE.get(name, ())}


def schema(name):
    return json.loads((ROOT / "docs/formats" / f"{name}.schema.json").read_text())


def objects(name):
    whole = schema(name)
    return {whole["title"]: whole, **whole["$defs"]}


def enumerations(node):
    if isinstance(node, dict):
        if "enum" in node:
            yield [value for value in node["enum"] if value is not None]
        for child in node.values():
            yield from enumerations(child)
    elif isinstance(node, list):
        for child in node:
            yield from enumerations(child)


@pytest.mark.parametrize("name", HEADERS)
def test_the_schema_is_valid_itself(name):
    jsonschema.Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize("name", HEADERS)
def test_schema_and_struct_have_the_same_fields(name):
    structs = described(name)
    every = set(re.findall(r"describe\(V& v, (\w+)&", header_text(name))) - NOT_IN_A_FILE.get(name, set())
    assert set(structs) == every, "a describe() is not understood"
    assert set(objects(name)) == set(structs)
    for struct, fields in structs.items():
        assert set(objects(name)[struct]["properties"]) == set(fields), struct


@pytest.mark.parametrize("name", HEADERS)
def test_schema_and_struct_require_the_same_fields(name):
    for struct, fields in described(name).items():
        required = {field for field, is_required in fields.items() if is_required}
        assert set(objects(name)[struct].get("required", [])) == required, struct


@pytest.mark.parametrize("name", HEADERS)
def test_enumerations_are_the_same(name):
    in_headers = sorted(re.findall(r'"(\w+)"', names) for _, names in ENUM_NAMES.findall(header_text(name)))
    assert sorted(enumerations(schema(name))) == in_headers


@pytest.mark.parametrize("name", HEADERS)
def test_every_member_of_a_struct_is_described_under_its_own_name(name):
    structs = dict(STRUCT.findall(header_text(name)))
    for struct, fields in described(name).items():
        body = re.sub(r"\n\s{4,}", " ", re.sub(r"///.*", "", structs[struct]))  # a long member takes two lines
        assert set(MEMBER.findall(body)) == set(fields), struct


# Structs of the plan, and where their schemas are: these name no struct themselves.
PLAN = {
    "WorkerInfo": ("catalog", "worker", ()),
    "Environment": ("environment", "worker", ("$defs", "environment")),
    "Installed": ("environment", "installed", ()),
}


@pytest.mark.parametrize("struct", PLAN)
def test_what_the_plan_reads_is_described_in_its_schema(struct):
    header, name, path = PLAN[struct]
    node = schema(name)
    jsonschema.Draft202012Validator.check_schema(node)
    for step in path:
        node = node[step]
    bodies = dict(DESCRIBE.findall((ROOT / "assay/plan/catalog" / f"{header}.hpp").read_text()))
    fields = {field: bool(required) for required, field, _, _ in FIELD.findall(bodies[struct])}
    assert len(fields) == len(bodies[struct].strip().splitlines())
    assert set(node["properties"]) == set(fields)
    assert set(node["required"]) == {field for field, is_required in fields.items() if is_required}


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
