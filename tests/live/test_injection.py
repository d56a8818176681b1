"""Text of users and workers that would be SQL where somebody pasted it into a statement does nothing, in both stores.

Each text goes through the command line into every field that takes one. Afterwards a table that it would have dropped
is as it was, there are the tables that there were, and what was stored reads as it was written.
"""

import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile

import pytest
from postgres_server import PostgresServer, why_not

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
LIMIT_SECONDS = 120
QUICK = ["--seconds", "10ms", "--warmup", "0s", "--runs", "1", "--retries", "0", "--no-phases", "--no-peak", "--quiet"]

EVIL = [
    "x'; DROP TABLE canary; --",
    "x'); DROP TABLE canary; --",
    'x"; DROP TABLE canary; --',
    'x"); DROP TABLE canary; --',
    "x\\'; DROP TABLE canary; --",
    "x$$; DROP TABLE canary; --",
    "1; DROP TABLE canary",
    "' OR '1'='1",
    "x' UNION SELECT name FROM sqlite_master; --",
    "$1 %s {} ?1",
    "x\u2019; DROP TABLE canary; --\ufeff",
]


class SqliteFile:
    kind = "SQLite"

    def __init__(self, folder):
        self.store = str(folder / "assay.db")

    def rows(self, sql):
        with sqlite3.connect(self.store) as connection:
            return ["|".join(map(str, row)) for row in connection.execute(sql)]

    def execute(self, sql):
        """As a careless program would: also several statements."""
        with sqlite3.connect(self.store) as connection:
            connection.executescript(sql)

    def tables(self):
        return self.rows("SELECT name FROM sqlite_master ORDER BY name")

    def stop(self):
        pass


class PostgresDatabase:
    kind = "PostgreSQL"

    def __init__(self, folder):
        folder.chmod(0o755)
        self.server = PostgresServer(folder / "pg").start()
        self.store = self.server.url()

    def rows(self, sql):
        return self.server.ask("SET search_path TO assay; " + sql)[1:]

    execute = rows

    def tables(self):
        return self.rows(
            "SELECT nspname, relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace "
            "WHERE nspname IN ('assay', 'public') ORDER BY 1, 2"
        )

    def stop(self):
        self.server.stop()


class Place:
    """A store with a canary, and assay on it."""

    def __init__(self, database, folder):
        self.database = database
        self.folder = folder
        self.assay("run", "toy", "--worker", "fake", *QUICK, "--name", "plain", codes=(0,))
        database.execute("CREATE TABLE canary(x integer); INSERT INTO canary VALUES (1), (2), (3)")
        self.tables = database.tables()

    def assay(self, *argv, codes=(0, 1, 2)):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "PG"))}
        own = {"ASSAY_NO_HOST_LOCK": "true", "ASSAY_SPOOL": str(self.folder / "spool"), "TMPDIR": str(self.folder)}
        done = subprocess.run(
            [BUILD / "assay", *argv],
            cwd=self.folder,
            env={**kept, **own, "ASSAY_STORE": self.database.store},
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        assert done.returncode in codes, f"{argv}: exit {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def check(self):
        """Nothing was dropped, added or emptied."""
        assert self.database.tables() == self.tables
        assert self.database.rows("SELECT x FROM canary ORDER BY x") == ["1", "2", "3"]
        assert int(self.database.rows("SELECT count(*) FROM campaign WHERE name = 'plain'")[0]) == 1
        assert int(self.database.rows("SELECT count(*) FROM record WHERE outcome = 'ok'")[0]) >= 1


@pytest.fixture(params=[SqliteFile, PostgresDatabase], ids=["sqlite", "postgres"])
def place(request):
    if request.param is PostgresDatabase and why_not():
        pytest.skip(why_not())
    with tempfile.TemporaryDirectory(prefix="inject-") as folder:
        os.chmod(folder, 0o755)
        database = request.param(pathlib.Path(folder))
        try:
            yield Place(database, pathlib.Path(folder))
        finally:
            database.stop()


def test_names_that_are_stored_read_as_they_were_written(place):
    plan = ["run", "toy", "--worker", "fake", "--runs", "1", "--plan-only"]
    for number, evil in enumerate(EVIL):
        # Batches of their own: the same trials under another name would be the same campaign.
        words = ["--name", evil, "--env", f"SEEN={evil}", "--option", f"misbehave={evil}", "--batch", str(number + 2)]
        place.assay(*plan, *words, codes=(0,))
    place.check()
    listed = json.loads(place.assay("show", "--all", "--json", codes=(0,)))
    assert [campaign["name"] for campaign in listed["campaigns"]][1:] == EVIL
    trials = [json.loads(row) for row in place.database.rows("SELECT json FROM trial ORDER BY key")][1:]
    assert [trial["settings"]["env"]["SEEN"] for trial in trials] == EVIL
    assert [trial["workload"]["options"]["misbehave"] for trial in trials] == EVIL
    # Carried out, each fails with a message that repeats the text, which is stored too.
    place.assay("agent", "--idle", "0")
    messages = place.database.rows("SELECT message FROM record WHERE outcome <> 'ok'")
    assert len(messages) == len(EVIL)
    assert sum("DROP TABLE canary" in message for message in messages) >= 7
    for argv in (["export", "--format", "csv"], ["export"], ["report", "-o", "r.html"], ["history"]):
        place.assay(*argv, codes=(0,))
    for evil in EVIL:
        place.assay("show", evil, codes=(0,))
        place.assay("store", "drop", evil, codes=(0,))
    place.check()
    assert place.database.rows("SELECT count(*) FROM campaign") == ["1"]


def test_fields_that_are_refused_or_find_nothing_do_nothing(place):
    run = ["run", "toy", "--worker", "fake", "--plan-only"]
    before = place.database.rows("SELECT count(*) FROM record")
    for evil in EVIL:
        for argv in (
            ["run", evil, "--worker", "fake", "--plan-only"],
            ["run", "toy", "--worker", evil, "--plan-only"],
            ["run", "toy", "--worker", f"fake=={evil}", "--plan-only"],
            [*run, "--option", f"{evil}=1"],
            [*run, "--env", f"{evil}=1"],
            [*run, "--precision", evil],
            [*run, "--device", evil],
            [*run, "--platform", evil],
            ["show", evil],
            ["show", "--trial", evil],
            ["show", evil, "--fleet"],
            ["compare", evil, evil],
            ["export", evil],
            ["export", "--trial", evil],
            ["history", "--network", evil],
            ["history", "--worker", evil],
            ["history", "--trial", evil],
            ["fit", "--campaign", evil],
            ["fit", "--score", evil],
            ["fit", "--where", f"network={evil}", "--table", "t.csv"],
            ["report", "-o", "r.html", "--campaign", evil, "--title", evil],
            ["agent", "--campaign", evil, "--idle", "0"],
            ["store", "drop", evil],
            ["store", "allow", "agent", evil],
            ["store", "allow", "reader", evil, "--campaign", evil],
            ["store", "forbid", evil],
        ):
            place.assay(*argv)
    place.check()
    assert place.database.rows("SELECT count(*) FROM record") == before


def test_what_a_program_says_is_stored_as_text(place):
    for number, evil in enumerate(EVIL):
        program = ["python3", "-c", "import sys; sys.stderr.write(sys.argv[1]); sys.exit(3)", evil.replace("{", "{{")]
        place.assay("run", "--batch", str(number + 1), *QUICK, "--name", f"said{number}", "--", *program, codes=(4,))
    place.check()
    said = "\n".join(place.database.rows("SELECT message FROM record") + place.database.rows("SELECT json FROM trial"))
    assert said.count("DROP TABLE canary") >= 7


def test_planted_a_query_that_is_pasted_together_is_caught(place):
    place.database.execute(f"SELECT * FROM campaign WHERE name = '{EVIL[0]}'")
    with pytest.raises(AssertionError):
        place.check()
