"""assay worker audit: twelve workers that cheat are caught, each by a check that is there for it; honest ones pass."""

import json
import os
import subprocess

import jsonschema
import pytest
from cheats import catalog, worker
from conftest import BUILD, environment, schema

LIMIT_SECONDS = 300
# What each must be caught by. Others may find it too.
CAUGHT_BY = {
    "skips_every_second_step": "cost",
    "returns_cached_output": "cost",
    "smaller_batch": "cost",
    "lower_precision": "output",
    "fewer_layers": "cost",
    "does_not_wait": "idle",
    "slower_clock": "clock",
    "drops_slow_samples": "pause",
    "repeats_a_sample": "repeats",
    "sleeps_to_look_steady": "busy",
    "prepares_in_warm_up": "cost",
    "reports_made_up_samples": "pause",
}
# One cheat for each check. The others take long and are caught by the same.
FIRST_OF_A_CHECK = list({check: name for name, check in reversed(CAUGHT_BY.items())}.values())
OTHERS = [name for name in CAUGHT_BY if name not in FIRST_OF_A_CHECK]


@pytest.fixture(scope="module")
def audit(tmp_path_factory):
    if not (BUILD / "assay").exists():
        pytest.skip("assay is not built")
    folder = tmp_path_factory.mktemp("audit")
    root = catalog.make(folder / "workers", ["honest", *worker.CHEATS])
    env = {**os.environ, "ASSAY_WORKERS": str(root), "ASSAY_HOST_LOCK": str(folder / "host.lock")}

    def run(name, *more, code):
        done = subprocess.run([BUILD / "assay", "worker", "audit", name, *more], env=env, capture_output=True,
                              text=True, timeout=LIMIT_SECONDS, check=False)  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


def checks_of(done):
    result = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schema("audit")).validate(result)
    return {check["name"]: check for check in result["checks"]}


@pytest.mark.timing
@pytest.mark.parametrize("name", [*FIRST_OF_A_CHECK, *(pytest.param(n, marks=pytest.mark.full) for n in OTHERS)])
def test_a_cheat_is_caught(audit, name):
    check = checks_of(audit(name, "--json", code=3))[CAUGHT_BY[name]]
    assert check["judgement"] == "alarm" and check["alarms"] >= 2, check


@pytest.mark.timing
def test_an_honest_worker_raises_no_alarm(audit):
    checks = checks_of(audit("honest", "--json", code=0))
    assert {check["judgement"] for check in checks.values()} == {"ok"}


@pytest.mark.timing
@pytest.mark.full
@pytest.mark.parametrize("name", ["pytorch", "libtorch", "tensorflow", "jax", "mxnet", "onnxruntime", "openvino"])
def test_our_own_workers_raise_no_alarm(audit, name):
    environment(name)
    checks = checks_of(audit(name, "--json", code=0))
    assert {check["judgement"] for check in checks.values()} == {"ok"}


def test_every_cheat_is_named():
    assert list(CAUGHT_BY) == list(worker.CHEATS) and len(CAUGHT_BY) == 12


def test_a_worker_without_graphs_cannot_be_audited(audit):
    assert "cannot be audited: it does not build graphs" in audit("fake", code=2).stderr
