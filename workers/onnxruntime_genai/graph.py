"""The graph that GenAI's own builder makes of the weights of a GGUF file, kept in the worker's cache."""

import json
import os
import subprocess
import sys

import assay_hf_folder
import assay_kept

WRITER = 1  # raise it when a graph of the same name would hold something else
WEIGHTS = "model.onnx.data"
# Nothing is fetched or reported.
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}


def _build(folder, place, precision):
    """In a process of its own: torch, which reads the weights, is gone when steps are timed."""
    command = [sys.executable, "-m", "onnxruntime_genai.models.builder", "-i", folder, "-o", place]
    command += ["-p", precision, "-e", "cpu", "-c", os.path.join(folder, "cache")]
    done = subprocess.run(
        command, env={**os.environ, **_OFFLINE}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if done.returncode != 0 or not os.path.exists(os.path.join(place, WEIGHTS)):
        said = done.stdout.decode("utf-8", "replace")[-1000:]
        raise RuntimeError("GenAI's builder ended with %d: %s" % (done.returncode, said))


def _in_fp32(folder):
    """Has the builder read all values as fp32: else it would round norms to the precision of the matrices."""
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf-8") as file:
        config = json.load(file)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**config, "dtype": "float32"}, file)


def made(model, precision, cache, key):
    """A folder with model.onnx and genai_config.json in fp32 or int4, as assay_kept has it."""

    def fill(place):
        folder, removed = assay_hf_folder.made(model, None, key)
        _in_fp32(folder)
        _build(folder, place, precision)
        removed.cleanup()

    return assay_kept.folder(cache, "%d %s %s" % (WRITER, precision, key), WEIGHTS, fill)
