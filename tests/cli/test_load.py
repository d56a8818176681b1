"""`assay load` against its built-in server: what is counted, judged and refused."""

import csv
import io
import json
import os
import pathlib
import socket
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
QUICK = ["--warm-up", "0s", "--no-certification"]


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
    assert all(key.encode() not in path.read_bytes() for path in tmp_path.glob("assay.db*"))


def test_a_run_is_a_record_as_all_others(load, assay, null_server):
    url = null_server("service=1ms") + "/v1/completions"
    named = ["--server", "toy==1.0", "--lateness", "10s"]
    argv = [url, "--rate", "50,100", "--requests", 70, "--output", 4, *named, *QUICK]
    found = load(*argv, "--runs", 2)
    assert [point["arrivals"]["rate_per_second"] for point in found["points"]] == [50, 50, 100, 100]
    assert len({point["arrivals"]["seed"] for point in found["points"]}) == 2
    shown = json.loads(assay("show", "--json").stdout)["results"]
    assert [(one["trial"]["workload"]["load"]["rate_per_second"], one["ok"]) for one in shown] == [(50, 2), (100, 2)]
    assert all(one["median_ns"] >= 1e6 and one["trial"]["worker"] == {"name": "toy", "release": "1.0"} for one in shown)
    records = [json.loads(line) for line in assay("export", "--format", "jsonl").stdout.splitlines()]
    for record in records:
        [rank] = record["ranks"]
        rows = list(csv.DictReader(io.StringIO(rank["load"]["stamps"])))
        assert len(rows) == 70 == len(rank["samples_ns"])
        latencies = [int(row["finished_ns"]) - int(row["due_ns"]) for row in rows]
        assert latencies == rank["samples_ns"]
        assert rank["load"]["point"]["output_tokens"] == 280
    # The same command measures again: a server may have changed, though its address has not.
    assert load(*argv)["campaign"] != found["campaign"]
    sides = [f"trial:{one['trial_id'][:8]}" for one in shown]
    assert "poisson 50/s" in assay("compare", *sides).stdout


def test_prompts_are_fresh_in_each_run(load, assay, tmp_path):
    """The same schedule twice: no prompt of the second was in the first."""
    seen = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer_all, args=(listener, seen), daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1/completions"
        for _ in range(2):
            load(url, "--rate", 100, "--requests", 10, "--no-stream", *QUICK)
    assert len(seen) == 20 and len(set(seen)) == 20


def answer_all(listener, seen):
    """Answers each request on a connection of its own and closes its own half with the last byte, without a word of
    it in the header; what comes on it later is swallowed, as servers do that linger."""
    body = b'{"usage":{"prompt_tokens":1,"completion_tokens":1}}'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    kept = []
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        request = b""
        while b"}" not in request:
            request += connection.recv(65536)
        seen.append(request.split(b"\r\n\r\n", 1)[1])
        connection.sendall(head + body)
        connection.shutdown(socket.SHUT_WR)
        kept.append(connection)


def test_a_connection_that_ended_with_its_answer_is_not_used_again(load):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=answer_all, args=(listener, []), daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1/completions"
        found = load(url, "--rate", 20, "--requests", 15, "--no-stream", "--timeout", "5s", *QUICK)
    assert found["points"][0]["outcomes"] == {"ok": 15}


def test_a_server_is_started_for_each_run_and_ended(load, assay):
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    command = f"{BUILD / 'assay'} load --null-server port={port},service=1ms"
    url = f"http://127.0.0.1:{port}/"
    found = load(url, "--start", command, "--rate", 100, "--requests", 20, "--runs", 2, *QUICK)
    assert [point["outcomes"] for point in found["points"]] == [{"ok": 20}, {"ok": 20}]
    assert load(url, "--rate", 100, "--requests", 5, *QUICK, code=4)["points"][0]["outcomes"] == {"cannot_connect": 5}
    failed = assay("load", url, "--start", "false", "--rate", 1, "--requests", 1, code=1).stderr
    assert "the server ended before it answered" in failed


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
        (["http://127.0.0.1:1/", "--rate", 1, "--start", "serve --api-key x"], "would be in every record"),
        (["http://127.0.0.1:1/", "--rate", 1, "--start-limit", "5s"], "--start-limit is for"),
        (["http://127.0.0.1:1/", "--rate", "1,2", "--stamps", "s.csv"], "--stamps is for one run"),
        (["http://127.0.0.1:1/", "--rate", 1, "--server", "==1"], "--server"),
        (["--null-server", "speed=1"], "is not valid"),
        ([], "which server?"),
    ],
)
def test_what_cannot_work_is_refused(assay, argv, said):
    if argv and argv[0].startswith("https"):
        argv = [*argv, "--rate", 1]
    assert said in assay("load", *argv, code=2).stderr
