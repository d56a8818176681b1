"""docs/frameworks.md says of every setting what worker.json says of it."""

import pytest
from conftest import ROOT, info

PAGE = (ROOT / "docs" / "frameworks.md").read_text()


def table(first_heading):
    """Rows of the table whose first column is headed so: dictionaries by heading."""
    lines = PAGE[PAGE.index("\n| %s |" % first_heading) + 1 :].split("\n\n")[0].splitlines()
    heads, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(heads, row)) for row in rows]


SETTINGS = table("setting")
FRAMEWORKS = [name for name in SETTINGS[0] if name != "setting"]


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_settings_are_applied_inert_or_refused_as_told(name):
    worker, told = info(name), {row["setting"].strip("`"): row[name] for row in SETTINGS}
    applied = {setting for setting, what in told.items() if not what.startswith(("inert", "refused"))}
    assert applied == set(worker["settings"])
    assert {setting for setting, what in told.items() if what.startswith("inert")} == set(worker["inert"])


def test_modes_precisions_and_details_are_those_of_each_worker():
    rows = table("worker")
    assert len(rows) == len(FRAMEWORKS)
    for row in rows:
        worker = info(row["worker"].split("]")[0].strip("[").split(" ")[0])
        for field in ("modes", "precisions", "details"):
            assert row[field].split(", ") == worker[field]
        assert row["a user's file"] == (", ".join("`.%s`" % kind for kind in worker.get("files", [])) or "none")
        assert (row["ranks work together by"] != "no") == worker.get("ranks", False)
