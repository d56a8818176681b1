"""Files of weights in the GGUF format, version 3: written and read here, without another package than numpy.

    with open(path, "wb") as file:
        write(file, {"general.architecture": "llama", …}, [Tensor("output.weight", (rows, columns), "F16", make), …])
    model = read(path)
    model.metadata["llama.block_count"], model.array("token_embd.weight")    # float32, also of quantised weights

Text from outside is read within limits: a file that is not of this form raises ValueError.
"""

import collections
import math
import struct

MAGIC, VERSION, ALIGNMENT = b"GGUF", 3, 32
Tensor = collections.namedtuple("Tensor", "name shape kind make")  # make() gives float32 values, some rows at a time
Kind = collections.namedtuple("Kind", "number block bytes file_type")  # `bytes` for each `block` values
KINDS = {
    "F32": Kind(0, 1, 4, 0),
    "F16": Kind(1, 1, 2, 1),
    "BF16": Kind(30, 1, 2, 32),
    "Q8_0": Kind(8, 32, 34, 7),
    "Q4_0": Kind(2, 32, 18, 2),
}
_NAMES = {kind.number: name for name, kind in KINDS.items()}
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9
_MOST_TEXT, _MOST_ENTRIES, _MOST_ITEMS, _MOST_DIMENSIONS = 1 << 24, 100_000, 10_000_000, 4


def encode(values, kind):
    """float32 values as the bytes of a kind. The last axis is a multiple of the kind's block."""
    import numpy

    if kind == "F32":
        return values.astype("<f4").tobytes()
    if kind == "F16":
        return values.astype("<f2").tobytes()
    if kind == "BF16":
        bits = values.astype("<f4").view("<u4")
        return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("<u2").tobytes()  # to the nearest, ties to even
    blocks = values.reshape(-1, 32).astype("<f4")
    if kind == "Q8_0":
        scale = (numpy.abs(blocks).max(1) / 127).astype("<f4")
        inverse = numpy.divide(1, scale, out=numpy.zeros_like(scale), where=scale > 0)
        levels = numpy.rint(blocks * inverse[:, None]).astype("i1")
        packed = numpy.empty(len(blocks), [("scale", "<f2"), ("levels", "i1", 32)])
        packed["scale"], packed["levels"] = scale, levels
        return packed.tobytes()
    if kind == "Q4_0":
        extreme = blocks[numpy.arange(len(blocks)), numpy.abs(blocks).argmax(1)]  # with its sign: it becomes level 0
        scale = extreme / -8
        inverse = numpy.divide(1, scale, out=numpy.zeros_like(scale), where=scale != 0)
        levels = numpy.minimum(15, (blocks * inverse[:, None] + 8.5).astype("u1")).astype("u1")
        packed = numpy.empty(len(blocks), [("scale", "<f2"), ("levels", "u1", 16)])
        packed["scale"], packed["levels"] = scale, levels[:, :16] | (levels[:, 16:] << 4)
        return packed.tobytes()
    raise ValueError("%s is not a kind of weights. There is %s." % (kind, ", ".join(KINDS)))


def decode(data, kind, shape):
    """The bytes of a kind as float32 values."""
    import numpy

    if kind == "F32":
        return numpy.frombuffer(data, "<f4").reshape(shape)
    if kind == "F16":
        return numpy.frombuffer(data, "<f2").astype("f4").reshape(shape)
    if kind == "BF16":
        return (numpy.frombuffer(data, "<u2").astype("<u4") << 16).view("<f4").reshape(shape)
    if kind == "Q8_0":
        packed = numpy.frombuffer(data, [("scale", "<f2"), ("levels", "i1", 32)])
        return (packed["scale"].astype("f4")[:, None] * packed["levels"]).reshape(shape)
    packed = numpy.frombuffer(data, [("scale", "<f2"), ("levels", "u1", 16)])
    levels = numpy.concatenate([packed["levels"] & 15, packed["levels"] >> 4], 1).astype("f4") - 8
    return (packed["scale"].astype("f4")[:, None] * levels).reshape(shape)


def _text(text):
    data = text.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


def _value(value):
    """With its type in front: true and false, whole numbers, floats, text, and lists of one of these."""
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", _TEXT) + _text(value)
    items = [struct.pack("<Ii", 5, item) if type(item) is int else _value(item) for item in value]  # signed in lists
    return struct.pack("<I", _LIST) + items[0][:4] + struct.pack("<Q", len(items)) + b"".join(i[4:] for i in items)


def _values_of(shape, kind):
    """As many as whole blocks hold."""
    return math.prod(shape) // KINDS[kind].block * KINDS[kind].block


def _bytes_of(shape, kind):
    return math.prod(shape) // KINDS[kind].block * KINDS[kind].bytes


def _padding(position):
    return -position % ALIGNMENT


def write(file, metadata, tensors):
    """`tensors`: a list of Tensor. The values of each are asked for when it is its turn."""
    head = MAGIC + struct.pack("<IQQ", VERSION, len(tensors), len(metadata))
    head += b"".join(_text(name) + _value(value) for name, value in metadata.items())
    offset = 0
    for one in tensors:
        dimensions = one.shape[::-1]  # the one that is contiguous first
        head += _text(one.name) + struct.pack("<I%dQ" % len(dimensions), len(dimensions), *dimensions)
        head += struct.pack("<IQ", KINDS[one.kind].number, offset)
        offset += _bytes_of(one.shape, one.kind)
        offset += _padding(offset)
    file.write(head + bytes(_padding(len(head))))
    for one in tensors:
        written = sum(file.write(encode(part, one.kind)) for part in one.make())
        if written != _bytes_of(one.shape, one.kind):
            wanted = _bytes_of(one.shape, one.kind)
            raise ValueError("%s: %d bytes of values where its shape has %d" % (one.name, written, wanted))
        file.write(bytes(_padding(written)))


class Model:
    """A file that is mapped: metadata by name, and tensors by name as (kind, shape, begin)."""

    def __init__(self, path, data, metadata, tensors):
        self.path, self.metadata, self.tensors, self._data = path, metadata, tensors, data

    def array(self, name):
        """float32 values; of quantised weights what they stand for."""
        kind, shape, begin = self.tensors[name]
        return decode(self._data[begin : begin + _bytes_of(shape, kind)], kind, shape)

    def kinds(self):
        """Kinds of the matrices, with their number of values: what a file is mostly made of comes first."""
        found = collections.Counter()
        for kind, shape, _ in self.tensors.values():
            if len(shape) > 1:
                found[kind] += _values_of(shape, kind)
        return [kind for kind, _ in found.most_common()]

    def parameters(self):
        return sum(_values_of(shape, kind) for kind, shape, _ in self.tensors.values())

    def bytes(self):
        return sum(_bytes_of(shape, kind) for kind, shape, _ in self.tensors.values())


class _Reader:
    def __init__(self, data):
        self._data, self.at = data, 0

    def take(self, form):
        size = struct.calcsize("<" + form)
        if self.at + size > len(self._data):
            raise ValueError("the file ends in its header")
        values = struct.unpack_from("<" + form, self._data, self.at)
        self.at += size
        return values[0] if len(values) == 1 else values

    def count(self, most):
        number = self.take("Q")
        if number > most:
            raise ValueError("a count of %d in its header" % number)
        return number

    def text(self):
        length = self.count(_MOST_TEXT)
        if self.at + length > len(self._data):
            raise ValueError("the file ends in its header")
        self.at += length
        return bytes(self._data[self.at - length : self.at]).decode("utf-8", "replace")

    def value(self, kind=None):
        kind = self.take("I") if kind is None else kind
        if kind == _TEXT:
            return self.text()
        if kind == _LIST:
            of = self.take("I")
            if of == _LIST:
                raise ValueError("a list of lists in its header")
            return [self.value(of) for _ in range(self.count(_MOST_ITEMS))]
        if kind not in _SCALARS:
            raise ValueError("a value of type %d in its header" % kind)
        return self.take(_SCALARS[kind])


def read(path):
    """Throws ValueError where it is not a GGUF file, or has weights of a kind that KINDS lacks."""
    import mmap

    with open(path, "rb") as file:
        if file.read(4) != MAGIC:
            raise ValueError("%s is not a GGUF file" % path)
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    try:
        return _read(path, data)
    except ValueError as error:
        raise ValueError("%s is not a GGUF file that can be read: %s" % (path, error)) from None


def _read(path, data):
    reader = _Reader(data)
    reader.at = 4
    version, tensors, entries = reader.take("I"), reader.count(_MOST_ENTRIES), reader.count(_MOST_ENTRIES)
    if version not in (2, VERSION):
        raise ValueError("version %d" % version)
    metadata = {}
    for _ in range(entries):
        name = reader.text()
        metadata[name] = reader.value()
    listed = []
    for _ in range(tensors):
        name, dimensions = reader.text(), reader.take("I")
        if not 1 <= dimensions <= _MOST_DIMENSIONS:
            raise ValueError("a tensor of %d dimensions" % dimensions)
        shape = tuple(reader.take("Q") for _ in range(dimensions))[::-1]
        number, offset = reader.take("I"), reader.take("Q")
        if number not in _NAMES:
            raise ValueError("tensor %s is of kind %d; known are %s" % (name, number, ", ".join(KINDS)))
        listed.append((name, _NAMES[number], shape, offset))
    alignment = metadata.get("general.alignment", ALIGNMENT)
    if not isinstance(alignment, int) or not 1 <= alignment <= 1 << 20:
        raise ValueError("an alignment of %r" % (alignment,))
    begin = reader.at + -reader.at % alignment
    for name, kind, shape, offset in listed:
        if begin + offset + _bytes_of(shape, kind) > len(data) or 0 in shape:
            raise ValueError("tensor %s is beyond its end" % name)
    return Model(path, data, metadata, {name: (kind, shape, begin + offset) for name, kind, shape, offset in listed})
