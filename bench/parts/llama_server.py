"""llama.cpp's server on a free port of the loopback, as a process of the figure that needs one."""

import json
import pathlib
import selectors
import socket
import subprocess

from . import figure

PYTHON = figure.ROOT / "build" / "llama" / "bin" / "python"
PROGRAM = figure.ROOT / "tests" / "load" / "random_llama.py"
START_SECONDS = 120


def missing():
    """Why there can be no server, or None."""
    return None if PYTHON.exists() else f"{PYTHON} is not there; see tests/load/random_llama.py"


def write(path, size="small"):
    """A model with random weights."""
    subprocess.run([PYTHON, PROGRAM, "write", path, size], check=True, timeout=START_SECONDS)


def config(path):
    """The fields of its config.json that sizes follow from."""
    argv = [PYTHON, PROGRAM, "config", path]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=START_SECONDS, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{path} cannot be read as a model: {done.stderr}")
    return json.loads(done.stdout)


class LlamaServer:
    """Serves a model, and is ended with the block."""

    def __init__(self, model, threads=1, sequences=4):
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        argv = [PYTHON, PROGRAM, "serve", pathlib.Path(model), *map(str, (port, threads, sequences))]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        if not self._said_address():
            self.__exit__()
            raise SystemExit(f"llama.cpp does not serve {model}")

    def _said_address(self):
        """It prints its address when it answers, and closes its output where it ends before that."""
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            return bool(ready.select(START_SECONDS)) and bool(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
