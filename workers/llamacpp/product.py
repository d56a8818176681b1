"""One product of matrices by ggml, the library of llama.cpp's kernels: c = a b, with a of m x k in fp32, and b of k x n
in the kind that the precision names, transposed as in files of weights."""

import ctypes

import assay_gguf
import assay_graph
import assay_llama
import assay_primitive
import assay_worker
import llama
import numpy

_POINTER = ctypes.c_void_p
_TENSORS = 64 * 1024  # bytes for what ggml notes of tensors, without their values


class _Arena(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_size_t), ("buffer", _POINTER), ("no_values", ctypes.c_bool)]


_SIGNATURES = {
    "ggml_init": (_POINTER, [_Arena]),
    "ggml_new_tensor_2d": (_POINTER, [_POINTER, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]),
    "ggml_mul_mat": (_POINTER, [_POINTER, _POINTER, _POINTER]),
    "ggml_new_graph": (_POINTER, [_POINTER]),
    "ggml_build_forward_expand": (None, [_POINTER, _POINTER]),
    "ggml_graph_overhead": (ctypes.c_size_t, []),
    "ggml_nbytes": (ctypes.c_size_t, [_POINTER]),
    "ggml_backend_cpu_init": (_POINTER, []),
    "ggml_backend_cpu_set_n_threads": (None, [_POINTER, ctypes.c_int]),
    "ggml_backend_alloc_ctx_tensors": (_POINTER, [_POINTER, _POINTER]),
    "ggml_backend_tensor_set": (None, [_POINTER, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t]),
    "ggml_backend_tensor_get": (None, [_POINTER, _POINTER, ctypes.c_size_t, ctypes.c_size_t]),
    "ggml_backend_graph_compute": (ctypes.c_int, [_POINTER, _POINTER]),
}


class Product(assay_primitive.Single):
    """A graph of one node, computed by ggml's CPU backend with `threads`."""

    def __init__(self, prepare, threads):
        options = assay_primitive.options_of(prepare, ("gemm",))
        m, n, k = (options[name] for name in "mnk")
        kind = assay_llama.PRECISIONS[prepare.workload["precision"]]
        block = assay_gguf.KINDS[kind].block
        if k % block:
            raise assay_worker.Refused("option k=%d: %s has blocks of %d values." % (k, kind, block))
        self._library = library = llama.load()
        llama.declare(library, _SIGNATURES)
        arena = library.ggml_init(_Arena(_TENSORS + library.ggml_graph_overhead(), None, True))
        weights = library.ggml_new_tensor_2d(arena, assay_gguf.KINDS[kind].number, k, n)
        given = library.ggml_new_tensor_2d(arena, 0, k, m)
        self._result = library.ggml_mul_mat(arena, weights, given)
        self._graph = library.ggml_new_graph(arena)
        library.ggml_build_forward_expand(self._graph, self._result)
        self._backend = library.ggml_backend_cpu_init()
        library.ggml_backend_cpu_set_n_threads(self._backend, threads)
        if not library.ggml_backend_alloc_ctx_tensors(arena, self._backend):
            raise assay_worker.OutOfMemory("ggml has no memory for a product of %d x %d x %d" % (m, n, k))
        random = numpy.random.default_rng(assay_graph.data_seed(prepare))
        a, transposed = random.standard_normal((m, k), "f4"), random.standard_normal((n, k), "f4")
        self._set(given, a.tobytes())
        self._set(weights, assay_gguf.encode(transposed, kind))
        self._shape = (m, n)
        self.tensors = {"a": a, "b": transposed.T}

    def step(self):
        code = self._library.ggml_backend_graph_compute(self._backend, self._graph)
        if code != 0:
            raise RuntimeError("ggml_backend_graph_compute ended with %d" % code)

    def take_tokens(self):
        return []

    def evaluate(self, _):
        raise assay_worker.Refused("evaluate: a product has no logits.")

    def result(self):
        found = numpy.empty(self._shape, "f4")
        self._library.ggml_backend_tensor_get(self._result, found.ctypes.data, 0, found.nbytes)
        return found

    def _set(self, tensor, data):
        if len(data) != self._library.ggml_nbytes(tensor):
            raise RuntimeError("ggml keeps %d bytes where %d are due" % (self._library.ggml_nbytes(tensor), len(data)))
        self._library.ggml_backend_tensor_set(tensor, data, 0, len(data))
