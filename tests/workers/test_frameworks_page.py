"""docs/frameworks.md says of every worker what worker.json says of it."""

from conftest import ROOT, info

PAGE = (ROOT / "docs" / "frameworks.md").read_text()


def table(first_heading):
    """Rows of the table whose first column is headed so: dictionaries by heading."""
    lines = PAGE[PAGE.index("\n| %s |" % first_heading) + 1 :].split("\n\n")[0].splitlines()
    heads, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [dict(zip(heads, row)) for row in rows]


def test_modes_precisions_and_details_are_those_of_each_worker():
    rows = table("worker")
    assert len(rows) == 14  # all but fake, command and mpi
    for row in rows:
        worker = info(row["worker"].split("]")[0].strip("[").split(" ")[0])
        for field in ("modes", "precisions", "details"):
            assert row[field].split(", ") == worker[field]
        assert row["a user's file"] == (", ".join("`.%s`" % kind for kind in worker.get("files", [])) or "none")
        assert (row["ranks work together by"] != "no") == worker.get("ranks", False)
