"""What is printed where numbers deserve less trust: disturbed runs, adjusted ratios, gains that are not proved.

No test can order a host to steal. Runs of the fake worker, whose law gives every number, are measured; then what the
store says of them is changed as such a host would have made it."""

import contextlib
import json
import sqlite3

import pytest
from test_cli import assay

SHORT = ["--worker", "fake", "--option", "noise=0", "--seconds", "20ms", "--warmup", "0", "--retries", "0", "--quiet"]
STOLEN = {"code": "steal", "message": "the hypervisor took 17 % of the CPU time", "passing": True}


@contextlib.contextmanager
def database(folder):
    with contextlib.closing(sqlite3.connect(folder / "assay.db")) as found, found:
        yield found


def change_runs(folder, change, campaign=None):
    """Passes each record to change(index, digest), which returns columns to set; they and the digest are kept."""
    chosen = """SELECT record.rowid, run.idx, record.digest FROM record JOIN run ON run.key = record.run
                JOIN campaign ON campaign.key = run.campaign WHERE campaign.name = coalesce(?, campaign.name)"""
    with database(folder) as found:
        rows = found.execute(chosen, (campaign,)).fetchall()
        assert rows
        for key, index, text in rows:
            digest = json.loads(text)
            columns = {**change(index, digest), "digest": json.dumps(digest)}
            names = ", ".join(f"{name} = ?" for name in columns)
            found.execute(f"UPDATE record SET {names} WHERE rowid = ?", (*columns.values(), key))


def steal(_, digest):
    digest["reasons"] = [STOLEN]
    return {"trusted": 0}


def ran(folder, *arguments, code=0):
    done = assay(folder, *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def two(tmp_path):
    """300 us before, 600 us after; 6 runs each."""
    for name, scale in (("before", "1"), ("after", "2")):
        ran(tmp_path, "run", "toy", *SHORT, "--runs", "6", "--env", f"ASSAY_FAKE_SCALE={scale}", "--name", name)
    return tmp_path


def test_where_every_run_was_disturbed_medians_are_there_and_flagged(two):
    change_runs(two, steal)
    shown = ran(two, "show", "before")
    assert "300 us" in shown and "6 (6 disturbed)" in shown
    assert "6 of 6 runs steal" in shown and STOLEN["message"] in shown
    compared = ran(two, "compare", "before", "after")
    assert "300 us *" in compared and "600 us *" in compared and "undecided" in compared
    assert "* Every run was disturbed: the medians are those of disturbed runs" in compared


def test_a_gate_over_disturbed_runs_alone_is_undecided(two):
    change_runs(two, steal)
    assert "Gate: UNDECIDED" in ran(two, "compare", "before", "after", "--gate", "3%", code=5)


def test_a_gate_with_five_good_runs_of_six_is_undecided_and_names_the_next_command(two):
    change_runs(two, lambda index, digest: steal(index, digest) if index == 0 else {}, campaign="after")
    compared = ran(two, "compare", "before", "after", "--gate", "3%", code=5)
    assert "Gate: UNDECIDED" in compared and "1 runs of the second were disturbed and left out" in compared
    assert "Next: assay compare before after --gate '3%' --run --runs" in compared


def test_each_run_of_a_trial_says_what_disturbed_it(two):
    change_runs(two, steal)
    trial = ran(two, "export", "--format", "csv").splitlines()[1].split(",")[1]
    assert f"disturbed by steal: {STOLEN['message']}" in ran(two, "show", "--trial", trial)


def test_a_ratio_that_was_adjusted_for_the_speed_of_the_host_is_marked(two):
    """The host ran at six speeds, by the probe of each run, and both sides follow them: 600 us over 300 us at any."""
    speeds = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5]

    def slow_down(scale):
        def change(index, digest):
            digest["probe_ns"] = 1e6 * speeds[index]
            # A share of .1 % besides: times that followed the probe exactly would leave nothing to judge by.
            return {"median_ns": int(300_000 * scale * speeds[index] * (1 + 0.001 * (-1) ** index))}

        return change

    assert "~" not in ran(two, "compare", "before", "after")
    change_runs(two, slow_down(1), campaign="before")
    change_runs(two, slow_down(2), campaign="after")
    compared = ran(two, "compare", "before", "after")
    assert "~2.000" in compared and "~ Adjusted: the host's own speed" in compared
    assert "host's speed taken off" in compared


def test_a_gain_that_is_not_proved_is_not_called_the_best(tmp_path):
    """Measured again, the fastest candidate gained 0.998 (0.970 to 1.026)."""
    ran(tmp_path, "tune", "toy", *SHORT, "--intra-op", "1,4", "--inter-op", "1", "--allocator", "null", "--budget", "8",
        "--pairs", "2", "--name", "best")  # fmt: skip
    assert "Best: " in ran(tmp_path, "tune", "--tuned", "best")
    with database(tmp_path) as found:
        [(key, text)] = found.execute("SELECT key, json FROM artifact WHERE kind = 'tuning'").fetchall()
        tuning = json.loads(text)
        for gain in tuning["results"]["gains"]:
            if gain["baseline"] == "framework-default":
                gain["gain"] |= {"value": 0.998, "low": 0.97, "high": 1.026}
        found.execute("UPDATE artifact SET json = ? WHERE key = ?", (json.dumps(tuning), key))
    shown = ran(tmp_path, "tune", "--tuned", "best")
    assert "No proved gain; keep the default." in shown and "Best: " not in shown
    assert "0.998x" in shown and "0.970 to 1.026" in shown
