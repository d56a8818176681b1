"""Real frameworks started by `assay exec`: their threads are as many as were tuned, counted in /proc or read back.

Skipped where a framework is not installed; in continuous integration all are.
"""

import os
import pathlib

import pytest

ENVIRONMENTS = os.environ.get("ASSAY_ENVIRONMENTS")
pytestmark = pytest.mark.skipif(not ENVIRONMENTS, reason="needs ASSAY_ENVIRONMENTS set, where frameworks are installed")

# Threads of this process by their name; those that the program had before the framework was at work are not counted.
COUNT = """
import collections, os
def threads():
    names = (open(f"/proc/self/task/{task}/comm").read().strip() for task in os.listdir("/proc/self/task"))
    return collections.Counter(names)
"""
RELU = """
from onnx import TensorProto, helper
value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4])
graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [value("x")], [value("y")])
network = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
"""


@pytest.fixture
def said(place, tuning):
    """What a program of a framework prints when it is started with some settings."""

    def run(worker, program, *words, variables=None, **settings):
        pythons = sorted(pathlib.Path(ENVIRONMENTS).glob(f"{worker}-*/bin/python"))
        if not pythons:
            pytest.skip(f"{worker} is not installed")
        file = tuning(worker, **settings)
        words = ("--tuned", file, *words, "--", pythons[-1], "-c", COUNT + program)
        return place.assay("exec", *words, seconds=120, **(variables or {})).stdout.split()

    return run


@pytest.mark.parametrize("threads", [1, 3])
def test_pytorch_has_as_many_threads_as_were_tuned(said, threads):
    program = """
import torch
before = sum(threads().values())
torch.ones(700, 700) @ torch.ones(700, 700)
print(torch.get_num_threads(), 1 + sum(threads().values()) - before)
"""
    assert said("pytorch", program, intra_op=threads) == [str(threads)] * 2


def test_pytorch_operators_at_once_are_injected(said):
    program = "import torch; print(torch.get_num_interop_threads(), torch.get_num_threads())"
    assert said("pytorch", program, "--inject", inter_op=5, intra_op=4, library_threads=2) == ["5", "4"]
    assert said("pytorch", program, inter_op=5)[0] != "5", "without --inject it is only told"


@pytest.mark.parametrize(("inter", "intra"), [(1, 1), (3, 2)])
def test_tensorflow_reads_its_variables(said, inter, intra):
    """Its pool between operators is called tf_Compute; that within operators has the program's name, like two more
    threads that are always there."""
    program = """
import tensorflow as tf
x = tf.ones((300, 300))
tf.function(lambda a: tf.matmul(a, a) + tf.matmul(a + 1, a), autograph=False)(x)
print(threads()["tf_Compute"], threads()["python"] - 2)
"""
    variables = {"TF_CPP_MIN_LOG_LEVEL": "3"}
    assert said("tensorflow", program, variables=variables, inter_op=inter, intra_op=intra) == [str(inter), str(intra)]


def test_jax_reads_its_variable(said):
    """The pool among which XLA shares out operators has its own name."""
    program = """
import jax
jax.numpy.ones((300, 300)).block_until_ready()
print(threads()["tf_XLAEigen"])
"""
    assert said("jax", program, intra_op=3) == ["3"]


def test_mxnet_reads_its_variables(said):
    program = """
import mxnet as mx
import ctypes
mx.nd.ones((10, 10)).wait_to_read()
print(os.environ["MXNET_CPU_WORKER_NTHREADS"], ctypes.CDLL("libgomp.so.1").omp_get_max_threads())
"""
    assert said("mxnet", program, inter_op=1, intra_op=3) == ["1", "3"]


def test_onnxruntime_gets_its_options_injected(said):
    program = f"""
import onnxruntime
{RELU}
def shown(session):
    options = session.get_session_options()
    spins = options.get_session_config_entry("session.intra_op.allow_spinning")
    print(options.intra_op_num_threads, options.inter_op_num_threads, options.execution_mode.name, spins)
shown(onnxruntime.InferenceSession(network))
mine = onnxruntime.SessionOptions()
mine.intra_op_num_threads = 1
shown(onnxruntime.InferenceSession(network, mine, providers=["CPUExecutionProvider"]))
shown(onnxruntime.InferenceSession(network, sess_options=mine))
"""
    tuned = said("onnxruntime", program, "--inject", intra_op=3, inter_op=2, spin=False)
    assert tuned == ["3", "2", "ORT_PARALLEL", "0"] + 2 * ["1", "2", "ORT_PARALLEL", "0"], "what the program sets wins"


def test_openvino_gets_its_properties_injected(said):
    program = """
import openvino
from openvino import opset8
x = opset8.parameter([1, 8])
network = openvino.Model([opset8.relu(x)], [x])
def shown(compiled):
    print(compiled.get_property("INFERENCE_NUM_THREADS"), compiled.get_property("ENABLE_CPU_PINNING"))
shown(openvino.Core().compile_model(network, "CPU"))
shown(openvino.compile_model(network, "CPU"))
shown(openvino.Core().compile_model(network, "CPU", {"ENABLE_CPU_PINNING": True}))
"""
    assert said("openvino", program, "--inject", intra_op=1, affinity="compact") == ["1", "False"] * 2 + ["1", "True"]
