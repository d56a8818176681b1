"""A second, independent reading of workers/PROTOCOL.md: a client that speaks it raw, with a deadline on everything."""

import json
import os
import pathlib
import select
import signal
import subprocess
import time

import jsonschema
import pytest
from threads import on_cpu_ns  # noqa: F401 - tests take it from here

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
# A program of ours is built; what stands on an environment runs from its sources.
FOLDERS = {
    path.parent.name: path.parent if "{environment}" in path.read_text() else BUILD / "workers" / path.parent.name
    for path in sorted((ROOT / "workers").glob("*/worker.json"))
}
FOLDERS.update({path.parent.name: path.parent for path in sorted((ROOT / "tests" / "workers").glob("*/worker.json"))})
LIMIT_SECONDS = 90  # for what takes one or two seconds on an idle machine
MOST_LINE_BYTES = 4 << 20

# TensorFlow takes many seconds to start, and JAX compiles all it runs. Of the tests that start them these are tried in
# continuous integration: one of each kind, and all that share one start. The rest is `full`.
IN_BRIEF = {
    "tensorflow": (
        "test_worker_json",
        "test_prepares_whatever_is_inert_or_unknown_and_measures",
        "test_measure_repeats_and_the_clock_goes_on",
        "test_seconds_end_a_measure",
        "test_no_seconds_still_take_one_step",
        "test_the_process_started_has_the_protocol_closed_on_exec",
        "test_phases_and_layers_have_a_value_for_each_step[tensorflow-train]",
        "test_the_output_of_the_last_step_is_that_of_evaluate",
        "test_a_setting_it_does_not_have_is_refused_by_name",
        "test_launch.py",
        "test_settings_are_applied_inert_or_refused_as_told",
        "test_one_runs[tensorflow-gemm-infer]",
        "test_the_sum_of_phases_explains_a_step_that_overlaps_nothing",
        "test_the_same_seed_gives_the_same_batches_on_every_framework",
        "test_value",
        "test_what_it_cannot_do_is_refused_by_name[precision]",
        "test_two_ranks_train_on_the_joint_batch[settings0]",
    ),
    "jax": (
        "test_worker_json",
        "test_prepares_whatever_is_inert_or_unknown_and_measures",
        "test_measure_repeats_and_the_clock_goes_on",
        "test_seconds_end_a_measure",
        "test_no_seconds_still_take_one_step",
        "test_the_process_started_has_the_protocol_closed_on_exec",
        "test_phases_and_layers_have_a_value_for_each_step[jax-train]",
        "test_the_output_of_the_last_step_is_that_of_evaluate",
        "test_a_setting_it_does_not_have_is_refused_by_name",
        "test_launch.py",
        "test_settings_are_applied_inert_or_refused_as_told",
        "test_one_runs[jax-gemm-infer]",
        "test_value",
        "test_what_it_cannot_do_is_refused_by_name[precision]",
        "test_two_ranks_train_on_the_joint_batch",
    ),
}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        for name, brief in IN_BRIEF.items():
            if name in item.nodeid and not any(part in item.nodeid for part in brief):
                item.add_marker(pytest.mark.full)


def schema(name):
    return json.loads((ROOT / "docs" / "formats" / (name + ".schema.json")).read_text())


VALIDATOR = jsonschema.Draft202012Validator(schema("protocol"))


def info(name):
    return json.loads((FOLDERS[name] / "worker.json").read_text())


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), "duplicate key among %s" % keys
    return dict(pairs)


def no_constants(name):
    raise AssertionError("%s is not JSON" % name)


def parse(line):
    return json.loads(line.decode("utf-8"), object_pairs_hook=no_duplicates, parse_constant=no_constants)


def shortened(value):
    """The same with long lists of times cut after checking them by hand: jsonschema takes 20 s for 600,000 numbers."""
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    if isinstance(value, list) and len(value) > 1000:
        assert all(type(item) is int and 0 <= item < 2**63 for item in value)
        return value[:10]
    return [shortened(item) for item in value] if isinstance(value, list) else value


def environment(name):
    """A worker's own environment, below ASSAY_ENVIRONMENTS."""
    if not os.environ.get("ASSAY_ENVIRONMENTS"):
        pytest.skip("ASSAY_ENVIRONMENTS is not set: the folder in which `assay worker install %s` put it" % name)
    folder = pathlib.Path(os.environ["ASSAY_ENVIRONMENTS"]) / ("%s-%s" % (name, info(name)["release"]))
    if not (folder / "installed.json").exists():
        pytest.skip("%s is not installed; run `assay worker install %s`" % (folder, name))
    return folder


def interpreter(name):
    """The Python of a worker's own environment."""
    return environment(name) / "bin" / "python"


def argv_of(name):
    argv = [part.replace("{folder}", str(FOLDERS[name])) for part in info(name)["argv"]]
    if "{environment}" in argv[0]:
        argv = [part.replace("{environment}", str(environment(name))) for part in argv]
    return argv


def add_buckets(buckets, more, samples):
    """(bytes, ns, hidden_ns) of each bucket, over the lines of a measure."""
    assert all(len(b["ns"]) == len(b["hidden_ns"]) == samples for b in more)
    buckets = buckets or [(b["bytes"], [], []) for b in more]
    assert [size for size, _, _ in buckets] == [b["bytes"] for b in more]
    return [(size, ns + b["ns"], hidden + b["hidden_ns"]) for (size, ns, hidden), b in zip(buckets, more)]


class Worker:
    """One worker process. Everything it says is checked against the schema unless told otherwise."""

    def __init__(self, name, checked=True, cwd=None, env=None):
        self.name = name
        self.checked = checked
        self.process = subprocess.Popen(
            argv_of(name), stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, cwd=cwd,
            env={**os.environ, **(env or {})},
            stderr=subprocess.PIPE if checked else subprocess.DEVNULL,
        )  # fmt: skip
        self.pending = b""

    def send(self, message):
        if self.checked:
            VALIDATOR.validate(message)
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def read_line(self, seconds=LIMIT_SECONDS):
        """The next line as bytes, or None at end of file."""
        deadline = time.monotonic() + seconds
        descriptor = self.process.stdout.fileno()
        while b"\n" not in self.pending:
            if not select.select([descriptor], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("no line within %s s" % seconds)
            chunk = os.read(descriptor, 1 << 16)
            if not chunk:
                assert self.pending == b"", "the last line has no end"
                return None
            self.pending += chunk
        line, _, self.pending = self.pending.partition(b"\n")
        assert len(line) <= MOST_LINE_BYTES
        return line

    def read(self, seconds=LIMIT_SECONDS):
        line = self.read_line(seconds)
        if line is None:
            return None
        message = parse(line)
        if self.checked:
            VALIDATOR.validate(shortened(message))
        return message

    def prepare(self, mode=None, batch=8, options=None, settings=None, network="toy", command=None,
                precision=None, generate=None, seconds=LIMIT_SECONDS, **others):  # fmt: skip
        mode, batch = mode or ("generate" if generate else "infer"), 1 if generate else batch
        precision = precision or ("fp64" if self.name == "toy_python" else "fp32")
        workload = {"network": network, "graph": None, "mode": mode, "batch": batch, "precision": precision}
        workload.update({"options": options or {}, "data": "memory", "command": command})
        if generate:
            workload["generate"] = generate
        message = {"type": "prepare", "protocol": 1, "workload": workload, "graph": None, "settings": settings or {}}
        message.update({"placement": {"device": "cpu", "ranks": 1}, "seed": 1, "rank": 0, "ranks": 1})
        message.update({"instance": 0, "instances": 1})
        message.update(others)
        self.send(message)
        return self.read(seconds)

    def measure(self, detail="step", seconds=1, max_samples=5, wait=LIMIT_SECONDS, **more):
        """Samples with phases and buckets, layers by node, and `done`; or the `error`. `wait`: seconds for a line."""
        self.send({"type": "measure", "detail": detail, "seconds": seconds, "max_samples": max_samples, **more})
        ns, tokens, phases, buckets, layers, lines = [], [], {}, [], {}, 0
        while True:
            message = self.read(wait)
            assert message is not None, "the worker ended instead of answering"
            if message["type"] == "error":
                return message
            if message["type"] == "done":
                assert message["samples"] == len(ns)
                assert message["begin_ns"] <= message["end_ns"]
                assert not tokens or len(tokens) == len(ns)
                message.update(ns=ns, tokens=tokens, phases=phases, buckets=buckets, layers=layers, lines=lines)
                return message
            lines += 1
            if message["type"] == "samples":
                assert not layers, "samples after layers"
                ns += message["ns"]
                tokens += message.get("tokens", [])
                for phase, values in message.get("phases", {}).items():
                    assert len(values) == len(message["ns"])
                    phases.setdefault(phase, []).extend(values)
                buckets = add_buckets(buckets, message.get("buckets", []), len(message["ns"]))
            else:
                assert message["type"] == "layers"
                for layer in message["layers"]:
                    assert layer["node"] not in layers, "a node came twice"
                    layers[layer["node"]] = (layer["forward_ns"], layer["backward_ns"])

    def close(self):
        """Ends it with `exit`; returns its exit code."""
        self.send({"type": "exit"})
        assert self.read_line() is None, "it said something after exit"
        return self.process.wait(LIMIT_SECONDS)

    def kill(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        stderr = b""
        if self.process.stderr and not self.process.stderr.closed:
            os.set_blocking(self.process.stderr.fileno(), False)  # an escaped child may hold it open
            stderr = self.process.stderr.read() or b""
            self.process.stderr.close()
        for pipe in (self.process.stdin, self.process.stdout):
            try:
                pipe.close()
            except BrokenPipeError:
                pass
        return stderr


@pytest.fixture
def start():
    """Starts workers by name and ends them all."""
    started = []

    def begin(name, **options):
        started.append(Worker(name, **options))
        return started[-1]

    yield begin
    for worker in started:
        worker.kill()
