"""scripts/record-session shows what a terminal would show in the end."""

import importlib.machinery
import importlib.util
import xml.etree.ElementTree as ET

import pages
import pytest

loader = importlib.machinery.SourceFileLoader("record_session", str(pages.ROOT / "scripts" / "record-session"))
spec = importlib.util.spec_from_loader(loader.name, loader)
recorder = importlib.util.module_from_spec(spec)
loader.exec_module(recorder)


def shown(text):
    return ["".join(character for character, _ in line) for line in recorder.Screen().read(text).lines]


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ("a\r\nb", ["a", "b"]),
        ("[1/6]\r[2/6]", ["[2/6]"]),
        ("[1/6] again\r\x1b[Kdone", ["done"]),
        ("long\rab", ["abng"]),
        ("\x1b[1mbold\x1b[0m plain", ["bold plain"]),
        ("one\r\ntwo\x1b[1A\rONE", ["ONE", "two"]),
    ],
)
def test_a_line_that_was_written_over_is_gone(written, lines):
    assert shown(written) == lines


def test_the_picture_is_svg_that_loads_nothing_and_escapes_text():
    lines = recorder.Screen().read("<script>x</script> & \x1b[31mred\x1b[0m").lines
    text = recorder.picture([("assay <b>", lines)])
    tree = ET.fromstring(text)
    assert not [part for part in tree.iter() if part.tag.endswith(("script", "image", "use"))]
    assert "".join(tree.itertext()).count("<script>x</script> & red") == 1
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_the_picture_in_the_repository_is_one_of_these():
    recorded = (pages.ROOT / "docs" / "pictures" / "session.svg").read_text()
    for command in recorder.SESSION:
        assert recorder.html.escape(command) in recorded
