"""Settings: put in place before torch is loaded, set in it afterwards, and read back from it."""

import os
import re

import assay_data
import assay_worker

THREADS = {"inter_op", "intra_op", "library_threads", "spin"}
NETWORK = THREADS | {"compile", "layout"} | assay_data.SETTINGS
TRAINING_TOGETHER = NETWORK | {"bucket_bytes"}
GENERATION = THREADS | {"compile"}
COLLECTIVE = {"inter_op"}  # inert there as everywhere
LAYOUTS = ("nchw", "nhwc")
_FP32_LOWERED_BY = ("ONEDNN_DEFAULT_FPMATH_MODE", "DNNL_DEFAULT_FPMATH_MODE")


def before_import(prepare):
    """What libraries read when they are loaded."""
    settings = prepare.settings
    layout = settings.get("layout")
    if layout is not None and layout not in LAYOUTS:
        raise assay_worker.Refused("layout '%s' is unknown here. There is %s." % (layout, " and ".join(LAYOUTS)))
    threads = settings.get("library_threads")
    if threads is not None:
        os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = str(threads)
    spin = settings.get("spin")
    if spin is not None:
        os.environ["OMP_WAIT_POLICY"] = "active" if spin else "passive"
    if settings.get("compile") is not None:
        # Compiler processes that wait in the background would share the CPUs with what is measured.
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    if prepare.workload["precision"] == "fp32":
        _refuse_lowered_fp32()


def after_import(torch, prepare):
    """What torch is told itself. set_num_threads wins over OMP_NUM_THREADS."""
    settings = prepare.settings
    torch.backends.fp32_precision = "ieee"  # no TF32 or bf16 inside fp32
    if settings.get("intra_op") is not None:
        torch.set_num_threads(settings["intra_op"])
    if settings.get("inter_op") is not None:
        torch.set_num_interop_threads(settings["inter_op"])


def read_back(torch):
    """Thread counts as torch sees them now."""
    effective = {"intra_op": torch.get_num_threads(), "inter_op": torch.get_num_interop_threads()}
    openmp = re.search(r"omp_get_max_threads\(\) : (\d+)", torch.__config__.parallel_info())
    if openmp:
        effective["library_threads"] = int(openmp[1])
    return effective


def versions(torch):
    """Releases of torch and of what it stands on; what cannot be found out is left out."""
    import platform

    found = {"torch": torch.__version__, "python": platform.python_version()}
    patterns = {
        "mkl": r"Math Kernel Library Version (\S+?)-",
        "onednn": r"MKL-DNN v(\S+)",
        "openmp": r"a\.k\.a\. OpenMP (\S+)\)",
    }
    for name, pattern in patterns.items():
        match = re.search(pattern, torch.__config__.show())
        if match:
            found[name] = match[1]
    try:
        import numpy

        found["numpy"] = numpy.__version__
    except ImportError:
        pass
    if torch.version.cuda:
        found["cuda"] = torch.version.cuda
    return found


def _refuse_lowered_fp32():
    """oneDNN would compute in less than fp32 when these ask for it, whatever torch is told."""
    for name in _FP32_LOWERED_BY:
        if os.environ.get(name, "STRICT").upper() != "STRICT":
            message = "variable %s=%s computes fp32 in less. Leave it out, or ask for precision bf16."
            raise assay_worker.Refused(message % (name, os.environ[name]))
