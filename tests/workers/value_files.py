"""Files of values as workers/PROTOCOL.md describes them, in plain Python: a second reading of it."""

import json
import math
import random
import struct

CODES = {"F32": "f", "I64": "q"}


def write(path, values):
    """`values`: name to (shape, flat list); lists of integers are I64."""
    header, data = {}, b""
    for name, (shape, flat) in values.items():
        assert len(flat) == math.prod(shape)
        dtype = "I64" if all(type(x) is int for x in flat) else "F32"
        packed = struct.pack("<%d%s" % (len(flat), CODES[dtype]), *flat)
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return str(path)


def read(path):
    """Name to (shape, flat list)."""
    raw = path.read_bytes()
    (length,) = struct.unpack_from("<Q", raw)
    header = json.loads(raw[8 : 8 + length])
    found = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        code = "<%d%s" % (math.prod(entry["shape"]), CODES[entry["dtype"]])
        found[name] = entry["shape"], list(struct.unpack(code, raw[8 + length + begin : 8 + length + end]))
    return found


def drawn(graph, batch, seed=1):
    """Values for every name that a graph wants, each exact in fp32 so that an oracle starts from the same numbers."""
    draw = random.Random(seed)

    def uniform(low, high, shape):
        return list(shape), [draw.randrange(2**20) / 2**20 * (high - low) + low for _ in range(math.prod(shape))]

    values = {}
    for node in graph["nodes"]:
        for parameter in node["parameters"]:
            values["%s/%s" % (node["name"], parameter["name"])] = uniform(-0.5, 0.5, parameter["shape"])
        if node["op"] == "batch_norm":
            values[node["name"] + "/mean"] = uniform(-0.5, 0.5, node["shape"][:1])
            values[node["name"] + "/variance"] = uniform(0.5, 1.5, node["shape"][:1])
    for wanted in graph["inputs"]:
        shape = [batch, *wanted["shape"]]
        if wanted["type"] == "integer":
            values["input/" + wanted["name"]] = (
                shape,
                [draw.randrange(wanted["below"]) for _ in range(math.prod(shape))],
            )
        else:
            values["input/" + wanted["name"]] = uniform(-1, 1, shape)
    shape = next(node["shape"] for node in graph["nodes"] if node["name"] == graph["output"])
    places = [batch, *shape[:-1]]
    values["target"] = places, [draw.randrange(shape[-1]) for _ in range(math.prod(places))]
    return values


def nested(value):
    """(shape, flat list) as lists in lists."""
    shape, flat = value
    for extent in reversed(shape[1:]):
        flat = [flat[i : i + extent] for i in range(0, len(flat), extent)]
    return flat
