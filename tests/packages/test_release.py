"""packaging/release: everything that a release has, and checksums that hold."""

import json
import re
import subprocess
import sys
import zipfile

import pytest


@pytest.mark.full
def test_a_release_folder_is_whole(run, build, pip, tmp_path, request):
    root = request.config.rootpath
    folder = tmp_path / "release"
    env = {**pip[1], "HOME": str(tmp_path), "PATH": "/usr/bin:/bin:/sbin"}
    run(root, sys.executable, "packaging/release", build, folder, env=env, timeout=900)
    names = {path.name for path in folder.iterdir()}
    (wheel,) = folder.glob("*.whl")
    version = re.match(r"assay-([\d.]+)-", wheel.name)[1]
    assert names == {
        wheel.name,
        f"assay_{version}_amd64.deb",
        f"assay-{version}.cdx.json",
        "NOTES.md",
        "SHA256SUMS",
    }
    run(folder, "sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS")
    assert len((folder / "SHA256SUMS").read_text().splitlines()) == len(names) - 1
    bom = json.loads((folder / f"assay-{version}.cdx.json").read_text())
    assert (bom["bomFormat"], bom["specVersion"], bom["metadata"]["component"]["version"]) == (
        "CycloneDX",
        "1.5",
        version,
    )
    # Every library in the wheel is a component, with the version that dpkg has now.
    with zipfile.ZipFile(wheel) as archive:
        bundled = {name.rpartition("/")[2] for name in archive.namelist() if "/lib/assay/" in name}
    listed = {one["value"] for part in bom["components"] for one in part["properties"] if one["name"] == "assay:file"}
    assert listed == bundled
    for part in bom["components"]:
        known = run("/", "dpkg-query", "-W", "-f", "${Version}\n", part["name"]).splitlines()[0]
        assert part["version"] == known
    assert (folder / "NOTES.md").read_text().startswith(f"# Assay {version}\n")
    again = subprocess.run(
        [sys.executable, "packaging/release", build, folder], cwd=root, capture_output=True, text=True, check=False
    )
    assert again.returncode == 1 and "is there already" in again.stderr
