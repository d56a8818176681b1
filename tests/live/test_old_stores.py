"""Stores that Assay of commit e21786a wrote, one of each kind (make_old_stores.py), open here and go on."""

import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile

import pytest
from postgres_server import PostgresServer, why_not

HERE = pathlib.Path(__file__).resolve().parent
OLD = HERE / "old_stores"
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", HERE.parents[1] / "build" / "dev")).resolve()


@pytest.fixture(params=["sqlite", "postgres"])
def old(request, tmp_path_factory):
    """Where the store is, its kind, and what the old program exported of it."""
    folder = tmp_path_factory.mktemp("old")
    folder.chmod(0o755)
    if request.param == "sqlite":
        with sqlite3.connect(folder / "old.db") as database:
            database.executescript((OLD / "sqlite_1.sql").read_text())
        yield folder, str(folder / "old.db"), records((OLD / "sqlite_1.jsonl").read_text())
        return
    if why_not():
        pytest.skip(why_not())
    with tempfile.TemporaryDirectory(prefix="old-") as name:  # of pytest's are too long for a socket
        pathlib.Path(name).chmod(0o755)
        server = PostgresServer(pathlib.Path(name) / "pg").start()
        try:
            dump = pathlib.Path(name, "dump.sql")  # the server's user may not read the clone
            dump.write_text((OLD / "postgres_2.sql").read_text())
            dump.chmod(0o644)
            server.load(dump)
            yield folder, server.url(), records((OLD / "postgres_2.jsonl").read_text())
        finally:
            server.stop()


def without_nothing(value):
    if isinstance(value, list):
        return [without_nothing(item) for item in value]
    if isinstance(value, dict):
        return {key: without_nothing(item) for key, item in value.items() if item not in (None, [])}
    return value


def records(text):
    """By campaign, trial, index and attempt; without the writer, nulls and empty lists, which later versions add."""
    found = {}
    for record in map(without_nothing, map(json.loads, text.splitlines())):
        record.pop("writer", None)
        found[record["campaign"], record["trial"], record["index"], record["attempt"]] = record
    return found


def call(folder, store, *words):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ASSAY_", "PG"))}
    env |= {"TMPDIR": str(folder), "ASSAY_HOST_LOCK": str(folder / "lock"), "ASSAY_SPOOL": str(folder / "spool")}
    argv = [BUILD / "assay", *words, "--store", store]
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_store_of_before_holds_what_it_held_and_goes_on(old):
    folder, store, before = old
    assert len(before) == 6 + 4 + 1  # done: 2 trials x 3 runs; pair: 2 x 2; open: 1
    call(folder, store, "agent", "--campaign", "open", "--quiet")  # opens it for writing: it is brought to this version
    exported = call(folder, store, "export", "--format", "jsonl", "--all-attempts")
    after = records(exported)
    assert {key: after.get(key) for key in before} == before
    assert len(after) == 6 + 4 + 4
    writers = [json.loads(line).get("writer") for line in exported.splitlines()]
    assert sum(writer is not None for writer in writers) == 3, "who wrote the others is not known"
    assert "11 older records have no receipt" in call(folder, store, "store", "verify")


def test_a_run_whose_agent_was_killed_before_is_taken_again(old):
    """Its lease was one of a second."""
    folder, store, before = old
    call(folder, store, "agent", "--campaign", "killed", "--idle", "20", "--quiet")
    after = records(call(folder, store, "export", "--format", "jsonl", "killed"))
    assert len(after) == 1 and not set(after) & set(before)
