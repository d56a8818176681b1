"""Every figure says in bench/ci.txt whether it judges a change, and every line there is a figure."""

import collections
import os
import pathlib

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"


def test_every_figure_is_in_the_list_once_with_a_reason():
    lines = [line.split(maxsplit=2) for line in (BENCH / "ci.txt").read_text().splitlines() if line[:1] != "#"]
    assert all(len(line) == 3 and line[0] in ("gate", "idle", "hand") for line in lines)
    figures = {path.name for path in BENCH.iterdir() if path.is_file() and os.access(path, os.X_OK)} - {"all"}
    assert collections.Counter(name for _, name, _ in lines) == collections.Counter(figures)
