"""Writes graphs as workers/onnxruntime does, without weights. Run by the interpreter of that worker's environment:

python onnx_networks.py FOLDER GRAPH.json…
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "workers" / "onnxruntime"), str(ROOT / "workers" / "common")]

import numpy  # noqa: E402
from assay_onnxruntime import writer  # noqa: E402


class Zeros(dict):
    """Values of the right shape, by the names of workers/PROTOCOL.md."""

    def __init__(self, graph):
        for node in graph["nodes"]:
            for parameter in node["parameters"]:
                self[node["name"] + "/" + parameter["name"]] = numpy.zeros(parameter["shape"], "float32")
            if node["op"] == "batch_norm":
                for part in ("mean", "variance"):
                    self[node["name"] + "/" + part] = numpy.zeros(node["shape"][:1], "float32")


def main():
    folder = pathlib.Path(sys.argv[1])
    for path in sys.argv[2:]:
        graph = json.loads(pathlib.Path(path).read_text())
        writer.write(graph, Zeros(graph), folder / (graph["name"] + ".onnx"), "/dev/null", "none")


if __name__ == "__main__":
    main()
