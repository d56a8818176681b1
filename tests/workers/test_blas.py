"""workers/blas over the protocol: the library that is asked for, and what it refuses. Values: product_test.cpp."""

import pytest
from conftest import BUILD, FOLDERS

GEMM = {"network": "gemm", "batch": 1, "options": {"m": 96, "n": 80, "k": 64}}
FIXTURES = BUILD / "workers" / "blas" / "fixtures"

pytestmark = pytest.mark.skipif(not (FOLDERS["blas"] / "worker.json").exists(), reason="built without OpenMP")


def refused(answer, *parts):
    assert (answer["type"], answer["kind"]) == ("error", "refused"), answer
    for part in parts:
        assert part in answer["message"]


def prepared(start, library, **more):
    worker = start("blas", env={"BLAS_LIBRARY": library} if library else {})
    answer = worker.prepare(**{**GEMM, **more})
    if answer["type"] == "error" and "Install it: apt-get" in answer["message"]:
        pytest.skip(answer["message"])
    return worker, answer


@pytest.mark.parametrize("library", ["eigen", "openblas", "blis"])
@pytest.mark.parametrize("threads", [1, 2])
def test_library_release_and_threads_are_read_back(start, library, threads):
    worker, answer = prepared(start, library, settings={"intra_op": threads})
    assert answer["type"] == "prepared", answer
    assert (answer["effective"]["library"], answer["effective"]["intra_op"]) == (library, threads)
    assert answer["versions"][library][0].isdigit() and answer["effective"]["kernels"]
    assert len(worker.measure(max_samples=3, seconds=10)["ns"]) == 3


def test_eigen_is_there_without_a_word(start):
    _, answer = prepared(start, None)
    assert answer["effective"]["library"] == "eigen"


def test_a_batch_says_by_which_function(start):
    _, answer = prepared(start, "eigen", network="batched_gemm", batch=3)
    assert answer["effective"]["batch_function"] == "cblas_sgemm"


def test_a_library_that_multiplies_wrongly_is_refused(start):
    """The planted mistake: it leaves out the last of k. The same loops without the mistake are taken."""
    _, answer = prepared(start, str(FIXTURES / "blas_forgetful.so"))
    refused(answer, "blas_forgetful.so", "its product is wrong")
    _, answer = prepared(start, str(FIXTURES / "blas_plain.so"))
    assert answer["type"] == "prepared" and "intra_op" not in answer["effective"]


CASES = {
    "network": ({"network": "conv2d", "options": {}}, ("conv2d", "gemm and batched_gemm")),
    "option": ({"options": {"m": 0}}, ("'m'", "0")),
    "samples": ({"batch": 2}, ("batch 2",)),
    "training": ({"mode": "train"}, ("train", "gemm")),
    "precision": ({"precision": "bf16"}, ("bf16", "fp32")),
    "device": ({"placement": {"device": "cuda", "ranks": 1}}, ("cuda",)),
    "setting": ({"settings": {"spin": True}}, ("spin",)),
}


@pytest.mark.parametrize("case", CASES)
def test_what_it_cannot_do_is_refused_by_name(start, case):
    asked, parts = CASES[case]
    refused(start("blas").prepare(**{**GEMM, **asked}), *parts)


LIBRARIES = {
    "unknown": ("banana", ("'banana'", "openblas, blis, mkl")),
    "missing": ("/nowhere/libcblas.so", ("/nowhere/libcblas.so", "No such file")),
    "not a library of products": (str(FIXTURES / "blas_empty.so"), ("cblas_sgemm",)),
}


@pytest.mark.parametrize("case", LIBRARIES)
def test_a_library_that_is_not_there_is_refused(start, case):
    library, parts = LIBRARIES[case]
    refused(start("blas", env={"BLAS_LIBRARY": library}).prepare(**GEMM), *parts)


def test_the_refusal_has_the_command_that_installs(start, tmp_path):
    worker = start("blas", env={"BLAS_LIBRARY": "mkl", "HOME": str(tmp_path)})
    answer = worker.prepare(**GEMM)
    if answer["type"] == "prepared":
        pytest.skip("MKL is where the loader finds it")
    refused(answer, "libmkl_rt.so", "Install it: python3 -m venv ~/.local/share/mkl")


def test_want_of_memory_has_its_own_kind(start):
    huge = {"m": 2**30, "n": 2**30, "k": 1}
    assert start("blas").prepare(**{**GEMM, "options": huge})["kind"] == "out_of_memory"
