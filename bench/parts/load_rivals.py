"""AIPerf and GuideLLM at the built-in server of `assay load`: CPU time of a request, and how late they send.

Both count tokens on their own side, and take a tokenizer from a hub by its name. Here they are given a folder with one
that was made on the spot: each byte is a token. The address of the hub is one at which nobody answers. HF_HUB_OFFLINE
is not set: with it AIPerf takes no folder."""

import json
import os
import statistics
import subprocess

from parts import figure

INPUT, OUTPUT = 128, 16
LIMIT_SECONDS = 300
# The longer run less the shorter one is requests alone: programs take seconds to start.
SHORT, LONG = 4, 16  # seconds
MAKE_TOKENIZER = """
import sys
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast
letters = sorted(pre_tokenizers.ByteLevel.alphabet())
made = Tokenizer(models.BPE({letter: number for number, letter in enumerate(letters)}, []))
made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
made.decoder = decoders.ByteLevel()
end = letters[0]
PreTrainedTokenizerFast(tokenizer_object=made, bos_token=end, eos_token=end, pad_token=end).save_pretrained(sys.argv[1])
"""


def python_of(name):
    return figure.ROOT / "build" / name / "bin" / "python"


def environment(place):
    return place.environment(HF_ENDPOINT="http://127.0.0.1:9", HOME=place.path, PYTHONWARNINGS="ignore")


def ran(argv, place):
    """Seconds of CPU that a program and all that it waited for took. Raises RuntimeError with its last words."""
    log = place.path / "rival.log"
    with open(log, "w", encoding="utf-8") as out:
        process = subprocess.Popen([str(word) for word in argv], cwd=place.path, env=environment(place), stdout=out,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)  # fmt: skip
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        words = log.read_text(errors="replace").strip().splitlines()[-20:]
        raise RuntimeError(f"{argv[0]} ended with {process.returncode}: " + "\n".join(words))
    return used.ru_utime + used.ru_stime


def aiperf(place, url, rate, count):
    """CPU seconds, and of each request (late ns, ns to the first token)."""
    folder = place.path / f"aiperf-{count}"
    argv = ["timeout", LIMIT_SECONDS, python_of("aiperf"), "-m", "aiperf", "profile", "--model", "toy", "--url", url]
    argv += ["--endpoint-type", "completions", "--streaming", "--tokenizer", place.path / "tokenizer"]
    argv += ["--request-rate", rate, "--arrival-pattern", "constant", "--request-count", count, "--workers-max", 1]
    argv += ["--synthetic-input-tokens-mean", INPUT, "--output-tokens-mean", OUTPUT, "--ui-type", "none"]
    used = ran([*argv, "--artifact-dir", folder], place)
    [export] = folder.rglob("profile_export.jsonl")
    found = []
    for line in export.read_text().splitlines():
        row = json.loads(line)
        stamps, first = row["metadata"], row["metrics"].get("time_to_first_token")
        if row.get("error") is None and first is not None:
            found.append((stamps["request_start_ns"] - stamps["credit_issued_ns"], first["value"] * 1e6))
    return used, found


def guidellm(place, url, rate, count):
    """The same of GuideLLM, whose whole question is a file."""
    results = place.path / f"guidellm-{count}.json"
    spec = {
        "backend": {"kind": "openai_http", "target": url, "model": "toy", "request_format": "/v1/completions"},
        "profile": {"kind": "constant", "rate": [rate]},
        "constraints": [{"kind": "max_requests", "count": count}],
        "tokenizer": {"kind": "huggingface_auto", "model": str(place.path / "tokenizer")},
        "data": [{"kind": "synthetic_text", "prompt_tokens": INPUT, "output_tokens": OUTPUT}],
        "outputs": [{"kind": "json", "path": str(results)}],
    }
    question = place.path / "guidellm-spec.json"
    question.write_text(json.dumps({"spec": spec}))
    argv = ["timeout", LIMIT_SECONDS, python_of("guidellm"), "-m", "guidellm", "run", "--config", question]
    used = ran([*argv, "--disable-console"], place)
    [benchmark] = json.loads(results.read_text())["benchmarks"]
    found = []
    for row in benchmark["requests"]["successful"]:
        at = row["info"]["timings"]
        late = (at["request_start"] - at["targeted_start"]) * 1e9
        found.append((late, row["time_to_first_token_ms"] * 1e6))
    return used, found


RIVALS = {"aiperf": aiperf, "guidellm": guidellm}


def p99(values):
    return sorted(values)[min(int(0.99 * len(values)), len(values) - 1)]


def measure(place, serve, rate, name):
    """What one rival takes for a request of 16 paced chunks at this rate, each run at a server of its own."""
    made = place.path / "tokenizer"
    if not made.exists():
        ran([python_of(name), "-c", MAKE_TOKENIZER, made], place)
    used = []
    for seconds in (SHORT, LONG):
        with serve() as server:
            cpu, found = RIVALS[name](place, server.url, rate, rate * seconds)
        if len(found) != rate * seconds:
            raise RuntimeError(f"{name}: {len(found)} of {rate * seconds} requests were answered")
        used.append(cpu)
    return {
        "cpu_us": round((used[1] - used[0]) / (rate * (LONG - SHORT)) * 1e6, 1),
        "late_p99_ms": round(p99([late for late, _ in found]) * 1e-6, 3),
        "ttft_median_ms": round(statistics.median(first for _, first in found) * 1e-6, 3),
    }
