"""The matrix product c = a b, so that networks can be held against what MXNet's own gets out of the machine."""

import time

import assay_graph
import assay_worker
import mxnet
import numpy


class Gemm:
    phases = ("forward",)

    def __init__(self, prepare):
        sizes = prepare.options({"m": 1024, "n": 1024, "k": 1024})
        for name, size in sizes.items():
            if type(size) is not int or size < 1:
                raise assay_worker.Refused("option %s=%r: it must be a whole number of at least 1." % (name, size))
        if prepare.trains:
            raise assay_worker.Refused("mode train: gemm has nothing to train.")
        if prepare.workload["batch"] != 1:
            raise assay_worker.Refused("batch %d: gemm has no batch. Use 1." % prepare.workload["batch"])
        random = numpy.random.default_rng(assay_graph.data_seed(prepare))
        m, n, k = sizes["m"], sizes["n"], sizes["k"]
        self._a = mxnet.nd.array(random.standard_normal((m, k), "float32"))
        self._b = mxnet.nd.array(random.standard_normal((k, n), "float32"))
        self._c = mxnet.nd.zeros((m, n))

    def step(self):
        mxnet.nd.dot(self._a, self._b, out=self._c)
        mxnet.nd.waitall()

    def step_with_phases(self):
        begin_ns = time.monotonic_ns()
        self.step()
        return (time.monotonic_ns() - begin_ns,)
