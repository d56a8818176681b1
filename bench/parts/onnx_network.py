"""Writes a network of Assay's as an ONNX file, with the ONNX Runtime worker's own writer.

usage: onnx_network.py FOLDER_OF_COMMON FOLDER_OF_WORKER FILE <the message `prepare`
"""

import json
import os
import sys

sys.path[:0] = sys.argv[1:3]

import assay_graph  # noqa: E402
import assay_worker  # noqa: E402
from assay_onnxruntime import writer  # noqa: E402

prepare = assay_worker.Prepare(json.load(sys.stdin))
path = sys.argv[3]
data = path + ".data"
writer.write(prepare.graph, assay_graph.values_of(prepare), path, data, os.path.basename(data))
