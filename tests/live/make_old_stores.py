"""Makes old_stores again, with an Assay of the commit that wrote such stores (e21786a):

python tests/live/make_old_stores.py build/release. They are dumps as text, so that a difference can be read."""

import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from postgres_server import PORT, PostgresServer, programs

HERE = pathlib.Path(__file__).resolve().parent / "old_stores"
BRIEF = ["--worker", "fake", "--option", "noise=0", "--seconds", "20ms", "--warmup", "0", "--retries", "0", "--quiet"]


def fill(assay, store, env):
    """A finished campaign, one of a pair, one with open runs, and a run whose agent was killed in the middle."""

    def call(*words):
        subprocess.run([assay, *words, "--store", store], env=env, check=True, stdout=subprocess.DEVNULL)

    call("run", "toy", *BRIEF, "--batch", "1,2", "--runs", "3", "--name", "done")
    call("run", "toy", *BRIEF, "--batch", "1,2", "--runs", "2", "--lockstep", "--name", "pair")
    call("run", "toy", *BRIEF, "--batch", "4", "--runs", "1", "--name", "open")
    call("run", "toy", *BRIEF, "--batch", "4", "--runs", "4", "--name", "open", "--plan-only")
    slow = ["4s" if word == "20ms" else word for word in BRIEF]
    slow += ["--option", "pace=1", "--option", "base_ns=50000000", "--batch", "8", "--runs", "1"]
    call("run", "toy", *slow, "--name", "killed", "--plan-only")
    words = [assay, "agent", "--campaign", "killed", "--store", store, "--lease", "1", "--quiet"]
    agent = subprocess.Popen(words, env=env, start_new_session=True)
    while "leased" not in state(assay, store, env):
        time.sleep(0.1)
    os.killpg(agent.pid, signal.SIGKILL)
    agent.wait()


def state(assay, store, env):
    words = [assay, "show", "killed", "--fleet", "--json", "--store", store]
    shown = json.loads(subprocess.run(words, env=env, check=True, capture_output=True, text=True).stdout)
    return "leased" if shown["at_work"] else "ready"


def export(assay, store, env):
    words = [assay, "export", "--format", "jsonl", "--all-attempts", "--store", store]
    return subprocess.run(words, env=env, check=True, capture_output=True, text=True).stdout


def main():
    assay = str(pathlib.Path(sys.argv[1]).resolve() / "assay")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        env = {"PATH": os.environ["PATH"], "HOME": name, "TMPDIR": name, "ASSAY_HOST_LOCK": str(folder / "lock")}
        env["ASSAY_SPOOL"] = str(folder / "spool.db")
        fill(assay, str(folder / "old.db"), env)
        (HERE / "sqlite_1.jsonl").write_text(export(assay, str(folder / "old.db"), env))
        with sqlite3.connect(folder / "old.db") as database:
            version = database.execute("PRAGMA user_version").fetchone()[0]
            application = database.execute("PRAGMA application_id").fetchone()[0]
            dump = "\n".join(database.iterdump())
        text = f"PRAGMA user_version = {version};\nPRAGMA application_id = {application};\n{dump}\n"
        (HERE / "sqlite_1.sql").write_text(text)
        server = PostgresServer(folder / "pg").start()
        try:
            fill(assay, server.url(), env)
            (HERE / "postgres_2.jsonl").write_text(export(assay, server.url(), env))
            words = ["-h", str(server.folder), "-p", str(PORT), "-U", "owner", "-n", "assay", "postgres"]
            dump = subprocess.run([programs() / "pg_dump", *words], check=True, capture_output=True, text=True).stdout
            (HERE / "postgres_2.sql").write_text(dump)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
