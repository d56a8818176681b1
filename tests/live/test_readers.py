"""DuckDB and pandas read both stores as they are, and find what `assay export` writes."""

import importlib.util
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import tempfile

import pytest
from postgres_server import PORT, PostgresServer, why_not

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
BY_BATCH = "SELECT batch, count(*) AS runs, median(median_ns) AS ns FROM {} GROUP BY batch ORDER BY batch"


def assay(store, folder, *argv):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAY_", "PG"))}
    own = {"ASSAY_NO_HOST_LOCK": "true", "ASSAY_SPOOL": str(folder / "spool"), "ASSAY_STORE": store}
    done = subprocess.run(
        [BUILD / "assay", *argv], cwd=folder, env={**kept, **own}, capture_output=True, text=True, check=True
    )
    return done.stdout


def loaded(extension):
    """A DuckDB with one of its extensions: that of a package of pip, else one that is installed; never fetched."""
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    package = importlib.util.find_spec(f"duckdb_extension_{extension}")
    files = [] if package is None else pathlib.Path(package.submodule_search_locations[0]).rglob("*.duckdb_extension")
    try:
        connection.execute(f"LOAD '{next(iter(files), extension)}'")
    except duckdb.Error as error:
        pytest.skip(f"DuckDB has no {extension} here: {error}")
    return connection


@pytest.fixture(scope="module")
def folder():
    with tempfile.TemporaryDirectory(prefix="readers-") as name:
        os.chmod(name, 0o755)
        yield pathlib.Path(name)


def measure(store, folder):
    """Runs of three batches; what is exported of them: runs and the median of their medians, by batch."""
    words = ["--batch", "1,2,4", "--runs", "3", "--seconds", "50ms", "--no-phases", "--no-peak", "--quiet"]
    assay(store, folder, "run", "toy", "--worker", "fake", *words)
    records = [json.loads(line) for line in assay(store, folder, "export", "--format", "jsonl").splitlines()]
    batches = {trial["id"]: trial["batch"] for trial in trials_of(store, folder)}
    groups = {}
    for record in records:
        groups.setdefault(batches[record["trial"]], []).append(record["summary"]["median_ns"])
    return [(batch, len(times), statistics.median(times)) for batch, times in sorted(groups.items())]


def trials_of(store, folder):
    shown = json.loads(assay(store, folder, "show", "--json"))["results"]
    return [{"id": one["trial_id"], "batch": one["trial"]["workload"]["batch"]} for one in shown]


@pytest.fixture(scope="module")
def file(folder):
    store = str(folder / "assay.db")
    return store, measure(store, folder)


@pytest.fixture(scope="module")
def database(folder):
    if why_not():
        pytest.skip(why_not())
    server = PostgresServer(folder / "pg").start()
    yield server, measure(server.url(), folder)
    server.stop()


def test_duckdb_reads_the_file(file):
    store, expected = file
    connection = loaded("sqlite_scanner")
    connection.execute(f"ATTACH '{store}' AS assay (TYPE sqlite, READ_ONLY)")
    assert connection.execute(BY_BATCH.format("assay.result")).fetchall() == expected
    assert connection.execute("SELECT count(*) FROM assay.record WHERE octet_length(samples) > 0").fetchone() == (9,)


def test_duckdb_reads_the_database(database):
    server, expected = database
    connection = loaded("postgres_scanner")
    where = f"host={server.folder} port={PORT} user=owner dbname=postgres"
    connection.execute(f"ATTACH '{where}' AS lab (TYPE postgres, READ_ONLY)")
    assert connection.execute(BY_BATCH.format("lab.assay.result")).fetchall() == expected


def by_batch(frame):
    grouped = frame.groupby("batch")["median_ns"].agg(["count", "median"])
    return [(int(batch), int(row["count"]), float(row["median"])) for batch, row in grouped.iterrows()]


def test_pandas_reads_the_file(file):
    pandas = pytest.importorskip("pandas")
    store, expected = file
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
        assert by_batch(pandas.read_sql_query("SELECT * FROM result", connection)) == expected


@pytest.mark.filterwarnings("ignore:pandas only supports SQLAlchemy")
def test_pandas_reads_the_database(database):
    pandas = pytest.importorskip("pandas")
    psycopg = pytest.importorskip("psycopg")
    server, expected = database
    with psycopg.connect(server.url()) as connection:
        assert by_batch(pandas.read_sql_query("SELECT * FROM assay.result", connection)) == expected


def test_a_file_takes_in_what_a_server_holds(database, folder):
    server, _ = database
    merged = str(folder / "merged.db")
    assay(merged, folder, "run", "toy", "--worker", "fake", "--batch", "8", "--runs", "1", "--plan-only")
    assert "9 records of store " in assay(merged, folder, "store", "merge", server.url())
    with sqlite3.connect(f"file:{merged}?mode=ro", uri=True) as connection:
        sql = "SELECT batch, count(*), sum(median_ns) FROM result GROUP BY batch ORDER BY batch"
        here = connection.execute(sql).fetchall()
        writers = connection.execute("SELECT DISTINCT role FROM writer").fetchall()
    there = [tuple(map(int, line.split("|"))) for line in server.ask(sql.replace("FROM result", "FROM assay.result"))]
    assert here == there
    assert writers == [("owner",)], "who measured, not who merged"
    assert "all is as it was stored" in assay(merged, folder, "store", "verify")
    assert "9 were there already" in assay(merged, folder, "store", "merge", server.url())
