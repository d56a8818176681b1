"""What worker.json says of telling a program its settings is complete, and the hooks and the page know it."""

import ast
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKERS = {path.parent.name: json.loads(path.read_text()) for path in sorted((ROOT / "workers").glob("*/worker.json"))}
TOLD = {name: worker for name, worker in WORKERS.items() if name not in ("fake", "command")}  # those have no framework
SETTINGS = json.loads((ROOT / "docs/formats/trial.schema.json").read_text())["$defs"]["Settings"]["properties"]


def hooks():
    tree = ast.parse((ROOT / "assay/tune/inject/sitecustomize.py").read_text())
    [table] = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "HOOKS"]
    return {key.value for key in table.keys}


@pytest.mark.parametrize("name", TOLD)
def test_every_setting_of_a_worker_has_a_way_to_a_program(name):
    worker = TOLD[name]
    told = {key.partition("=")[0] for key in worker["launch"]}
    assert told <= set(SETTINGS)
    assert set(worker["settings"]) | set(worker["inert"]) <= told


@pytest.mark.parametrize("name", TOLD)
def test_hooks_are_there_and_say_what_a_line_of_code_says(name):
    for setting, launch in TOLD[name]["launch"].items():
        assert set(launch) <= {"env", "code", "inject"}, setting
        assert launch.get("inject", "torch") in hooks(), setting
        assert "inject" not in launch or launch["code"], setting


@pytest.mark.parametrize("name", TOLD)
def test_lines_of_code_are_python(name):
    for launch in TOLD[name]["launch"].values():
        ast.parse(launch.get("code", "").replace("{value}", "1"))


@pytest.mark.parametrize("name", sorted(set(TOLD) - {"mpi"}))
def test_the_page_names_every_variable_of_a_thread_count(name):
    page = (ROOT / "docs/reference/settings.md").read_text()
    for setting in ("intra_op", "inter_op", "library_threads"):
        for variable in TOLD[name]["launch"].get(setting, {}).get("env", {}):
            assert variable in page, variable
