"""A framework in plain Python: builds Assay's graphs from a few operators, infers, and says what it computed.

A tensor is an array of floats without the batch. Sums are taken in double precision and kept in single.
"""

import json
import math
import os
import random
import sys
from array import array
from operator import mul

_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(_HERE, "..", "..", "..", "workers", "common"))
import assay_graph  # noqa: E402
import assay_worker  # noqa: E402


class ToyFramework(assay_worker.Framework):
    def prepare(self, prepare):
        _refuse(prepare)
        graph, batch = prepare.graph, prepare.workload["batch"]
        values = _values_of_file(prepare.values) if prepare.values else _values_of_seed(prepare)
        self._output, self._shape = graph["output"], [batch, *assay_graph.output_shape(graph)]
        self._samples = [{} for _ in range(batch)]
        for given in graph["inputs"]:
            data, size = values("input/" + given["name"], [batch, *given["shape"]]), math.prod(given["shape"])
            for i, sample in enumerate(self._samples):
                sample[given["name"]] = data[i * size : (i + 1) * size]
        self._program, parameters = [], 0
        for node in assay_graph.nodes_of(graph, OPERATORS):  # refuses what is not in the table
            weights = {p["name"]: values("%s/%s" % (node["name"], p["name"]), p["shape"]) for p in node["parameters"]}
            parameters += sum(map(len, weights.values()))
            if node["op"] == "batch_norm":
                for part in ("mean", "variance"):
                    weights[part] = values("%s/%s" % (node["name"], part), node["shape"][:1])
            self._program.append((node, OPERATORS[node["op"]], weights))
        return assay_worker.Prepared({"python": "%d.%d.%d" % sys.version_info[:3]}, parameters)

    def step(self):
        self._computed = [self._forward(sample) for sample in self._samples]

    def _forward(self, sample):
        known = dict(sample)
        for node, operator, weights in self._program:
            known[node["name"]] = operator(node, *[known[name] for name in node["inputs"]], **weights)
        return known[self._output]

    def evaluate(self, evaluate):
        """Writes a safetensors file: length of the header, header, data."""
        self.step()
        data = b"".join(part.tobytes() for part in self._computed)
        entry = {"dtype": "F32", "shape": self._shape, "data_offsets": [0, len(data)]}
        header = json.dumps({"output": entry}).encode()
        with open(evaluate.output, "wb") as file:
            file.write(len(header).to_bytes(8, "little") + header + data)


def _refuse(prepare):
    workload = prepare.workload
    prepare.refuse_settings_beyond({"intra_op", "inter_op"})  # inert, see worker.json
    if prepare.graph is None:
        prepare.options({})
        raise assay_worker.Refused("network '%s' came without a graph." % workload["network"])
    if prepare.trains:
        raise assay_worker.Refused("mode train: this framework only infers.")
    if workload["precision"] != "fp32":
        raise assay_worker.Refused("precision '%s' is unknown here. There is fp32." % workload["precision"])
    if prepare.ranks > 1:
        raise assay_worker.Refused("%d ranks: several of this worker cannot work together." % prepare.ranks)


def _values_of_file(path):
    header, data = assay_graph.read_header(path), open(path, "rb").read()
    return lambda name, shape: array("f", data[header[name][2] : sum(header[name][2:])])


def _values_of_seed(prepare):
    """Each tensor has a stream of its own; inputs also follow from the rank and the instance."""

    def draw(name, shape):
        seed = assay_graph.data_seed(prepare) if name.startswith("input/") else prepare.seed
        uniform = random.Random("%d %s" % (seed, name)).uniform
        middle = 1 if len(shape) == 1 and name.endswith(("/weight", "/variance")) else 0
        half = math.sqrt(3 / math.prod(shape[1:])) if len(shape) > 1 and name.endswith("/weight") else 0.1
        return array("f", (uniform(middle - half, middle + half) for _ in range(math.prod(shape))))

    return draw


def parts(data, size):
    return [data[i : i + size] for i in range(0, len(data), size)]


def linear(node, x, weight, bias):
    return array("f", (sum(map(mul, row, x)) + b for row, b in zip(parts(weight, len(x)), bias)))


def convolution(node, x, weight, bias=None):
    a, (_, height, width), (filters, *places) = node["attributes"], node["input_shapes"][0], node["shape"]
    plane, size = math.prod(places), len(weight) // filters
    rows, out = parts(weight, size), array("f", bytes(4 * filters * plane))
    for place in range(plane):
        top, left = (at * s - p for at, s, p in zip(divmod(place, places[1]), a["stride"], a["padding"]))
        pixels = [(r, c) for r in range(top, top + a["kernel"][0]) for c in range(left, left + a["kernel"][1])]
        inside = [r * width + c if 0 <= r < height and 0 <= c < width else None for r, c in pixels]
        patch = [0.0 if i is None else image[i] for image in parts(x, height * width) for i in inside]
        for f, row in enumerate(rows):
            begin = f * a["groups"] // filters * size  # of the filter's group
            out[f * plane + place] = sum(map(mul, row, patch[begin : begin + size])) + (bias[f] if bias else 0)
    return out


def batch_norm(node, x, weight, bias, mean, variance):
    scales = [w / math.sqrt(v + node["attributes"]["epsilon"]) for w, v in zip(weight, variance)]
    planes = parts(x, len(x) // len(weight))
    return array("f", ((v - m) * s + b for plane, s, b, m in zip(planes, scales, bias, mean) for v in plane))


OPERATORS = {
    "convolution": convolution,
    "linear": linear,
    "batch_norm": batch_norm,
    "relu": lambda node, x: array("f", (max(0.0, v) for v in x)),
    "relu6": lambda node, x: array("f", (min(6.0, max(0.0, v)) for v in x)),
    "add": lambda node, x, y: array("f", (v + w for v, w in zip(x, y))),
    "global_average_pool": lambda node, x: array("f", (sum(p) / len(p) for p in parts(x, len(x) // node["shape"][0]))),
    "flatten": lambda node, x: x,
    "dropout": lambda node, x: x,  # when inferring
}

if __name__ == "__main__":
    sys.exit(assay_worker.serve(ToyFramework))
