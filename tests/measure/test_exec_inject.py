"""The hook that `assay exec --inject` puts before Python programs never breaks one."""

import json
import os
import sys

import pytest


@pytest.fixture
def hooked(place, tuning):
    """Runs a Python program with the hook; `modules` are files that stand on its path."""

    def run(program, modules, **env):
        for name, text in modules.items():
            place.write(name, text)
        words = ("--inject", "--tuned", tuning(inter_op=2), "--", sys.executable, "-c", program)
        return place.assay("exec", *words, **{"PYTHONPATH": place.path, **env})

    return run


FAKE_TORCH = "def set_num_interop_threads(count): print('told', count)\nprint('loaded')\n"


def test_a_module_is_told_behind_its_own_code_and_once(hooked):
    program = "print('begin'); import torch, importlib; importlib.import_module('torch'); print(torch.__spec__.name)"
    assert hooked(program, {"torch.py": FAKE_TORCH}).stdout.split() == ["begin", "loaded", "told", "2", "torch"]


def test_a_program_that_imports_no_framework_is_left_alone(hooked):
    ended = hooked("import json, sys; print('torch' in sys.modules)", {})
    assert ended.stdout == "False\n" and "warning" not in ended.stderr


def test_a_framework_that_is_missing_raises_what_python_raises(hooked):
    program = "\ntry:\n    import torch\nexcept ModuleNotFoundError as error:\n    print(error)"
    assert hooked(program, {}).stdout == "No module named 'torch'\n"


def test_a_framework_that_refuses_is_a_warning(hooked):
    ended = hooked(
        "import torch; print('went on')", {"torch.py": "def set_num_interop_threads(n): raise OSError('no')"}
    )
    assert ended.stdout == "went on\n"
    assert "warning: torch did not take {'inter_op': 2}: OSError: no" in ended.stderr


def test_an_error_of_the_module_itself_is_passed_on(hooked):
    program = "\ntry:\n    import torch\nexcept ZeroDivisionError:\n    print('its own')"
    assert hooked(program, {"torch.py": "1 / 0"}).stdout == "its own\n"


def test_the_users_sitecustomize_still_runs(hooked):
    modules = {"sitecustomize.py": "print('mine')\nNAME = 1", "torch.py": FAKE_TORCH}
    program = (
        "import torch, sitecustomize; print(sitecustomize.NAME, sitecustomize.__file__.endswith('sitecustomize.py'))"
    )
    assert hooked(program, modules).stdout.split() == ["mine", "loaded", "told", "2", "1", "True"]


@pytest.mark.parametrize("text", ["{", "[1]", json.dumps({"os": {}}), json.dumps({"torch": 3})])
def test_whatever_stands_in_the_variable_the_program_runs(place, text):
    folder = place.build / "libexec" / "inject"
    place.write("torch.py", "print('loaded')")
    env = {**os.environ, "PYTHONPATH": f"{folder}:{place.path}", "ASSAY_TUNED_INJECT": text}
    ended = place.run(["env", *(f"{k}={env[k]}" for k in ("PYTHONPATH", "ASSAY_TUNED_INJECT")),
                       sys.executable, "-c", "import torch"])  # fmt: skip
    assert ended.code == 0 and ended.stdout == "loaded\n" and "warning" in ended.stderr
