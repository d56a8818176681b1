"""assay doctor on this machine, with disturbances that the tests make themselves."""

import fcntl
import hashlib
import json
import os
import pathlib
import pty
import re
import subprocess
import sys

import jsonschema
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
LIMIT_SECONDS = 60
SCHEMA = json.loads((ROOT / "docs/formats/doctor.schema.json").read_text())


# Eight threads give their process the largest share of a CPU, whoever else is on it; pbkdf2 runs without Python's lock.
SPIN = """
import hashlib, threading
for _ in range(8):
    threading.Thread(target=hashlib.pbkdf2_hmac, args=("sha256", b"", b"", 2**31 - 1)).start()
print("spinning", flush=True)
"""


def on_cpus(cpus, *arguments):
    return ["taskset", "-c", ",".join(map(str, cpus)), *arguments]


def command(folder, *arguments, **variables):
    env = {key: value for key, value in os.environ.items() if not key.startswith("ASSAY_") and key != "NO_COLOR"}
    return {
        "args": [BUILD / "assay", "doctor", *arguments],
        "cwd": folder,
        "env": {**env, "TERM": "xterm", "ASSAY_HOST_LOCK": str(folder / "host.lock"), **variables},
        "stdin": subprocess.DEVNULL,
    }


def examine(folder, cpus=None, **variables):
    """The examination as JSON, by a process that may use only `cpus`; it keeps its schema, whatever it finds."""
    call = command(folder, "--json", **variables)
    call["args"] = on_cpus(cpus or sorted(os.sched_getaffinity(0)), *call["args"])
    done = subprocess.run(**call, capture_output=True, check=False, text=True, timeout=LIMIT_SECONDS)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    return found


def finding(examination, code):
    [found] = [one for one in examination["findings"] if one["code"] == code]
    assert (found["why"] is None) == (found["severity"] == "ok")
    return found


@pytest.fixture
def two_cpus():
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")
    return cpus


def test_what_it_says_of_the_machine_is_what_python_sees(tmp_path):
    found = examine(tmp_path)
    assert found["identity"]["threads"] == len(os.sched_getaffinity(0))
    assert found["identity"]["architecture"] == os.uname().machine
    assert found["state"]["kernel"] == os.uname().release
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert found["about"]["memory_bytes"] == pages
    assert pages <= found["identity"]["memory_bytes"] <= pages * 1.125
    assert {worker["name"] for worker in found["workers"]} >= {"fake", "command"}


def test_the_id_is_the_hash_that_the_schema_promises(tmp_path):

    found = examine(tmp_path)

    def without_nulls(value):
        if isinstance(value, dict):
            return {key: without_nulls(one) for key, one in value.items() if one is not None}
        return [without_nulls(one) for one in value] if isinstance(value, list) else value

    # For what an identity holds, RFC 8785 is sorted keys without spaces.
    text = json.dumps(without_nulls(found["identity"]), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert found["platform"] == hashlib.sha256(text.encode()).hexdigest()[:32]


def test_fewer_cpus_are_another_platform_and_one_of_equal_ones_is_like_the_other(tmp_path, two_cpus):
    whole = examine(tmp_path)
    one = examine(tmp_path, two_cpus[:1])
    other = examine(tmp_path, two_cpus[1:2])
    assert finding(one, "cpuset")["severity"] == "note"
    assert f"({two_cpus[0]})" in finding(one, "cpuset")["seen"]
    assert one["platform"] != whole["platform"]
    if one["identity"] == other["identity"]:
        assert one["platform"] == other["platform"]


def test_a_busy_neighbour_is_named(tmp_path, two_cpus):
    spinning = subprocess.Popen(on_cpus(two_cpus[:1], sys.executable, "-c", SPIN), stdout=subprocess.PIPE)
    try:
        spinning.stdout.readline()
        found = finding(examine(tmp_path, two_cpus[:1]), "neighbours")
    finally:
        spinning.kill()
        spinning.wait()
        spinning.stdout.close()
    assert found["severity"] == "warning"
    assert f"({spinning.pid})" in found["seen"]


def test_a_host_lock_that_is_held_is_seen_and_looking_makes_no_file(tmp_path):
    assert finding(examine(tmp_path), "host_lock")["severity"] == "ok"
    assert list(tmp_path.iterdir()) == []
    with open(tmp_path / "host.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert finding(examine(tmp_path), "host_lock")["severity"] == "warning"


def test_a_broken_worker_is_warned_of(tmp_path):
    (tmp_path / "workers/bad").mkdir(parents=True)
    (tmp_path / "workers/bad/worker.json").write_text("{")
    found = finding(examine(tmp_path, ASSAY_WORKERS=str(tmp_path / "workers")), "workers")
    assert found["severity"] == "warning"
    assert "worker.json" in found["seen"]


def on_a_terminal(folder, **variables):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(**command(folder, **variables), stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 65536):
            seen += chunk
    except OSError:  # the other end is closed
        pass
    finally:
        os.close(ours)
    assert process.wait(LIMIT_SECONDS) == 0
    return seen.decode()


def test_colour_is_for_terminals_that_want_it(tmp_path):
    escape = re.compile(r"\x1b\[[0-9;]*m")
    assert escape.search(on_a_terminal(tmp_path))
    assert not escape.search(on_a_terminal(tmp_path, NO_COLOR="1"))
    assert not escape.search(on_a_terminal(tmp_path, TERM="dumb"))


def explained(folder, *words):
    done = subprocess.run(
        **command(folder, "--findings", *words), capture_output=True, check=False, text=True, timeout=LIMIT_SECONDS
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_every_finding_and_counter_of_this_machine_is_explained_as_it_is_said(tmp_path):
    known = json.loads(explained(tmp_path, "--json"))
    schema = json.loads((ROOT / "docs/formats/findings.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(known)
    here = examine(tmp_path)
    assert [one["name"] for one in known["counters"]] == [one["name"] for one in here["counters"]]
    for one in here["findings"]:
        of_code = [text for text in known["findings"] if text["code"] == one["code"]]
        assert of_code
        if one["severity"] != "ok":
            assert one["why"] in [text["why"] for text in of_code if text[one["severity"]]]


def test_no_source_makes_a_finding_but_from_the_table():
    """The table is what the page is written from: a finding made of literals would be on no page."""
    sources = [path for folder in ("assay", "cli") for path in (ROOT / folder).rglob("*.cpp")]
    made = {path.name for path in sources if re.search(r"\bFinding( \w+)?\{[^}]", path.read_text())}
    assert made == set()
    named = set(re.findall(r"FindingCase::(\w+)", "".join(p.read_text() for p in sources if "_test" not in p.name)))
    table = (ROOT / "assay/platform/machine/findings/cases.inc").read_text()
    assert named == set(re.findall(r"(?m)^FINDING\(\s*(\w+),", table))


def test_the_page_has_a_row_for_every_finding_and_so_has_the_terminal(tmp_path):
    known = json.loads(explained(tmp_path, "--json"))
    codes = [one["code"] for one in known["findings"]]
    assert len(set(codes)) == 19
    page = (ROOT / "docs/reference/findings.md").read_text().partition("## Counters")[0]
    assert re.findall(r"(?m)^\| `(\w+)` \|", page) == codes
    said = " ".join(explained(tmp_path).split())
    for one in known["findings"]:
        assert f"-> {one['mend']}" in said


def test_explaining_and_examining_are_asked_for_apart(tmp_path):
    for flag in ("--calibrate", "--load-rate"):
        call = command(tmp_path, "--findings", flag)
        done = subprocess.run(**call, capture_output=True, check=False, text=True, timeout=LIMIT_SECONDS)
        assert done.returncode == 2
        assert "--findings: examines nothing" in done.stderr
