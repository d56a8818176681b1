"""Workers that are built when they are installed find every header they include among what was copied for them."""

import pathlib
import re

import pytest
from conftest import BUILD

WORKERS = pathlib.Path(BUILD) / "workers"


@pytest.mark.parametrize("worker", ["libtorch", "openvino"])
def test_each_included_file_is_there(worker):
    places = [WORKERS / "sources", WORKERS.parent]
    sources = [path for root in (WORKERS / "sources", WORKERS / worker) for path in root.rglob("*.[ch]pp")]
    assert sources, "nothing was copied"
    missing = [
        f"{path.relative_to(WORKERS)}: {name}"
        for path in sources
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)
        if not any((place / name).exists() for place in places)
    ]
    assert missing == []
