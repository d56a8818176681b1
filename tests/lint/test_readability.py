"""scripts/readability counts sentences alone: what a reader does not read as one is not there."""

import importlib.machinery
import importlib.util
import pathlib

import pytest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "readability"


@pytest.fixture(scope="module")
def readability():
    loader = importlib.machinery.SourceFileLoader("readability", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("readability", loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("page", "read"),
    [
        ("# Title\n\nOne `two`\n[three](far/away.md).\n", "One two three."),
        ("A list:\n- an item\n- another.\n", "A list:\nan item.\nanother."),
        ("1. First\n2. Second\n", "First.\nSecond."),
        ("Before.\n\n```sh\nassay run toy\n```\n\nAfter.\n", "Before.\nAfter."),
        ("<!-- test: full\nneeds x -->\n| a | b |\n| - | - |\n\nText.\n", "Text."),
        ("![a picture](p.png)\n\n*For anyone.*\n", "a picture.\nFor anyone."),
        ("    indented\n\nText\n", "Text."),
    ],
)
def test_only_sentences_are_read(readability, page, read):
    assert readability.sentences(page) == read
