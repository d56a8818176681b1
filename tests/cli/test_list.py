"""`assay list --json` follows its schema; tests/cli/list.test has what a person sees."""

import json


def test_campaigns_are_listed_with_their_rounds(assay, validate):
    words = ("run", "toy", "--worker", "fake", "--runs", 2, "--seconds", "5ms", "--warmup", 0, "--quiet", "--no-peak")
    assay(*words)
    assay(*words, "--again")
    listed = validate(json.loads(assay("list", "--json").stdout), "campaign_list")
    assert [(one["name"], one["round"], one["runs"], one["done"]) for one in listed] == [
        ("toy", 1, 2, 2),
        ("toy", 2, 2, 2),
    ]
    assert len({one["id"] for one in listed}) == 2


def test_an_empty_store_has_none(assay, validate):
    assay("run", "toy", "--worker", "fake", "--runs", 1, "--plan-only", "--name", "one")
    (only,) = validate(json.loads(assay("list", "--json").stdout), "campaign_list")
    assert only["name"] == "one" and only["done"] == 0
    assay("store", "drop", "one")
    assert validate(json.loads(assay("list", "--json").stdout), "campaign_list") == []
