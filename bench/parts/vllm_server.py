"""vLLM's own server on a free port of the loopback, as a process of the figure that needs one."""

import os
import pathlib
import socket
import subprocess

from . import figure

PROGRAM = figure.ROOT / "tests" / "load" / "random_vllm.py"


class VllmServer:
    """Serves the weights of a GGUF file under the name `random`, and is ended with the block."""

    def __init__(self, place, model):
        env = place.environment(ASSAY_ENVIRONMENTS=os.environ["ASSAY_ENVIRONMENTS"])
        python = pathlib.Path(figure.installed_worker(env, "vllm")["environment_folder"], "bin", "python")
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        log = place.path / "vllm.log"
        argv = [python, PROGRAM, model, place.path / "weights", str(port)]
        with log.open("w") as errors:
            self.process = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=errors, text=True)
        if not self.process.stdout.readline():  # it prints its address when it answers
            self.__exit__()
            raise SystemExit(f"vLLM did not start:\n{log.read_text()[-4000:]}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
