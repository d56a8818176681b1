"""Settings: put in place before mxnet is loaded, and read back from what it loaded."""

import os

import assay_data
import assay_worker

KNOWN = {"inter_op", "intra_op", "library_threads", "spin"} | assay_data.SETTINGS
_FP32_LOWERED_BY = "DNNL_DEFAULT_FPMATH_MODE"


def before_import(prepare):
    """What libraries read when they are loaded. MXNet's operators and oneDNN share one number: OpenMP's."""
    settings = prepare.settings
    threads = _openmp_threads(settings)
    if threads is not None:
        os.environ["OMP_NUM_THREADS"] = str(threads)
        os.environ.pop("MXNET_OMP_MAX_THREADS", None)  # it would win
    if settings.get("inter_op") is not None:
        _set_engine_threads(prepare, settings["inter_op"], threads)
    if settings.get("spin") is not None:
        os.environ["OMP_WAIT_POLICY"] = "active" if settings["spin"] else "passive"
    if os.environ.get(_FP32_LOWERED_BY, "STRICT").upper() != "STRICT":
        message = "variable %s=%s computes fp32 in less. Leave it out."
        raise assay_worker.Refused(message % (_FP32_LOWERED_BY, os.environ[_FP32_LOWERED_BY]))


def read_back():
    """OpenMP's number of threads, asked of the library that mxnet loaded. Its engine does not tell its own."""
    import ctypes

    threads = ctypes.CDLL("libgomp.so.1").omp_get_max_threads()
    return {"intra_op": threads, "library_threads": threads}


def versions(mxnet):
    import platform

    import numpy

    return {"mxnet": mxnet.__version__, "numpy": numpy.__version__, "python": platform.python_version()}


def _set_engine_threads(prepare, engine_threads, openmp_threads):
    """MXNet's engine runs an inference as one piece, and training in pieces of 15 nodes unless told otherwise. Only
    node by node can its threads work side by side."""
    if engine_threads > 1:
        if not prepare.trains:
            message = "inter_op %d: MXNet's engine runs an inference as one piece. Leave it unset, or 1."
            raise assay_worker.Refused(message % engine_threads)
        if openmp_threads != 1 and any(node["op"] == "attention" for node in prepare.graph["nodes"]):
            message = (
                "inter_op %d with attention needs intra_op 1: MXNet's OpenBLAS hangs when two threads call it at once."
            )
            raise assay_worker.Refused(message % engine_threads)
        os.environ["MXNET_EXEC_BULK_EXEC_TRAIN"] = "0"
    os.environ["MXNET_CPU_WORKER_NTHREADS"] = str(engine_threads)


def _openmp_threads(settings):
    intra_op, library = settings.get("intra_op"), settings.get("library_threads")
    if intra_op is not None and library is not None and intra_op != library:
        message = "intra_op %d and library_threads %d: both are OMP_NUM_THREADS here. Set one, or both alike."
        raise assay_worker.Refused(message % (intra_op, library))
    return library if intra_op is None else intra_op
