"""Settings: put in place before TensorFlow is loaded, set in it before its first use, and read back from it."""

import os

import assay_data
import assay_worker

THREADS = {"inter_op", "intra_op", "library_threads"}
NETWORK = THREADS | {"compile", "layout"} | assay_data.SETTINGS
RANKS = NETWORK | {"bucket_bytes"}
PRECISIONS = {"fp32": "float32", "bf16": "bfloat16"}
COMPILERS = ("xla",)
LAYOUTS = ("nhwc",)
_FP32_LOWERED_BY = ("ONEDNN_DEFAULT_FPMATH_MODE", "DNNL_DEFAULT_FPMATH_MODE", "TF_SET_ONEDNN_FPMATH_MODE")


def before_import(prepare):
    for name, known in (("compile", COMPILERS), ("layout", LAYOUTS)):
        value = prepare.settings.get(name)
        if value is not None and value not in known:
            raise assay_worker.Refused("%s '%s' is unknown here. There is %s." % (name, value, " and ".join(known)))
    precision = prepare.workload["precision"]
    if precision not in PRECISIONS:
        message = "precision '%s' is unknown here. There is %s."
        raise assay_worker.Refused(message % (precision, " and ".join(PRECISIONS)))
    if precision == "fp32":
        _refuse_lowered_fp32()
    os.environ["KERAS_BACKEND"] = "tensorflow"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")  # what is no warning would fill the kept end of stderr


def after_import(tf, prepare):
    """What must be told before TensorFlow makes its threads."""
    threading = tf.config.threading
    if prepare.settings.get("intra_op") is not None:
        threading.set_intra_op_parallelism_threads(prepare.settings["intra_op"])
    if prepare.settings.get("inter_op") is not None:
        threading.set_inter_op_parallelism_threads(prepare.settings["inter_op"])


def read_back(tf):
    """Thread counts as TensorFlow was told. It says 0 where it chooses by itself, which is left out."""
    threading = tf.config.threading
    told = {
        "intra_op": threading.get_intra_op_parallelism_threads(),
        "inter_op": threading.get_inter_op_parallelism_threads(),
    }
    return {name: threads for name, threads in told.items() if threads}


def versions(tf):
    import platform

    import keras
    import numpy

    found = {"tensorflow": tf.__version__, "keras": keras.__version__, "numpy": numpy.__version__}
    return {**found, "python": platform.python_version()}


def _refuse_lowered_fp32():
    """oneDNN would compute in less than fp32 when these ask for it, whatever TensorFlow is told."""
    for name in _FP32_LOWERED_BY:
        if os.environ.get(name, "STRICT").upper() != "STRICT":
            message = "variable %s=%s computes fp32 in less. Leave it out, or ask for precision bf16."
            raise assay_worker.Refused(message % (name, os.environ[name]))
