"""What tests of commands share: a private folder to call assay in, and documents held to their schemas."""

import json
import os
import pathlib
import subprocess

import jsonschema
import pytest
import referencing

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()


@pytest.fixture
def assay(tmp_path):
    """Calls assay in a folder of the test, and expects its exit code; None: any."""

    def call(*argv, code=0):
        env = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_") or k == "ASSAY_ENVIRONMENTS"}
        env["ASSAY_HOST_LOCK"] = str(tmp_path / "host.lock")
        argv = [BUILD / "assay", *map(str, argv)]
        done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=900, check=False)
        assert code in (done.returncode, None), f"exit {done.returncode}: {done.stdout}{done.stderr}"
        return done

    return call


@pytest.fixture
def null_server():
    """Starts built-in servers; they are ended with the test."""
    started = []

    def start(service):
        argv = [BUILD / "assay", "load", "--null-server", service]
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process.stdout.readline().strip()

    yield start
    for process in started:
        process.terminate()
        assert process.wait(timeout=10) == 0
        process.stdout.close()


@pytest.fixture(scope="session")
def validate():
    """Holds a document to the schema of that name under docs/formats."""
    schemas = {path.name: json.loads(path.read_text()) for path in (ROOT / "docs/formats").glob("*.schema.json")}
    resources = [(name, referencing.Resource.from_contents(schema)) for name, schema in schemas.items()]
    registry = referencing.Registry().with_resources(resources)

    def hold(found, name):
        jsonschema.Draft202012Validator(schemas[f"{name}.schema.json"], registry=registry).validate(found)
        return found

    return hold
