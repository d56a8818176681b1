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


def rows(file, sql):
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        return database.execute(sql).fetchall()


def run_in(assay, store, runs, name="nightly"):
    assay("run", "toy", "--worker", "fake", "--runs", runs, "--seconds", "20ms", "--warmup", "5ms", "--quiet", "--name",
          name, "--retries", 0, "--store", store)  # fmt: skip


RECORDS = (
    "SELECT campaign.name, trial.id, run.idx, record.median_ns, record.samples, writer.role, writer.host, "
    "writer.agent, receipt.claim FROM record JOIN run ON run.key = record.run JOIN trial ON trial.key = run.trial JOIN "
    "campaign ON campaign.key = run.campaign JOIN receipt ON receipt.record = record.key JOIN writer ON "
    "writer.key = receipt.writer"
)


def test_merging_brings_what_is_new_once_with_its_writers(measured, tmp_path):
    run_in(measured, "other.db", 3, "elsewhere")
    before = rows(tmp_path / "other.db", RECORDS)
    kept = (tmp_path / "other.db").read_bytes()
    said = measured("store", "merge", "other.db").stdout
    assert said.startswith("other.db: 3 records of store ")
    assert "0 were there already" in said
    assert "New: 1 campaigns, " in said
    assert sorted(rows(tmp_path / "assay.db", RECORDS + " WHERE campaign.name = 'elsewhere'")) == sorted(before)
    assert "all is as it was stored" in measured("store", "verify").stdout
    after = rows(tmp_path / "assay.db", "SELECT * FROM receipt")
    said = measured("store", "merge", "other.db", "other.db").stdout
    assert said.count(": 0 records") == 2
    assert said.count("3 were there already") == 2
    assert rows(tmp_path / "assay.db", "SELECT * FROM receipt") == after
    assert (tmp_path / "other.db").read_bytes() == kept
    shown = json.loads(measured("show", "elsewhere", "--json").stdout)["results"]
    assert [one["runs"] for one in shown] == [3]
    (_, progress) = rows(tmp_path / "assay.db", "SELECT runs, ready, leased, done FROM progress ORDER BY campaign")
    assert progress == (3, 0, 0, 3)
    run_in(measured, "assay.db", 3, "elsewhere")  # the same command: nothing is left to do
    assert rows(tmp_path / "assay.db", "SELECT count(*), max(epoch) FROM run WHERE campaign = 2") == [(3, 0)]


def test_a_copy_that_went_its_own_way_comes_back(measured, tmp_path):
    measured("store", "backup", "copy.db")
    run_in(measured, "copy.db", RUNS + 2)  # two more there
    run_in(measured, "assay.db", RUNS + 1)  # and one here, which is done in both then
    ours = rows(tmp_path / "assay.db", "SELECT run, median_ns, samples FROM record WHERE counted = 1 ORDER BY run")
    said = measured("store", "merge", "copy.db").stdout
    assert "copy.db: 2 records of store " in said
    assert "1 are set aside" in said
    assert f"{RUNS} were there already" in said
    counted = rows(tmp_path / "assay.db", "SELECT run, median_ns, samples FROM record WHERE counted = 1 ORDER BY run")
    assert counted[: RUNS + 1] == ours, "what was here counts"
    assert len(counted) == RUNS + 2
    (aside,) = rows(tmp_path / "assay.db", "SELECT run, attempt, message FROM record WHERE counted = 0")
    run, attempt, message = aside
    assert (run, attempt) == (RUNS + 1, 1)
    assert "done in both stores" in message
    assert "all is as it was stored" in measured("store", "verify").stdout
    assert results(measured)["results"][0]["runs"] == RUNS + 2
    assert "copy.db: 0 records" in measured("store", "merge", "copy.db").stdout
    (progress,) = rows(tmp_path / "assay.db", "SELECT runs, ready, done, set_aside FROM progress")
    assert progress == (RUNS + 2, 0, RUNS + 2, 1)


def test_merging_changes_nothing_where_it_refuses(measured, tmp_path):
    run_in(measured, "other.db", 3, "elsewhere")
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("UPDATE record SET median_ns = 1 WHERE key = 3")
    database.close()
    before = rows(tmp_path / "assay.db", "SELECT * FROM run") + rows(tmp_path / "assay.db", "SELECT * FROM receipt")
    assert "record 3 was altered" in measured("store", "merge", "other.db", code=1).stderr
    assert "there is no store" in measured("store", "merge", "none.db", code=2).stderr
    measured("store", "backup", "copy.db")
    run_in(measured, "copy.db", RUNS + 1)
    run_more = ("UPDATE progress SET runs = runs + 1, leased = leased + 1",
                "INSERT INTO run(key, campaign, trial, idx, ord, state, claim, lease_ms, lease_end_ms) "
                f"VALUES (99, 1, 1, {RUNS}, 0, 1, 'x', 60000, 1)")  # fmt: skip
    plant(tmp_path, *run_more)
    assert "an agent is at run" in measured("store", "merge", "copy.db", code=2).stderr
    plant(tmp_path, "DELETE FROM run WHERE key = 99", "UPDATE progress SET runs = runs - 1, leased = leased - 1")
    after = rows(tmp_path / "assay.db", "SELECT * FROM run") + rows(tmp_path / "assay.db", "SELECT * FROM receipt")
    assert after == before
    said = measured("store", "merge", "copy.db", "--store", "postgresql://nobody@/none", code=2).stderr
    assert "only a store in a file" in said


def test_records_from_before_receipts_are_merged_once_and_say_so(measured, tmp_path):
    run_in(measured, "other.db", 2, "elsewhere")
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("DELETE FROM receipt")
        database.execute("DELETE FROM writer")
    database.close()
    assert "other.db: 2 records" in measured("store", "merge", "other.db").stdout
    assert "2 were there already" in measured("store", "merge", "other.db").stdout
    (uuid,) = rows(tmp_path / "other.db", "SELECT uuid FROM store")[0]
    assert rows(tmp_path / "assay.db", "SELECT role, agent FROM writer WHERE key = 2") == [("unknown", f"store {uuid}")]
    assert "all is as it was stored" in measured("store", "verify").stdout
