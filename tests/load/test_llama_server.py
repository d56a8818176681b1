"""`assay load` against llama.cpp's server with random weights: tokens and totals are those that the server counts."""

import csv
import io
import json
import os
import pathlib
import socket
import subprocess
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
PYTHON = ROOT / "build" / "llama" / "bin" / "python"
PROGRAM = pathlib.Path(__file__).with_name("random_llama.py")
INPUT, OUTPUT = 32, 16
RATES = (2, 5, 10, 20)

pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not PYTHON.exists(), reason=f"{PYTHON.parent.parent} is not there: see random_llama.py"),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "random.gguf"
    subprocess.run([PYTHON, PROGRAM, "write", path], check=True)
    return path


@pytest.fixture
def port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture
def assay(tmp_path):
    def call(*argv, code=0):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
        env["ASSAY_NO_HOST_LOCK"] = "true"
        argv = [BUILD / "assay", *map(str, argv)]
        done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == code, f"exit {done.returncode}: {done.stdout}{done.stderr}"
        return done.stdout

    return call


@pytest.fixture
def server(model, port):
    """A server that stays through all rates."""
    with subprocess.Popen(
        [PYTHON, PROGRAM, "serve", model, str(port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout.readline().startswith("http"), "the server did not start"
        yield f"http://127.0.0.1:{port}"
        process.kill()


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ("small", {"hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 128, "torch_dtype": "float16"}),
        ("medium", {"hidden_size": 512, "num_hidden_layers": 12, "intermediate_size": 1408, "torch_dtype": "float32"}),
    ],
)
def test_the_config_of_a_file_is_what_was_written(tmp_path, size, said):
    path = tmp_path / "random.gguf"
    subprocess.run([PYTHON, PROGRAM, "write", path, size], check=True)
    done = subprocess.run([PYTHON, PROGRAM, "config", path], check=True, capture_output=True, text=True)
    config = json.loads(done.stdout)
    assert config | said == config
    assert config["vocab_size"] == 2048 and not config["tie_word_embeddings"]


def counted_by(url):
    """Tokens that the server has read and written, by its own metrics: those of its prefix cache were not read."""
    with urllib.request.urlopen(f"{url}/metrics", timeout=30) as answer:
        lines = [line.split() for line in answer.read().decode().splitlines() if line.startswith("llamacpp:")]
    value = {name.removeprefix("llamacpp:"): float(number) for name, number in lines}
    return value["prompt_tokens_total"], value["tokens_predicted_total"], value["prompt_tokens_cached_total"]


def stamps_of(assay):
    rows = []
    for line in assay("export", "--format", "jsonl").splitlines():
        [rank] = json.loads(line)["ranks"]
        rows += csv.DictReader(io.StringIO(rank["load"]["stamps"]))
    return rows


FORM = ["--input", INPUT, "--output", OUTPUT, "--ignore-eos", "--no-certification"]


def test_totals_are_those_of_the_servers_own_metrics(assay, server):
    flags = ["--rate", ",".join(map(str, RATES)), "--duration", "4s", "--server", "llama.cpp", "--json"]
    found = json.loads(assay("load", f"{server}/v1/completions", *FORM, *flags))
    assert [point["arrivals"]["rate_per_second"] for point in found["points"]] == list(RATES)
    for point in found["points"]:
        assert set(point["outcomes"]) == {"ok"}
        assert point["output_tokens"] == OUTPUT * point["requests"]
        assert point["input_tokens"] == INPUT * point["requests"]  # a word is a token of this vocabulary
        assert point["chunks"] <= point["output_tokens"]
    rows = stamps_of(assay)
    assert len(rows) >= sum(point["requests"] for point in found["points"])
    ours = [sum(int(row[name]) for row in rows) for name in ("input_tokens", "output_tokens", "cached_tokens")]
    read, written, cached = counted_by(server)
    assert ours[1] == pytest.approx(written, rel=0.01)
    assert ours[0] - ours[2] == pytest.approx(read, rel=0.01)
    assert ours[2] == pytest.approx(cached, rel=0.01)


def test_chat_and_whole_answers_are_counted_too(assay, server):
    for path, flags in (("chat/completions", []), ("completions", ["--no-stream"])):
        argv = [f"{server}/v1/{path}", *FORM, *flags, "--rate", 5, "--requests", 10, "--warm-up", "0s", "--json"]
        [point] = json.loads(assay("load", *argv))["points"]
        assert point["outcomes"] == {"ok": 10} and point["output_tokens"] == 10 * OUTPUT


def test_each_run_has_a_server_of_its_own(assay, model, port):
    """Fresh processes count from 0: no prompt of the second run can be known to its server."""
    command = f"{PYTHON} {PROGRAM} serve {model} {port}"
    argv = [f"http://127.0.0.1:{port}/v1/completions", "--start", command, *FORM, "--rate", 5, "--requests", 10]
    found = json.loads(assay("load", *argv, "--warm-up", "0s", "--runs", 2, "--json"))
    assert [point["outcomes"] for point in found["points"]] == [{"ok": 10}, {"ok": 10}]
    with socket.socket() as one:
        assert one.connect_ex(("127.0.0.1", port)) != 0, "the server is still there"
    assert str(port) in assay("show")
