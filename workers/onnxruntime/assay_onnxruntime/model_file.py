"""Where the ONNX file of a graph lies: in the cache, named by what it was made from, or in a folder of this run."""

import contextlib
import hashlib
import json
import os
import tempfile

import assay_graph

from . import writer

# The same for all runs, so that the file of a graph is written once and not for every run anew.
WEIGHTS_SEED = 0


@contextlib.contextmanager
def of(prepare):
    """Path of the file; outside the cache it lasts as long as the context."""
    if prepare.cache is None:
        with tempfile.TemporaryDirectory(prefix="assay-onnx-") as folder:
            yield _written(prepare, folder, "network")
    else:
        name = _name(prepare)
        path = os.path.join(prepare.cache, name + ".onnx")
        yield path if _is_there(path) else _written(prepare, prepare.cache, name)


def _is_there(path):
    """Notes its use: what was used longest ago is removed first."""
    try:
        for file in (path, path[: -len(".onnx")] + ".data"):
            os.utime(file)
    except FileNotFoundError:
        return False
    return True


def file_hash(path):
    """SHA-256 of a file's bytes, as hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _name(prepare):
    made_from = {"writer": writer.VERSION, "graph": prepare.graph}
    if prepare.values:
        made_from["values"] = file_hash(prepare.values)
    text = json.dumps(made_from, sort_keys=True, separators=(",", ":"))
    return "onnxruntime-" + hashlib.sha256(text.encode()).hexdigest()[:32]


def _written(prepare, folder, name):
    """Both files come into being whole: the data first, so that a model that is there has its data."""
    path, data_name = os.path.join(folder, name + ".onnx"), name + ".data"
    data_path, mark = os.path.join(folder, data_name), ".%d.part" % os.getpid()
    try:
        writer.write(
            prepare.graph, assay_graph.values_of(prepare, WEIGHTS_SEED), path + mark, data_path + mark, data_name
        )
        os.replace(data_path + mark, data_path)
        os.replace(path + mark, path)
    finally:
        for left in (path + mark, data_path + mark):
            with contextlib.suppress(FileNotFoundError):
                os.remove(left)
    return path
