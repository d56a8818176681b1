"""Tables that others published are not part of Assay: ASSAY_PUBLISHED names their folder (docs/published.md)."""

import csv
import os
import pathlib

import pytest

FOLDER = os.environ.get("ASSAY_PUBLISHED", "")
WHY_NOT = f"ASSAY_PUBLISHED ({FOLDER or 'unset'}) names no folder of published tables"


def path_of(name):
    """Skips the test where the table is not there."""
    path = pathlib.Path(FOLDER or "nowhere", name)
    if not path.is_file():
        pytest.skip(WHY_NOT)
    return path


def rows_of(name):
    """Rows as parameters of a test; one that is skipped where the table is not there."""
    path = pathlib.Path(FOLDER or "nowhere", name)
    if not path.is_file():
        return [pytest.param({"network": name, "recompute": ""}, marks=pytest.mark.skip(reason=WHY_NOT))]
    with path.open() as file:
        return list(csv.DictReader(file))
