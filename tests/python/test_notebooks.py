"""Every notebook of examples runs from the first cell to the last, in a kernel of its own."""

import json
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
REQUIREMENTS = ROOT / "scripts" / "requirements-notebooks.txt"


@pytest.fixture(scope="module")
def jupyter():
    """An environment with nbconvert, kept beside the build for the next time."""
    folder = ROOT / "build" / "notebooks"
    copy = folder / REQUIREMENTS.name
    if not copy.exists() or copy.read_text() != REQUIREMENTS.read_text():
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--clear", folder], check=True)
        pip = [folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        subprocess.run([*pip, "-r", REQUIREMENTS], check=True)
        copy.write_text(REQUIREMENTS.read_text())
    return folder / "bin"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_kept_without_output(notebook):
    """What a run printed would be out of date, and hides a cell that no longer runs."""
    for cell in json.loads(notebook.read_text())["cells"]:
        assert cell.get("outputs", []) == [] and cell.get("execution_count") is None


@pytest.mark.full
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(notebook, jupyter, place):
    (place / "examples" / "notebooks").mkdir(parents=True)
    (place / "examples" / "clusters").symlink_to(ROOT / "examples" / "clusters")
    copy = place / "examples" / "notebooks" / notebook.name
    copy.write_text(notebook.read_text())
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "JUPYTER_DATA_DIR": str(place / "jupyter")}
    env |= {"IPYTHONDIR": str(place / "ipython"), "PATH": os.pathsep.join([str(jupyter), os.environ["PATH"]])}
    convert = [jupyter / "jupyter-nbconvert", "--execute", "--to", "notebook", "--inplace", copy.name]
    done = subprocess.run(convert, cwd=copy.parent, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    outputs = [one for cell in json.loads(copy.read_text())["cells"] for one in cell.get("outputs", [])]
    shown = [("".join(one["data"]["text/html"])) for one in outputs if "text/html" in one.get("data", {})]
    assert sum("<svg" in text for text in shown) >= 4  # results, samples, comparison and prediction
    assert any("<table" in text and "slower" in text for text in shown)
    assert any("<progress" in text and 'value="36" max="36"' in text for text in shown)  # 6 batches x 6 runs
