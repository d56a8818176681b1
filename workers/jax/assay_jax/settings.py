"""Settings: put in place before JAX is loaded, which reads its number of threads from a variable."""

import os
import pathlib
import platform

import assay_worker

THREADS = {"intra_op", "inter_op", "library_threads"}
NETWORK = THREADS | {"layout"}
PRECISIONS = {"fp32": "float32", "bf16": "bfloat16"}
LAYOUTS = ("nhwc", "nchw")  # the first is what JAX's users have on the CPU, and the default
_THREADS_VARIABLE = "PJRT_NPROC"  # XLA's CPU client reads it before NPROC, and that before its mask
_POOL = "XLAEigen"  # in the names of the threads among which XLA shares out operators
_FP32_LOWERED_BY = {  # variables, and what leaves fp32 as it is
    "ONEDNN_DEFAULT_FPMATH_MODE": ("strict",),
    "DNNL_DEFAULT_FPMATH_MODE": ("strict",),
    "JAX_DEFAULT_MATMUL_PRECISION": ("float32", "highest"),
}
_FAST_MATH = "xla_cpu_enable_fast_math"


def before_import(prepare):
    _check("layout", prepare.settings.get("layout"), (None, *LAYOUTS))
    _check("precision", prepare.workload["precision"], tuple(PRECISIONS))
    if prepare.workload["precision"] == "fp32":
        _refuse_lowered_fp32()
    if prepare.settings.get("intra_op") is not None:
        os.environ[_THREADS_VARIABLE] = str(prepare.settings["intra_op"])
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # what is no warning would fill the kept end of stderr


def read_back():
    """The threads that XLA made for operators, counted by their name."""
    threads = 0
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            threads += _POOL in (task / "comm").read_text()
        except OSError:  # it has ended meanwhile
            pass
    return {"intra_op": threads} if threads else {}


def versions():
    import jax
    import jaxlib
    import numpy

    found = {"jax": jax.__version__, "jaxlib": jaxlib.__version__, "numpy": numpy.__version__}
    return {**found, "python": platform.python_version()}


def _check(name, value, known):
    if value not in known:
        there = " and ".join(word for word in known if word is not None)
        raise assay_worker.Refused("%s '%s' is unknown here. There is %s." % (name, value, there))


def _refuse_lowered_fp32():
    message = "variable %s=%s computes fp32 in less. Leave it out, or ask for precision bf16."
    for name, harmless in _FP32_LOWERED_BY.items():
        value = os.environ.get(name)
        if value is not None and value.lower() not in harmless:
            raise assay_worker.Refused(message % (name, value))
    for flag in os.environ.get("XLA_FLAGS", "").split():
        name, _, value = flag.lstrip("-").partition("=")
        if name == _FAST_MATH and value.lower() not in ("false", "0"):
            raise assay_worker.Refused(message % ("XLA_FLAGS", flag))
