"""vLLM's own server on the weights of a GGUF file, without a download. Run it with the Python of vLLM's environment,
which `assay worker install vllm` makes.

usage: random_vllm.py GGUF FOLDER PORT

The weights are written to FOLDER as safetensors with config.json and the tokenizer. Where the server answers, its
address is printed; it ends with this process.
"""

import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "workers" / "common"), str(ROOT / "workers" / "vllm")]
READY_WITHIN_SECONDS = 300
CONTEXT, SEQUENCES = 1024, 4


def write(gguf, folder):
    import assay_gguf
    import assay_hf_folder

    pathlib.Path(folder).mkdir(exist_ok=True)
    return assay_hf_folder.made(assay_gguf.read(gguf), folder, "load")[0]


def serve(folder, port):
    import engine

    environment = os.environ | engine.VARIABLES
    del environment["VLLM_ENABLE_V1_MULTIPROCESSING"]  # the server's engine is a process of its own
    environment["VLLM_CPU_KVCACHE_SPACE"] = "1"
    vllm = pathlib.Path(sys.executable).with_name("vllm")
    argv = [vllm, "serve", folder, "--served-model-name", "random", "--host", "127.0.0.1", "--port", port]
    argv += ["--max-model-len", str(CONTEXT), "--max-num-seqs", str(SEQUENCES), "--dtype", "float32"]
    argv += ["--enforce-eager", "--no-enable-prefix-caching"]
    return subprocess.Popen(argv, env=environment, stdout=sys.stderr)


def wait_until_ready(server, url):
    began = time.monotonic()
    while time.monotonic() - began < READY_WITHIN_SECONDS:
        if server.poll() is not None:
            sys.exit(f"vLLM ended with {server.returncode}")
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    server.terminate()
    sys.exit(f"vLLM was not ready within {READY_WITHIN_SECONDS} s")


def main():
    gguf, folder, port = sys.argv[1:]
    url = f"http://127.0.0.1:{port}"
    server = serve(write(gguf, folder), port)
    signal.signal(signal.SIGTERM, lambda *_: server.terminate())
    wait_until_ready(server, url)
    print(url, flush=True)
    sys.exit(server.wait())


if __name__ == "__main__":
    main()
