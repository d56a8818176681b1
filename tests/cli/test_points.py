"""points.txt: every point of a first hour has a test that holds it."""

import pathlib

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]


def points():
    lines = [line for line in (TESTS / "cli" / "points.txt").read_text().splitlines() if line[:1] not in ("#", "")]
    return [tuple(part.strip() for part in line.split(" | ")) for line in lines]


@pytest.mark.parametrize(("point", "file", "words"), points(), ids=lambda text: text[:40])
def test_a_point_has_its_test(point, file, words):
    assert point and words in (TESTS / file).read_text(), f"{file} does not say: {words}"


def test_points_are_named_once():
    names = [point for point, _, _ in points()]
    assert len(names) == len(set(names)) and len(names) > 30
