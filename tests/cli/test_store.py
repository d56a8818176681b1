"""`assay store`: backups."""

import json

import pytest

RUNS = 4


@pytest.fixture
def measured(assay, tmp_path):
    """A store with one finished campaign, and calls of assay on it."""
    assay("run", "toy", "--worker", "fake", "--runs", RUNS, "--seconds", "20ms", "--warmup", "5ms", "--quiet",
          "--name", "nightly", "--retries", 0)  # fmt: skip
    return assay


def results(assay, *flags):
    return json.loads(assay("show", "nightly", "--json", *flags).stdout)


def test_a_backup_is_restored_in_place_of_a_store_that_is_lost(measured, tmp_path):
    before = results(measured)
    assert f"{RUNS} records" in measured("store", "backup", "copy.db").stdout
    assert "there is a file already" in measured("store", "backup", "copy.db", code=2).stderr
    assert "--replace" in measured("store", "restore", "copy.db", code=2).stderr
    (tmp_path / "assay.db").unlink()
    measured("store", "restore", "copy.db")
    assert results(measured) == before
    measured("run", "toy", "--worker", "fake", "--runs", RUNS + 1, "--seconds", "20ms", "--warmup", "5ms", "--quiet",
             "--name", "nightly", "--retries", 0)  # fmt: skip
    said = measured("store", "restore", "copy.db", "--replace").stdout
    aside = said.splitlines()[-1].removeprefix("what was there is now ")
    assert results(measured) == before
    assert results(measured, "--store", aside)["results"][0]["runs"] == RUNS + 1
