"""Speaks to one worker without the core between, as workers/PROTOCOL.md says: for figures that watch its process."""

import json
import os
import subprocess
import threading

LIMIT_SECONDS = 300


class Failed(Exception):
    """The worker answered with an error, or ended."""


class Worker:
    """`info`: one entry of `assay worker list --json`. Has only the variables that a run gives it, and `env`."""

    def __init__(self, info, env=None):
        places = {"{folder}": info["folder"], "{environment}": info["environment_folder"] or ""}
        argv = info["argv"]
        for place, folder in places.items():
            argv = [part.replace(place, folder) for part in argv]
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
        self._process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**kept, **(env or {})}
        )
        self.pid = self._process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.communicate()

    def prepare(self, graph, mode, batch, settings):
        workload = {"network": graph["name"], "mode": mode, "batch": batch, "precision": "fp32", "options": {}}
        message = {"type": "prepare", "protocol": 1, "workload": workload, "graph": graph, "settings": settings}
        message |= {"placement": {"device": "cpu"}, "seed": 1, "rank": 0, "ranks": 1, "instance": 0, "instances": 1}
        self._send(message)
        return self._read()

    def prepare_generation(self, path, sha256, generate, precision="file", settings=None, seed=1):
        """`path`: of a GGUF file; `generate` as in the workload."""
        workload = {"network": path, "mode": "generate", "batch": 1, "precision": precision, "options": {}}
        workload["generate"] = generate
        message = {"type": "prepare", "protocol": 1, "workload": workload, "settings": settings or {}}
        message |= {"file": {"path": path, "function": None, "hash": sha256[:32]}, "placement": {"device": "cpu"}}
        message |= {"seed": seed, "rank": 0, "ranks": 1, "instance": 0, "instances": 1}
        self._send(message)
        return self._read()

    def prepare_learning(self, graph, batch, options, values, settings=None, seed=1):
        """`options`: how digits are learnt; `values`: path of a file of the first weights."""
        workload = {"network": graph["name"], "mode": "train", "batch": batch, "precision": "fp32", "data": "digits"}
        workload["options"] = options
        message = {"type": "prepare", "protocol": 1, "workload": workload, "graph": graph, "settings": settings or {}}
        message |= {"placement": {"device": "cpu"}, "seed": seed, "rank": 0, "ranks": 1, "instance": 0, "instances": 1}
        self._send(message | {"values": values})
        return self._read()

    def learn(self, steps):
        """Losses of so many steps."""
        self._send({"type": "measure", "detail": "step", "seconds": 1e5, "max_samples": steps})
        while self._read()["type"] != "done":
            pass
        self._send({"type": "score"})
        return self._read()["losses"]

    def evaluate(self, path):
        """Has the worker write what it computes there."""
        self._send({"type": "evaluate", "output": path, "updates": 0, "learning_rate": 0, "momentum": 0})
        return self._read()

    def measure_answers(self, steps):
        """Times of so many whole answers, and of the tokens of each."""
        self._send({"type": "measure", "detail": "step", "seconds": 1e5, "max_samples": steps})
        ns, tokens = [], []
        while (answer := self._read())["type"] != "done":
            ns += answer["ns"]
            tokens += answer["tokens"]
        return ns, tokens

    def measure(self, seconds):
        """Takes plain steps for so long. The last answer: how many, and the clock before and after them."""
        self._send({"type": "measure", "detail": "step", "seconds": seconds, "max_samples": 1_000_000})
        while (answer := self._read())["type"] != "done":
            pass
        return answer

    def _send(self, message):
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _read(self):
        watchdog = threading.Timer(LIMIT_SECONDS, self._process.kill)
        watchdog.start()
        line = self._process.stdout.readline()
        watchdog.cancel()
        if not line:
            raise Failed("it ended with %d, or said nothing for %d s" % (self._process.wait(), LIMIT_SECONDS))
        answer = json.loads(line)
        if answer["type"] == "error":
            raise Failed(answer["message"])
        return answer
