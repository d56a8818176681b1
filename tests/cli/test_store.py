"""`assay store`: what a store holds, backups, and what is found where another program has changed rows."""

import json
import sqlite3

import pytest

RUNS = 4


@pytest.fixture
def measured(assay, tmp_path):
    """A store with one finished campaign, and calls of assay on it."""
    assay("run", "toy", "--worker", "fake", "--runs", RUNS, "--seconds", "20ms", "--warmup", "5ms", "--quiet",
          "--name", "nightly", "--retries", 0)  # fmt: skip
    return assay


def plant(folder, *statements):
    with sqlite3.connect(folder / "assay.db") as database:
        for statement in statements:
            database.execute(statement)
    database.close()


def results(assay, *flags):
    return json.loads(assay("show", "nightly", "--json", *flags).stdout)


def test_a_store_says_what_it_holds(measured, tmp_path, validate):
    found = validate(json.loads(measured("store", "info", "--json").stdout), "store_info")
    with sqlite3.connect(tmp_path / "assay.db") as database:
        oldest, newest = database.execute("SELECT min(started_utc), max(started_utc) FROM record").fetchone()
        (uuid,) = database.execute("SELECT uuid FROM store").fetchone()
    assert found["location"] == "assay.db"
    assert found["uuid"] == uuid
    assert (found["campaigns"], found["trials"], found["records"], found["writers"]) == (1, 1, RUNS, 1)
    assert found["runs"] == {"ready": 0, "leased": 0, "done": RUNS, "failed": 0}
    assert (found["first_utc"], found["last_utc"]) == (oldest, newest)
    assert found["spool"]["waiting"] == 0
    for text in (measured("store").stdout, measured("store", "info").stdout):
        assert uuid in text
        assert f"{RUNS} done" in text
    assert "there is no store" in measured("store", "info", "--store", "other.db", code=2).stderr


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
    assert json.loads(measured("store", "info", "--json", "--store", aside).stdout)["records"] == RUNS + 1


def test_a_store_is_verified(measured, tmp_path, validate):
    assert "all is as it was stored" in measured("store", "verify").stdout
    found = validate(json.loads(measured("store", "verify", "--json").stdout), "verification")
    assert found == {"records": RUNS, "receipts": RUNS, "writers": 1, "older": 0, "findings": []}
    plant(tmp_path, "UPDATE record SET median_ns = median_ns - 1 WHERE key = 2")
    said = measured("store", "verify", code=1).stdout
    assert "record 2 of trial" in said
    assert "index 1, attempt 0: was altered after it was stored (writer " in said
    found = validate(json.loads(measured("store", "verify", "--json", code=1).stdout), "verification")
    assert [(one["fault"], one["record"], one["index"]) for one in found["findings"]] == [("altered", 2, 1)]


def test_a_row_that_another_program_has_spoiled_does_not_hide_the_others(measured, tmp_path):
    plant(
        tmp_path,
        "UPDATE record SET outcome = 'odd' WHERE key = 1",
        "UPDATE record SET digest = '{' WHERE key = 2",
        "UPDATE platform SET json = 'not JSON'",
    )
    shown = measured("show", "nightly", "--json")
    assert json.loads(shown.stdout)["results"][0]["runs"] == RUNS - 2
    exported = measured("export", "nightly", "--format", "json")
    assert len(exported.stdout.splitlines()) >= RUNS - 2
    for done in (shown, exported):
        assert done.stderr.count("skipped record 1 of trial") == 1
        assert done.stderr.count("skipped record 2 of trial") == 1
    measured("history", "--network", "toy")
    measured("report", "-o", "report.html")


def test_a_spoiled_trial_or_campaign_is_named_and_hides_no_other(measured, tmp_path):
    for name in ("second", "third"):
        measured("run", "toy", "--worker", "fake", "--batch", "1,2", "--runs", RUNS, "--seconds", "20ms", "--warmup",
                 "5ms", "--quiet", "--name", name, "--retries", 0)  # fmt: skip
    with sqlite3.connect(tmp_path / "assay.db") as database:
        ((spoiled,),) = database.execute("SELECT id FROM trial WHERE batch = 2").fetchall()
    plant(
        tmp_path,
        "UPDATE trial SET json = '{\"workload\": 7}' WHERE batch = 2",
        "UPDATE campaign SET measure = '{' WHERE name = 'nightly'",
    )
    calls = (
        ("show", "second", "--json"), ("show", "--all"), ("show", "second", "--fleet"), ("history",),
        ("compare", "second", "third"), ("report", "-o", "report.html"),
    )  # fmt: skip
    for words in calls:
        done = measured(*words)
        named = f"skipped trial {spoiled[:8]}" in done.stderr or "skipped campaign " in done.stderr
        assert named, (words, done.stderr)
    measured("export")
    shown = json.loads(measured("show", "second", "--json").stdout)["results"]
    assert [(one["trial"]["workload"]["batch"], one["runs"]) for one in shown] == [(1, RUNS)]
    assert "nightly" in measured("show", "nightly", code=2).stderr


def test_compare_leaves_out_spoiled_records(measured, tmp_path):
    measured("run", "toy", "--worker", "fake", "--runs", RUNS + 3, "--seconds", "20ms", "--warmup", "5ms", "--quiet",
             "--name", "later", "--retries", 0)  # fmt: skip
    plant(tmp_path, "UPDATE record SET outcome = 'odd' WHERE key = 1", "UPDATE record SET digest = '{' WHERE key = 9")
    done = measured("compare", "nightly", "later", "--json")
    assert "skipped record 1 of trial" in done.stderr
    assert "skipped record 9 of trial" in done.stderr
    (row,) = json.loads(done.stdout)["comparisons"]
    read = [row[side]["runs"] + row[side]["disturbed"] + row[side]["failed"] for side in "ab"]
    assert read == [RUNS - 1, RUNS + 2]


def test_a_result_that_neither_store_nor_spool_takes_is_beside_the_user(measured, tmp_path):
    more = ("run", "toy", "--worker", "fake", "--runs", RUNS + 1, "--seconds", "20ms", "--warmup", "5ms", "--quiet",
            "--name", "nightly", "--retries", 0)  # fmt: skip
    plant(tmp_path, "CREATE TRIGGER no BEFORE INSERT ON record BEGIN SELECT RAISE(ABORT, 'not today'); END")
    said = measured(*more, "--spool", "/proc/no-such-place", code=1).stderr
    assert "not today" in said
    assert f"--spool {tmp_path / 'assay-spool'} delivers it" in said
    plant(tmp_path, "DROP TRIGGER no")
    measured(*more, "--spool", "assay-spool")
    assert results(measured)["results"][0]["runs"] == RUNS + 1
    assert list((tmp_path / "assay-spool").iterdir()) == []
    with sqlite3.connect(tmp_path / "assay.db") as database:
        assert database.execute("SELECT max(epoch) FROM run").fetchone() == (1,), "it was not measured again"
