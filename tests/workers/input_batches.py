"""Writes the first batches that a worker's own loader gives. Run by the interpreter of the worker's environment.

    input_batches.py WORKER BATCHES OUTPUT.npz < list_of_prepares.json

Images have the graph's order of dimensions in the file, whatever the framework's is.
"""

import importlib
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def parts_of(name, batch):
    """The arrays of a batch, in the order of a sample's parts."""
    if name == "mxnet":
        return [array.asnumpy() for array in batch.values()]
    inputs, target = batch
    parts = [x.numpy() for x in (*inputs, *([] if target is None else [target]))]
    return [x.transpose(0, 3, 1, 2) if name == "tensorflow" and x.ndim == 4 else x for x in parts]


def main(name, count, output):
    sys.path[:0] = [str(ROOT / "workers" / name), str(ROOT / "workers" / "common")]
    import assay_data
    import assay_worker
    import numpy

    files, found = importlib.import_module("assay_%s.files" % name), {}
    for case, message in enumerate(json.load(sys.stdin)):
        prepare = assay_worker.Prepare(message)
        data = assay_data.of(prepare)
        loader = files.Loader(data, prepare.settings)
        for number in range(count):
            named = zip(data.names, parts_of(name, loader.next()), strict=True)
            found.update(("%d/%d/%s" % (case, number, part), array) for part, array in named)
    numpy.savez(output, **found)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
