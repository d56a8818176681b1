"""`assay load` against its built-in server: what is counted, judged and refused."""

import csv
import json
import subprocess

import pytest
from conftest import BUILD

QUICK = ["--warm-up", "0s", "--no-certification"]


@pytest.fixture
def null_server():
    """Starts built-in servers; they are ended with the test."""
    started = []

    def start(service):
        argv = [BUILD / "assay", "load", "--null-server", service]
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process.stdout.readline().strip()

    yield start
    for process in started:
        process.terminate()
        assert process.wait(timeout=10) == 0
        process.stdout.close()


@pytest.fixture
def load(assay, validate):
    return lambda *argv, code=0: validate(json.loads(assay("load", *argv, "--json", code=code).stdout), "load")


def test_a_stream_is_counted_by_tokens_and_not_by_chunks(load, null_server):
    """Four tokens a chunk: 16 tokens are 4 chunks. Between first and last token are 3 gaps, for 15 tokens."""
    url = null_server("tokens=4,gap=10ms") + "/v1/completions"
    found = load(url, "--rate", 100, "--requests", 70, "--input", 7, "--output", 16, *QUICK)
    [point] = found["points"]
    assert point["outcomes"] == {"ok": 70}
    assert point["output_tokens"] == 70 * 16 and point["chunks"] == 70 * 4 and point["input_tokens"] == 70 * 7
    [tpot] = [times for times in point["times"] if times["metric"] == "tpot"]
    assert tpot["from_schedule"][0]["ns"] >= 2e6 * 0.9  # three gaps of 10 ms over 15 tokens
    assert found["stream"] and found["certification"] is None


def test_the_client_certifies_itself_with_each_result(load, null_server):
    found = load(null_server("service=1ms"), "--rate", 200, "--requests", 100, "--warm-up", "100ms")
    assert found["certification"]["outcomes"] == {"ok": 100}
    assert found["certification"]["client"]["cpu_per_request_ns"] > 0


def test_stamps_of_every_request_are_in_order(load, null_server, tmp_path):
    url = null_server("gap=1ms") + "/v1/chat/completions"
    load(url, "--rate", 200, "--requests", 50, "--output", 4, "--stamps", tmp_path / "stamps.csv", *QUICK)
    rows = list(csv.DictReader((tmp_path / "stamps.csv").open()))
    assert len(rows) == 50
    names = ["due", "noticed", "connected", "sent", "first_byte", "first_token", "last_token", "finished"]
    for row in rows:
        stamps = [int(row[f"{name}_ns"]) for name in names]
        assert stamps == sorted(stamps)
        assert row["outcome"] == "ok" and row["chunks"] == "4" and row["output_tokens"] == "4"


def test_a_limit_holds_is_broken_or_has_too_few_requests(load, null_server):
    url = null_server("service=5ms")

    def verdict(*argv, code):
        found = load(url, "--rate", 200, "--lateness", "10s", *argv, *QUICK, "--gate", code=code)
        return found["points"][0]["limits"][0]

    assert verdict("--requests", 100, "--slo", "latency p50<10s", code=0)["verdict"] == "holds"
    assert verdict("--requests", 100, "--slo", "latency p90<4ms", code=3)["verdict"] == "broken"
    few = verdict("--requests", 100, "--slo", "latency p99<10s", code=5)
    assert few["verdict"] == "too_few" and few["needed"] == 662


def test_a_late_client_gives_no_verdict(load, null_server):
    """No client is on time to the nanosecond."""
    limit = ["--slo", "latency p90<10s", "--lateness", "1ns", "--gate"]
    found = load(null_server("service=1ms"), "--rate", 200, "--requests", 100, *limit, *QUICK, code=5)
    assert found["points"][0]["limits"][0]["verdict"] == "generator_starved"


def test_a_server_that_is_not_there_is_an_outcome(load, assay):
    argv = ["http://127.0.0.1:1/", "--rate", 100, "--requests", 5, *QUICK]
    assert load(*argv, code=4)["points"][0]["outcomes"] == {"cannot_connect": 5}
    assert "no request was answered" in assay("load", *argv, code=4).stderr


def test_a_key_is_sent_and_in_no_output(assay, tmp_path, null_server):
    key = "sk-very-secret-key"
    (tmp_path / "key").write_text(key + "\n")
    url = null_server("service=1ms")
    files = ["--key-file", "key", "--stamps", "stamps.csv"]
    done = assay("load", url, "--rate", 100, "--requests", 5, *files, "--json", *QUICK)
    assert key not in done.stdout + done.stderr + (tmp_path / "stamps.csv").read_text()


def test_a_trace_sets_times_and_lengths(load, null_server, tmp_path):
    (tmp_path / "trace.csv").write_text("seconds,input,output\n5,3,2\n5.05,4,6\n")
    url = null_server("service=1ms") + "/v1/completions"
    [point] = load(url, "--arrivals", "trace", "--trace", "trace.csv", *QUICK)["points"]
    assert point["input_tokens"] == 7 and point["output_tokens"] == 8
    assert point["arrivals"]["trace_hash"]


def test_the_rate_of_a_server_is_bracketed(load, null_server):
    """One worker with 5 ms of service cannot serve more than 200 a second."""
    url = null_server("workers=1,service=5ms")
    limits = ["--slo", "latency p90<25ms", "--requests", 60, "--most-time", "8s", "--lateness", "1s"]
    found = load(url, "--find-rate", "--rate", 50, *limits, *QUICK)["found"]
    assert found["points"][0]["rate_per_second"] == 50
    assert found["rate_per_second"] is None or 50 < found["rate_per_second"] < 260


@pytest.mark.parametrize(
    "argv, said",
    [
        (["https://127.0.0.1/"], "does not speak TLS"),
        (["http://u:p@127.0.0.1/", "--rate", 1], "password in a URL"),
        (["http://127.0.0.1:1/"], "--rate is missing"),
        (["http://127.0.0.1:1/", "--rate", 1, "--clients", 3], "--clients is for --arrivals closed"),
        (["http://127.0.0.1:1/", "--rate", 1, "--model", "m"], "--model is for completions and chat"),
        (["http://127.0.0.1:1/", "--rate", 1, "--slo", "p99<1s"], "is not a valid limit"),
        (["http://127.0.0.1:1/", "--find-rate"], "--find-rate needs a limit"),
        (["http://127.0.0.1:1/", "--rate", 1, "--gate"], "--gate needs a limit"),
        (["http://127.0.0.1:1/", "--arrivals", "closed"], "needs --clients"),
        (["--null-server", "speed=1"], "is not valid"),
        ([], "which server?"),
    ],
)
def test_what_cannot_work_is_refused(assay, argv, said):
    if argv and argv[0].startswith("https"):
        argv = [*argv, "--rate", 1]
    assert said in assay("load", *argv, code=2).stderr
