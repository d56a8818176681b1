"""What every Python worker does with a graph of Assay's, once: checks, seeded values, and files of values.

Values are numpy arrays by the names of workers/PROTOCOL.md: `node/weight`, `node/mean`, `input/NAME`, `target`. They
come from a file (Prepare.values) or from the seed, and a worker takes them the same way from either:

    values = assay_graph.values_of(prepare)
    for node in assay_graph.nodes_of(prepare.graph, TABLE):   # refuses what the table lacks
        weight = values[node["name"] + "/weight"]

Needs numpy, imported with the first use.
"""

import hashlib
import json
import math

import assay_worker

VERSION = 1
LOSSES = ("cross_entropy", "mean_square")
# Without this, branches add up and resnet50's outputs grow to thousands, on which training is chaotic.
RESIDUAL_SCALE = 0.2
_MOST_HEADER_BYTES = 64 << 20
_TYPES = {"F32": "<f4", "I64": "<i8"}


def nodes_of(graph, operators):
    """The nodes, each with `input_shapes`. Refuses by name what this worker cannot build."""
    if graph["version"] != VERSION:
        raise assay_worker.Refused("graph version %r: this worker reads version %d." % (graph["version"], VERSION))
    if graph["loss"] not in LOSSES:
        raise assay_worker.Refused("loss '%s' is unknown here. There is %s." % (graph["loss"], ", ".join(LOSSES)))
    shapes = {i["name"]: i["shape"] for i in graph["inputs"]}
    nodes = []
    for node in graph["nodes"]:
        if node["op"] not in operators:
            raise assay_worker.Refused("operator '%s' (node %s) is unknown here." % (node["op"], node["name"]))
        shapes[node["name"]] = node["shape"]
        nodes.append({**node, "input_shapes": [shapes[name] for name in node["inputs"]]})
    return nodes


def output_shape(graph):
    """Of the network's output, without the batch."""
    return next(node["shape"] for node in graph["nodes"] if node["name"] == graph["output"])


def data_seed(prepare):
    """Weights follow from the seed alone; what is computed on differs between processes."""
    text = "%d %d %d" % (prepare.seed, prepare.rank, prepare.instance)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")


def values_of(prepare, seed=None):
    """Weights, inputs and the target by name: from the file of `prepare`, or drawn. Weights follow from the seed of
    `prepare`, or from `seed`."""
    return read_values(prepare.values) if prepare.values else _Drawn(prepare, prepare.seed if seed is None else seed)


def read_header(path):
    """Of a safetensors file: name to (dtype, shape, begin, bytes), `begin` counting from the file's."""
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > _MOST_HEADER_BYTES:
            raise ValueError("%s is not a safetensors file: its header has %d bytes" % (path, length))
        header = json.loads(file.read(length).decode("utf-8"))
    header.pop("__metadata__", None)
    found = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        found[name] = (entry["dtype"], entry["shape"], 8 + length + begin, end - begin)
    return found


def read_values(path):
    """A safetensors file as arrays that are read when they are used."""
    import numpy

    return {
        name: numpy.memmap(path, _TYPES[dtype], "r", begin, tuple(shape)) if size else numpy.empty(shape, _TYPES[dtype])
        for name, (dtype, shape, begin, size) in read_header(path).items()
    }


def write_values(path, arrays):
    """Writes fp32 and int64 arrays as a safetensors file."""
    import numpy

    arrays = {name: numpy.ascontiguousarray(a) if a.ndim else a for name, a in arrays.items()}
    header, at = {}, 0
    for name, array in arrays.items():
        dtype = {"float32": "F32", "int64": "I64"}[array.dtype.name]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in arrays.values():
            file.write(array.tobytes())


def ends_of_branches(nodes):
    """Names of the batch norms that end a residual branch: of those added, the one farther from the input."""
    depth, operator_of, ends = {}, {}, set()
    for node in nodes:
        depth[node["name"]] = 1 + max((depth.get(name, 0) for name in node["inputs"]), default=0)
        operator_of[node["name"]] = node["op"]
        if node["op"] == "add":
            norms = [name for name in node["inputs"] if operator_of.get(name) == "batch_norm"]
            if norms:
                ends.add(max(norms, key=depth.get))
    return ends


def rotary_tables(node):
    """Cosine and sine of the angles of a node `rotary`, [positions, half of a head] each, as fp32."""
    import numpy

    a, (length, features) = node["attributes"], node["shape"]
    size = features // a["heads"]
    angles = numpy.outer(numpy.arange(length), a["base"] ** (-2 * numpy.arange(size // 2) / size))
    return numpy.cos(angles).astype("float32"), numpy.sin(angles).astype("float32")


def sinusoids(node):
    """The table of a node `sinusoids`, [positions, features], as fp32."""
    import numpy

    length, features = node["shape"]
    angles = numpy.outer(numpy.arange(length), 10000.0 ** (-2 * numpy.arange(features // 2) / features))
    return numpy.stack([numpy.sin(angles), numpy.cos(angles)], -1).reshape(length, features).astype("float32")


class _Drawn:
    """Values from a seed, each drawn when it is asked for, from a stream of its own."""

    def __init__(self, prepare, seed):
        self._graph, self._batch = prepare.graph, prepare.workload["batch"]
        self._seed, self._data_seed = seed, data_seed(prepare)
        self._nodes = {node["name"]: node for node in self._graph["nodes"]}
        self._inputs = {i["name"]: i for i in self._graph["inputs"]}
        self._damped = ends_of_branches(self._graph["nodes"])

    def __getitem__(self, name):
        node_name, _, part = name.rpartition("/")
        if name == "target":
            shape = output_shape(self._graph)
            return self._random(name, self._data_seed).integers(shape[-1], size=(self._batch, *shape[:-1]))
        if node_name == "input":
            return self._input(name, self._inputs[part])
        node = self._nodes[node_name]
        if part in ("mean", "variance") and node["op"] == "batch_norm":
            return self._uniform(name, node["shape"][:1], part)
        shape = next(p["shape"] for p in node["parameters"] if p["name"] == part)
        drawn = self._uniform(name, shape, "bias" if part == "bias" else node["op"])
        return drawn * drawn.dtype.type(RESIDUAL_SCALE) if part == "weight" and node_name in self._damped else drawn

    def _random(self, name, seed):
        import numpy

        mixed = hashlib.sha256(("%d %s" % (seed, name)).encode()).digest()
        return numpy.random.default_rng(int.from_bytes(mixed[:16], "big"))

    def _input(self, name, wanted):
        random, shape = self._random(name, self._data_seed), (self._batch, *wanted["shape"])
        if wanted["type"] == "integer":
            return random.integers(wanted["below"], size=shape)
        return random.standard_normal(shape, dtype="float32")

    def _uniform(self, name, shape, kind):
        """Scaled so that values stay finite and of ordinary size through deep networks."""
        middle, half = {
            "convolution": lambda: (0, math.sqrt(6 / math.prod(shape[1:]))),
            "convolution3d": lambda: (0, math.sqrt(6 / math.prod(shape[1:]))),
            "dilated_convolution": lambda: (0, math.sqrt(6 / math.prod(shape[1:]))),
            "transposed_convolution": lambda: (0, math.sqrt(6 / math.prod(shape[1:]))),
            "linear": lambda: (0, math.sqrt(3 / shape[1])),
            "lstm": lambda: (0, math.sqrt(1 / shape[1])),
            "gru": lambda: (0, math.sqrt(1 / shape[1])),
            "embedding": lambda: (0, 0.05),
            "position_embedding": lambda: (0, 0.05),
            "batch_norm": lambda: (1, 0.1),
            "layer_norm": lambda: (1, 0.1),
            "rms_norm": lambda: (1, 0.1),
            "l2_norm": lambda: (20, 2),
            "bias": lambda: (0, 0.05),
            "mean": lambda: (0, 0.1),
            "variance": lambda: (1, 0.2),
        }[kind]()
        unit = self._random(name, self._seed).random(shape, dtype="float32")
        return unit * unit.dtype.type(2 * half) + unit.dtype.type(middle - half)
