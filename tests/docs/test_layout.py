"""Lists and tables of the pages as mkdocs wants them."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import docs_layout


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Text:\n- a\n- b", "Text:\n\n- a\n- b"),
        ("Text\n| a |\n| --- |", "Text\n\n| a |\n| --- |"),
        ("- a\n  goes on\n- b", "- a\n  goes on\n- b"),
        ("- a\n  - deeper\n- b", "- a\n    - deeper\n- b"),
        ("- a\n\n  | t |\n  | - |", "- a\n\n    | t |\n    | - |"),
        ("- a\n\n  more of a\n- b", "- a\n\n    more of a\n\n- b"),
        ("```text\nx\n- y\n```", "```text\nx\n- y\n```"),
    ],
)
def test_what_github_reads_is_laid_out_for_mkdocs(written, expected):
    assert docs_layout.laid_out(written) == expected
