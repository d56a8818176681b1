"""A tuner that is killed again and again decides as one that was left alone: it keeps no state but the store.

The fake worker's times are a function of trial and run, so that both measure the same. Kills come at random moments, 50
in all; a planted bug, which counts pairs by what it finds in the store, must be noticed.
"""

import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import time

import pytest

BUILD = pathlib.Path(os.environ["ASSAY_BUILD"])
KILLS = 50
COMMAND = [
    *("tune", "toy", "--worker", "fake", "--seconds", "0.1", "--warmup", "0.02", "--quiet", "--json", "--lease", "1"),
    *("--intra-op", "1,2,3,4,6,8", "--inter-op", "1,2,3,4", "--allocator", "null", "--option", "run_noise=.03"),
    *("--budget", "30", "--pairs", "3"),
]


def start(program, folder):
    folder.mkdir(exist_ok=True)
    env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
    env["ASSAY_HOST_LOCK"] = str(folder / "host.lock")
    return subprocess.Popen(
        [BUILD / program, *COMMAND], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def tuning(text):
    """What was found, without what is a time of this host."""
    found = json.loads(text)
    del found["created_utc"], found["results"]["search_seconds"]
    return found


def finish(program, folder):
    done = start(program, folder)
    out, err = done.communicate(timeout=300)
    assert done.returncode == 0, err
    return tuning(out)


def killed(program, folder, kills, chance):
    """Kills at random moments; all tunings that came to their end meanwhile, each then begun from an empty store."""
    ends = []
    done = 0
    while done < kills:
        running = start(program, folder)
        try:
            out, _ = running.communicate(timeout=chance.uniform(0.02, 0.9))
            ends.append(tuning(out))
            (folder / "assay.db").unlink()
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGKILL)
            running.communicate()
            done += 1
    return [*ends, finish(program, folder)]


def races(folder):
    """Records of lock-step pairs that are stored so far."""
    if not (folder / "assay.db").exists():
        return 0
    store = sqlite3.connect(f"file:{folder / 'assay.db'}?mode=ro", uri=True, timeout=30)
    try:
        return store.execute("SELECT count(*) FROM run WHERE pair IS NOT NULL AND state = 2").fetchone()[0]
    except sqlite3.OperationalError:  # its tables are not there yet
        return 0
    finally:
        store.close()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return finish("assay", tmp_path_factory.mktemp("undisturbed"))


def test_a_tuner_killed_at_50_moments_decides_the_same(undisturbed, tmp_path):
    assert all(end == undisturbed for end in killed("assay", tmp_path, KILLS, random.Random(7)))


def test_a_planted_bug_is_noticed(undisturbed, tmp_path):
    assert (
        finish("assay-planted-tuner_counts_the_store", tmp_path / "whole") == undisturbed
    )  # as long as nobody kills it
    running = start("assay-planted-tuner_counts_the_store", tmp_path)
    while races(tmp_path) < 5:
        assert running.poll() is None, "it ended before it had raced"
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert finish("assay-planted-tuner_counts_the_store", tmp_path) != undisturbed
