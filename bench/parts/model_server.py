"""Servers of models on a free port of the loopback, as processes of the figure that needs one."""

import json
import os
import pathlib
import selectors
import socket
import subprocess

from . import figure

PYTHON = figure.ROOT / "build" / "llama" / "bin" / "python"
LLAMA, VLLM = (figure.ROOT / "tests" / "load" / f"random_{name}.py" for name in ("llama", "vllm"))
WRITE_SECONDS = 120


def missing():
    """Why there can be no model and no llama.cpp, or None."""
    return None if PYTHON.exists() else f"{PYTHON} is not there; see tests/load/random_llama.py"


def write(path, size="small"):
    """A model with random weights."""
    subprocess.run([PYTHON, LLAMA, "write", path, size], check=True, timeout=WRITE_SECONDS)


def config(path):
    """The fields of its config.json that sizes follow from."""
    argv = [PYTHON, LLAMA, "config", path]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=WRITE_SECONDS, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{path} cannot be read as a model: {done.stderr}")
    return json.loads(done.stdout)


class ModelServer:
    """A program that prints its address when it answers, and closes its output where it ends before that. It is ended
    with the block."""

    def __init__(self, name, argv_at, start_seconds, env=None, log=None):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = str(one.getsockname()[1])
        self.url = f"http://127.0.0.1:{port}"
        with open(log or os.devnull, "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(argv_at(port), env=env, stdout=subprocess.PIPE, stderr=errors, text=True)
        if not self._said_address(start_seconds):
            self.__exit__()
            words = pathlib.Path(log).read_text(errors="replace")[-4000:] if log else ""
            raise SystemExit(f"{name} did not start\n{words}".rstrip())

    def _said_address(self, seconds):
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            return bool(ready.select(seconds)) and bool(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


class LlamaServer(ModelServer):
    """llama.cpp."""

    def __init__(self, model, threads=1, sequences=4):
        argv = [PYTHON, LLAMA, "serve", pathlib.Path(model)]
        super().__init__("llama.cpp", lambda port: [*argv, port, str(threads), str(sequences)], 120)


class VllmServer(ModelServer):
    """vLLM in the environment of its worker, which serves the weights of the GGUF file under the name `random`."""

    def __init__(self, place, model):
        env = place.framework_environment()
        python = pathlib.Path(figure.installed_worker(env, "vllm")["environment_folder"], "bin", "python")
        argv = [python, VLLM, model, place.path / "weights"]
        super().__init__("vLLM", lambda port: [*argv, port], 360, env, place.path / "vllm.log")
