"""What was changed is measured again by the same command, and what was not is not: a program, a script, a module that
a script imports, an ONNX file, a Python function and a module that it imports."""

import os
import pathlib
import shutil
import subprocess

import pytest
from test_cli import BUILD, environment

SHORT = ["--runs", "1", "--seconds", "1ms", "--warmup", "0", "--retries", "0", "--no-peak", "--quiet"]
ENVIRONMENTS = pathlib.Path(os.environ.get("ASSAY_ENVIRONMENTS", "nowhere"))

WRITE_ONNX = """
import sys
from onnx import TensorProto, helper, save
width = int(sys.argv[1])
ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", width]) for name in "xy"]
graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", ends[:1], ends[1:])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), sys.argv[2])
"""
FUNCTION = """
import torch
from sizes import WIDTH
def net():
    return torch.nn.Linear(WIDTH, {outputs}), lambda batch: torch.randn(batch, WIDTH)
"""


def python_of(worker):
    """The Python of a worker's environment; the test is skipped where that is not installed."""
    found = sorted(ENVIRONMENTS.glob(f"{worker}-*/bin/python"))
    if not found:
        pytest.skip(f"{worker} is not installed")
    return found[-1]


@pytest.fixture
def measures(tmp_path):
    """Runs `assay run` with what is given; whether it measured, or said that it did not."""
    count = 0

    def run(*argv):
        nonlocal count
        env = environment(tmp_path)
        if ENVIRONMENTS.is_dir():
            env["ASSAY_ENVIRONMENTS"] = str(ENVIRONMENTS)
        what = list(argv)
        program = what[what.index("--") :] if "--" in what else []
        call = [BUILD / "assay", "run", *what[: len(what) - len(program)], *SHORT, *program]
        done = subprocess.run(call, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        said = "nothing measured: the same workload was measured" in done.stderr
        listed = subprocess.run([BUILD / "assay", "export", "--format", "csv"], cwd=tmp_path, env=env, text=True,
                                capture_output=True, timeout=60, check=True).stdout  # fmt: skip
        before, count = count, len(listed.splitlines()) - 1
        assert said == (count == before), f"what it says and what it does differ: {done.stderr}"
        return not said

    return run


def held(measures, command, changes):
    """The command measures at first and after every change, each time once."""
    assert measures(*command)
    assert not measures(*command), "nothing has changed"
    for name, change in changes.items():
        change()
        assert measures(*command), f"{name} has changed"
        assert not measures(*command), f"{name} has changed once"


def test_a_changed_program(measures, tmp_path):
    """A compiled one, as far as the file is concerned: another program under the same name."""
    shutil.copy("/bin/true", tmp_path / "prog")

    def replace():
        (tmp_path / "prog").unlink()
        shutil.copy("/bin/echo", tmp_path / "prog")

    held(measures, ["--", "./prog"], {"the program": replace})


def test_a_changed_script_and_modules_that_it_imports(measures, tmp_path):
    """Also one that is imported by another, and one in a package. A file beside them that nobody imports is no part."""
    (tmp_path / "work.py").write_text("import one\nfrom package import two\n")
    (tmp_path / "one.py").write_text("import three\n")
    (tmp_path / "three.py").write_text("x = 1\n")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("")
    (tmp_path / "package" / "two.py").write_text("y = 1\n")
    command = ["--", "python3", "work.py"]
    held(measures, command, {
        "the script": lambda: (tmp_path / "work.py").write_text("import one\nfrom package import two\nz = 1\n"),
        "a module": lambda: (tmp_path / "one.py").write_text("import three\nz = 1\n"),
        "a module of a module": lambda: (tmp_path / "three.py").write_text("x = 2\n"),
        "a module of a package": lambda: (tmp_path / "package" / "two.py").write_text("y = 2\n"),
    })  # fmt: skip
    (tmp_path / "other.py").write_text("x = 1\n")
    assert not measures(*command), "nobody imports other.py"


def test_a_changed_onnx_file(measures, tmp_path):
    python = python_of("onnxruntime")

    def write(width):
        subprocess.run([python, "-c", WRITE_ONNX, str(width), tmp_path / "model.onnx"], check=True, timeout=120)

    write(4)
    held(measures, ["model.onnx", "--worker", "onnxruntime"], {"the file": lambda: write(8)})


def test_a_changed_function_and_a_module_that_it_imports(measures, tmp_path):
    python_of("pytorch")
    (tmp_path / "sizes.py").write_text("WIDTH = 4\n")
    (tmp_path / "net.py").write_text(FUNCTION.format(outputs=2))
    held(measures, ["net.py:net", "--worker", "pytorch"], {
        "the function": lambda: (tmp_path / "net.py").write_text(FUNCTION.format(outputs=3)),
        "a module": lambda: (tmp_path / "sizes.py").write_text("WIDTH = 8\n"),
    })  # fmt: skip
