"""How the store's costs grow with the number of runs in it: planning, opening, and looking at one trial."""

import contextlib
import fcntl
import json
import os
import pathlib
import resource
import signal
import sqlite3
import statistics
import subprocess
import sys
import time

from parts import figure

RUNS = 10
TRIALS = (100, 1_000, 10_000)
GOALS_SECONDS = {"plan": 2, "open": 2, "show --trial": 0.2}
QUICK = ["--max-samples", 10, "--warmup", 0, "--retries", 0]
CHOSEN = 7  # the batch whose trial also has records


@contextlib.contextmanager
def host_lock_held(env):
    """While the host's lock is ours, `assay run` plans, says that it waits, and measures nothing."""
    fd = os.open(env["ASSAY_HOST_LOCK"], os.O_RDWR | os.O_CREAT, 0o644)
    fcntl.flock(fd, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(fd)


def plan_seconds(argv, env):
    """Wall and CPU seconds from the start of `assay run` until its plan is committed and it waits for the host."""
    begin = time.perf_counter()
    process = subprocess.Popen(argv, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = b""
    while b"waiting: another run has the host" not in said:
        line = process.stderr.readline()
        said += line
        if not line:
            sys.exit(f"assay run ended where it should wait: {said.decode(errors='replace')}")
    wall = time.perf_counter() - begin
    cpu = int(pathlib.Path(f"/proc/{process.pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    return wall, cpu


def children_seconds():
    """CPU time of all processes started from here that have ended, with all that they started and waited for."""
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


def seconds_of(action):
    """Wall and CPU seconds."""
    wall, cpu = time.perf_counter(), children_seconds()
    action()
    return time.perf_counter() - wall, children_seconds() - cpu


def seconds_to_run(argv, env):
    return seconds_of(lambda: figure.run(argv, env))


def campaign(trials, *more):
    batches = f"1-{trials}+1" if trials > 1 else str(CHOSEN)
    flags = ["run", "toy", "--worker", "fake", "--batch", batches, "--runs", RUNS, *QUICK, *more]
    return [str(part) for part in (figure.ASSAY, *flags)]


def check_planned(store, trials):
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        counted = db.execute("SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM trial)").fetchone()
    if counted != (trials * RUNS, trials):
        sys.exit(f"{store} should hold {trials} trials of {RUNS} runs, but holds {counted}")


def fill_with_records(store):
    """Gives every run a copy of one record, as if all had been measured. Only a figure may write to a store so."""
    with contextlib.closing(sqlite3.connect(store)) as db:
        names = [row[1] for row in db.execute("PRAGMA table_info(record)") if row[1] not in ("key", "run")]
        copied = ", ".join(f"one.{name}" for name in names)
        db.execute(
            f"INSERT INTO record(run, {', '.join(names)}) SELECT run.key, {copied} FROM run, "
            "(SELECT * FROM record LIMIT 1) AS one WHERE run.state = 0"
        )
        db.execute("UPDATE run SET state = 2 WHERE state = 0")
        db.commit()


def measure_once(place, env, trials, trial_id, fill):
    """Wall and CPU seconds by column for one new store of this size."""
    store = place.path / f"grown-{trials}.db"
    for path in place.path.glob(f"{store.name}*"):
        path.unlink()
    took = {"expand": seconds_to_run(campaign(trials, "--dry-run"), env)}
    with host_lock_held(env):
        took["plan"] = plan_seconds(campaign(trials, "--store", store), env)
        check_planned(store, trials)
        took["plan again"] = plan_seconds(campaign(trials, "--store", store), env)
    # One of its trials is also the only one of a small campaign, which is really measured.
    figure.run(campaign(1, "--name", "small", "--quiet", "--store", store), env)
    if fill:
        fill_with_records(store)
    took["open"] = seconds_to_run([figure.ASSAY, "show", "small", "--json", "--store", store], env)
    took["show all"] = seconds_to_run([figure.ASSAY, "show", "toy", "--store", store], env)
    took["show --trial"] = seconds_to_run([figure.ASSAY, "show", "--trial", trial_id, "--store", store], env)
    return took


def print_table(title, table):
    """Ten times the runs should take at most ten times as long."""
    columns = list(next(iter(table.values())))
    print(f"\n{title}\n{'runs':>9}" + "".join(f"{name:>20}" for name in columns))
    above = None
    for trials, row in table.items():
        cells = (f"{row[name]:.3f} s" + (f" x{row[name] / above[name]:4.1f}" if above else " " * 6) for name in columns)
        print(f"{trials * RUNS:9}" + "".join(f"{cell:>20}" for cell in cells))
        above = row


def wall_medians(rounds):
    """Of several rounds of {trials: {column: (wall, cpu)}}."""
    return {
        trials: {name: statistics.median(one[trials][name][0] for one in rounds) for name in row}
        for trials, row in rounds[0].items()
    }


def growth(place, env, repeats, full):
    """Prints the tables; goals as (name, wall and CPU seconds of each repetition with the most runs, goal)."""
    plan = json.loads(figure.run(campaign(1, "--dry-run", "--json"), env).stdout)
    trial_id = plan["trials"][0]["trial_id"]
    goals = []
    for fill in (False, True) if full else (False,):
        rounds = [
            {trials: measure_once(place, env, trials, trial_id, fill) for trials in TRIALS} for _ in range(repeats)
        ]
        state = "every run with a record" if fill else "planned only"
        print_table(f"growth of a store, {state}: medians, and how many times the row above", wall_medians(rounds))
        name = f"{TRIALS[-1] * RUNS} runs, {state}"
        for column, goal in GOALS_SECONDS.items():
            goals.append((f"{column}: {name}, s", [one[TRIALS[-1]][column] for one in rounds], goal))
    return goals
