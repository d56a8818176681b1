"""Settings as they took effect in the graph of a folder. As a program it prints them."""

import json
import os
import subprocess
import sys


def compiled_of(openvino, folder, properties):
    core = openvino.Core()
    return core.compile_model(core.read_model(os.path.join(folder, "openvino_model.xml")), "CPU", properties)


def read(compiled):
    return {
        "intra_op": compiled.get_property("INFERENCE_NUM_THREADS"),
        "precision": compiled.get_property("INFERENCE_PRECISION_HINT").get_type_name(),
        "cache": compiled.get_property("KV_CACHE_PRECISION").get_type_name(),
    }


def read_elsewhere(folder, properties):
    """By another process: what is timed has this one for itself."""
    words = [sys.executable, os.path.abspath(__file__), folder, json.dumps(properties)]
    return json.loads(
        subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True).stdout
    )


if __name__ == "__main__":
    import openvino

    print(json.dumps(read(compiled_of(openvino, sys.argv[1], json.loads(sys.argv[2])))))
