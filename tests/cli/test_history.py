"""`assay history` on real stores: rounds and releases of a worker whose truth a test changes between them."""

import json
import math
import os
import pathlib
import random
import re
import sqlite3
import statistics
import subprocess
from xml.etree import ElementTree

import jsonschema
import pytest
import referencing

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
LIMIT_SECONDS = 60

# A step takes the time that the file `step_ns` beside it says: the same trial with another truth.
PROGRAM = f"""import os, sys
sys.path.insert(0, {str(ROOT / "workers" / "common")!r})
import assay_worker

class Drifting(assay_worker.Framework):
    def prepare(self, prepare):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "step_ns")) as file:
            self.step_ns = int(file.read())
        return assay_worker.Prepared(versions={{}}, parameters=0)

    def step(self):
        return self.step_ns

sys.exit(assay_worker.serve(Drifting))
"""


class User:
    """A folder with a store, and with as many releases of the worker `drifting` as are written."""

    def __init__(self, path):
        self.path = path
        (path / "tmp").mkdir()

    def write_worker(self, step_ns, release="1.0"):
        folder = self.path / "workers" / f"drifting-{release}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "worker.py").write_text(PROGRAM)
        (folder / "step_ns").write_text(str(step_ns))
        about = {"name": "drifting", "release": release, "protocol": 1, "argv": ["python3", "{folder}/worker.py"],
                 "networks": ["toy"], "details": ["step"], "settings": []}  # fmt: skip
        (folder / "worker.json").write_text(json.dumps(about))

    def assay(self, *arguments, expect=0, **more):
        env = {key: value for key, value in os.environ.items() if not key.startswith(("ASSAY_", "LC_", "LANG"))}
        env |= {"ASSAY_WORKERS": str(self.path / "workers"), "ASSAY_HOST_LOCK": str(self.path / "host.lock"),
                "TMPDIR": str(self.path / "tmp"), **more}  # fmt: skip
        done = subprocess.run([BUILD / "assay", *map(str, arguments)], cwd=self.path, env=env, text=True, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_SECONDS)  # fmt: skip
        assert done.returncode == expect, f"exit code {done.returncode}, not {expect}:\n{done.stdout}{done.stderr}"
        return done

    def measure(self, step_ns, release="1.0", *more):
        """One round; the id of its campaign."""
        self.write_worker(step_ns, release)
        self.assay("run", "toy", "--worker", f"drifting=={release}", "--runs", "1", "--seconds", "10ms",
                   "--warmup", "0", "--max-samples", "3", "--retries", "0", "--again", "--quiet", *more)  # fmt: skip
        with sqlite3.connect(self.path / "assay.db") as database:
            return database.execute("SELECT id FROM campaign ORDER BY key DESC LIMIT 1").fetchone()[0]

    def history(self, *more, expect=0):
        return json.loads(self.assay("history", "--json", *more, expect=expect).stdout)


def noisy(steps, seed=1):
    """Times around these, 0.3 % to and fro."""
    draw = random.Random(seed)
    return [round(step * math.exp(draw.gauss(0, 0.003))) for step in steps]


TIMES = noisy([1_000_000] * 6 + [1_100_000] * 6)


@pytest.fixture(scope="module")
def slower(tmp_path_factory):
    """Twelve rounds of one trial: 10 % slower from the 7th on. With the ids of the campaigns."""
    user = User(tmp_path_factory.mktemp("slower"))
    return user, [user.measure(step_ns) for step_ns in TIMES]


def test_the_first_bad_campaign_is_named(slower):
    user, campaigns = slower
    text = user.assay("history").stdout
    told = re.search(r"slower by (\d+\.\d) % \((\d+\.\d) to (\d+\.\d)\) from \d{4}-\d\d-\d\d on \(before: campaign "
                     r"(\w+) of [\d-]+\); first bad: campaign (\w+) of", text)  # fmt: skip
    assert told, text
    assert campaigns[5].startswith(told[4]) and campaigns[6].startswith(told[5])
    assert float(told[2]) <= 10 <= float(told[3]), "the truth lies in the interval"
    assert "______^^^^^^" in text, "without a UTF-8 locale the curve is ASCII"


def test_the_document_keeps_its_schema_and_has_every_point(slower):
    user, campaigns = slower
    history = user.history()
    schemas = {name: json.loads((ROOT / "docs/formats" / name).read_text())
               for name in ("history.schema.json", "trial.schema.json")}  # fmt: skip
    registry = referencing.Registry().with_contents(schemas.items())
    jsonschema.Draft202012Validator(schemas["history.schema.json"], registry=registry).validate(history)
    [series] = history["series"]
    assert [point["campaign"] for point in series["points"]] == campaigns
    assert [point["median_ns"] for point in series["points"]] == TIMES
    [change] = series["changes"]
    assert (change["first"], change["before"]) == (6, 5)
    # Of the points that were not set aside, the ratio of the geometric means.
    kept = [[math.log(p["median_ns"]) for p in side if not p["set_aside"]]
            for side in (series["points"][:6], series["points"][6:])]  # fmt: skip
    truth = math.exp(statistics.mean(kept[1]) - statistics.mean(kept[0]))
    assert change["ratio"] == pytest.approx(truth, rel=1e-9)


def test_the_gate_fails_on_a_slow_down_and_says_so_to_ci(slower):
    user, campaigns = slower
    user.assay("history", "--gate", "--junit", "out.xml", "--markdown", "out.md", expect=3)
    suites = ElementTree.parse(user.path / "out.xml").getroot()
    assert (suites.tag, suites.get("tests"), suites.get("failures")) == ("testsuites", "1", "1")
    [case] = suites.iter("testcase")
    assert "toy infer b1 on drifting 1.0" in case.get("name")
    assert f"first bad: campaign {campaigns[6][:8]}" in case.find("failure").get("message")
    assert "| **failed** | toy infer b1 on drifting 1.0" in (user.path / "out.md").read_text()
    user.assay("history", "--gate", "--least", "50%")


def test_a_slow_down_that_was_made_up_for_passes_the_gate(tmp_path):
    user = User(tmp_path)
    for step_ns in noisy([1_000_000] * 4 + [1_200_000] * 4 + [1_000_000] * 4):
        user.measure(step_ns)
    [series] = user.history("--gate")["series"]
    assert [change["first"] for change in series["changes"]] == [4, 8]
    assert series["changes"][0]["ratio"] > 1 > series["changes"][1]["ratio"]


def test_the_first_bad_release_is_named(tmp_path):
    user = User(tmp_path)
    releases = ["1.7", "1.8", "1.9", "1.10", "1.11rc1", "1.11", "1.11.1", "1.12"]
    times = dict(zip(releases, noisy([1_000_000] * 5 + [1_300_000] * 3)))
    for release in sorted(releases):  # measured in another order than released
        user.measure(times[release], release)
    text = user.assay("history", "--over", "releases", "--worker", "drifting").stdout
    told = re.search(r"slower by \S+ % \((\S+) to (\S+)\) from release 1\.11 on \(before: 1\.11rc1\); first bad", text)
    assert told and float(told[1]) <= 30 <= float(told[2]), text
    [series] = user.history("--over", "releases")["series"]
    assert [point["release"] for point in series["points"]] == releases
    assert len(user.history()["series"]) == 8, "over dates each release is a series of its own"
    one = user.history("--worker", "drifting==1.8")["series"]
    assert [series["trial"]["worker"]["release"] for series in one] == ["1.8"]


def test_few_releases_are_judged_by_runs_that_took_turns(tmp_path):
    user = User(tmp_path)
    for release, step_ns in (("1.0", 1_000_000), ("1.1", 1_003_000), ("1.2", 1_101_000)):
        user.write_worker(step_ns, release)
    together = ["drifting==1.0", "drifting==1.1", "drifting==1.2"]
    user.assay("run", "toy", "--worker", ",".join(together), "--runs", "6", "--seconds", "10ms", "--warmup", "0",
               "--max-samples", "3", "--retries", "0", "--quiet")  # fmt: skip
    [series] = user.history("--over", "releases")["series"]
    assert series["by_runs"] and series["missing"] == 0
    # Without noise within a release the change is sure; 1.1 is slower by 0.3 %, which is not told.
    [change] = series["changes"]
    assert (change["before"], change["first"]) == (1, 2)
    assert change["ratio"] == pytest.approx(1_101_000 / math.sqrt(1_000_000 * 1_003_000), rel=1e-9)


def test_too_few_points_are_counted_and_not_judged(tmp_path):
    user = User(tmp_path)
    for step_ns in (1_000_000, 1_000_000, 2_000_000):
        user.measure(step_ns)
    text = user.assay("history", "--gate", "--junit", "out.xml").stdout
    assert "3 of 8 points that it takes to judge; measure 5 more rounds" in text
    assert ElementTree.parse(user.path / "out.xml").getroot().get("skipped") == "1"


def test_runs_before_a_date_are_left_out(slower):
    user, campaigns = slower
    with sqlite3.connect(user.path / "assay.db") as database:
        started = [row[0] for row in database.execute("SELECT started_utc FROM record ORDER BY key")]
    minute = started[0][:16]
    assert len(user.history("--since", minute)["series"][0]["points"]) == len(campaigns)
    user.assay("history", "--since", "2999-12-31", expect=2)


def test_one_trial_and_its_series(slower):
    user, _ = slower
    [series] = user.history()["series"]
    identity = series["points"][0]["trial"]
    assert user.history("--trial", identity[:10])["series"] == [series]
    assert "there is no trial 'ffff'" in user.assay("history", "--trial", "ffff", expect=2).stderr


def test_text_of_a_store_breaks_no_document(tmp_path):
    user = User(tmp_path)
    user.measure(1_000_000, "1.0", "--env", "NOTE=planted")
    with sqlite3.connect(user.path / "assay.db") as database:  # assay run itself takes no control characters
        nasty = json.dumps(']]><b>&"|*x*\n\x01\x1b[31m\ufffe')[1:-1]
        database.execute("UPDATE trial SET json = replace(json, 'planted', ?)", (nasty,))
    user.assay("history", "--junit", "out.xml", "--markdown", "out.md")
    [case] = ElementTree.parse(user.path / "out.xml").getroot().iter("testcase")
    assert ']]><b>&"|*x*\n\\x01\\x1b[31m\\xef\\xbf\\xbe' in case.get("name")
    [row] = [line for line in (user.path / "out.md").read_text().splitlines() if line.startswith("| undecided")]
    assert row.count("|") == 4 and "<b>" not in row


def test_blocks_in_a_utf8_locale(slower):
    user, _ = slower
    assert "▁" in user.assay("history", LANG="C.UTF-8").stdout
    assert "▁" not in user.assay("history", LANG="C.UTF-8", LC_ALL="C").stdout


# Writes what it was given into files beside it, and ends as its first argument says.
LISTENER = """#!/usr/bin/env python3
import json, os, pathlib, sys, time
here = pathlib.Path(__file__).parent
alert = sys.stdin.read()
facts = {name: value for name, value in os.environ.items() if name.startswith("ASSAY_ALERT_")}
(here / "heard.json").write_text(json.dumps({"alert": alert, "facts": facts, "words": sys.argv[1:]}))
print("the team was told")
if sys.argv[1] == "sleep":
    time.sleep(600)
sys.exit(int(sys.argv[1]))
"""


def listener(path):
    (path / "alert").write_text(LISTENER)
    (path / "alert").chmod(0o755)
    return path / "heard.json"


def test_a_command_hears_of_a_slow_down(slower):
    user, campaigns = slower
    heard = listener(user.path)
    done = user.assay("history", "--gate", "--notify", "./alert 0 'to the team' \"it's $HOME\"", "--json", expect=3)
    assert json.loads(done.stdout)["series"], "what the command prints does not get into the JSON"
    assert done.stderr == "the team was told\n"
    told = json.loads(heard.read_text())
    assert told["words"] == ["0", "to the team", "it's $HOME"], "no shell has read it"
    alert = json.loads(told["alert"])
    schemas = {name: json.loads((ROOT / "docs/formats" / name).read_text())
               for name in ("alert.schema.json", "trial.schema.json")}  # fmt: skip
    registry = referencing.Registry().with_contents(schemas.items())
    jsonschema.Draft202012Validator(schemas["alert.schema.json"], registry=registry).validate(alert)
    [slowdown] = alert["slowdowns"]
    assert (slowdown["before"]["campaign"], slowdown["first"]["campaign"]) == (campaigns[5], campaigns[6])
    assert slowdown["low"] <= 1.1 <= slowdown["high"], "the truth is in the interval"
    facts = told["facts"]
    assert facts["ASSAY_ALERT_CAMPAIGN"] == campaigns[6] and facts["ASSAY_ALERT_SLOWDOWNS"] == "1"
    assert facts["ASSAY_ALERT_RATIO"] == f"{slowdown['ratio']:.4f}" and facts["ASSAY_ALERT_STORE"] == "assay.db"
    assert facts["ASSAY_ALERT_MESSAGE"] == slowdown["message"] and "first bad" in slowdown["message"]


def test_how_a_command_ends_is_said_and_the_gate_keeps_its_exit_code(slower):
    user, _ = slower
    listener(user.path)
    said = user.assay("history", "--gate", "--notify", "./alert 7", expect=3).stderr
    assert "--notify: './alert' ended with exit code 7" in said
    said = user.assay("history", "--gate", "--notify", "./alert sleep", "--notify-limit", "1s", expect=3).stderr
    assert "took longer than 1 s and was ended" in said
    (user.path / "broken").write_text("#!/nowhere/at/all\n")
    (user.path / "broken").chmod(0o755)
    said = user.assay("history", "--gate", "--notify", "./broken", expect=3).stderr
    assert "'./broken' cannot be started: No such file or directory" in said


def test_nothing_is_run_where_nothing_became_slower(slower, tmp_path):
    user, _ = slower
    heard = listener(user.path)
    heard.unlink(missing_ok=True)
    user.assay("history", "--gate", "--least", "50%", "--notify", "./alert 0")
    assert not heard.exists()
    user = User(tmp_path)
    heard = listener(user.path)
    for step_ns in noisy([1_200_000] * 5 + [1_000_000] * 5):
        user.measure(step_ns)
    [series] = user.history("--gate", "--notify", "./alert 0")["series"]
    assert series["changes"] and not heard.exists(), "faster is no alert"


def test_a_notify_that_cannot_work_is_refused_at_once(slower):
    user, _ = slower
    listener(user.path)
    for words, reason in [
        (["--notify", "./alert 0"], "Add --gate"),
        (["--gate", "--notify", "./nowhere"], "'./nowhere' is not a program that can be started"),
        (["--gate", "--notify", "'./alert 0"], "has a quote that is not closed"),
        (["--gate", "--notify", "  "], "names no program"),
        (["--gate", "--notify-limit", "5s"], "there is none"),
        (["--gate", "--notify", "./alert 0", "--notify-limit", "2h"], "is outside 100ms to 1h"),
    ]:
        assert reason in user.assay("history", *words, expect=2).stderr
