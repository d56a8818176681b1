"""The head of a report answers the question before it lists what it rests on: fastest of what, against what, proved."""

import re
import sqlite3

import pytest
from reporting import FAKE, FORM, rename_runtime

pytestmark = pytest.mark.skipif(not FORM.exists(), reason="the page was not built: node or npm is missing")


def head_of(user, scale, runs):
    """What stands above the pictures, as text, where another runtime takes `scale` times the 300 us of fake."""
    for more in ([], ["--env", f"ASSAY_FAKE_SCALE={scale}"]):
        user.assay("run", "toy", *FAKE, "--option", "noise=0", "--runs", runs, "--retries", 0, "--name", "mine", *more)
    with sqlite3.connect(user.path / "assay.db") as database:
        rename_runtime(database)
    text = user.report().read_text()
    head = text[text.index("<header>") : text.index("<figure")]
    return re.sub(r"<[^>]*>", " ", head)


def test_the_fastest_is_named_with_what_it_beat_before_campaigns_are_listed(user):
    head = head_of(user, 2, 6)
    answer = "fake 1.0.0 is fastest in 1 of 1 workloads, proved against other 2.0."
    assert answer in head and "the median step takes 300 us" in head
    assert head.index(answer) < head.index("6 runs, 0 failed")


def test_what_is_not_proved_is_not_claimed(user):
    """Two runs have no interval."""
    head = head_of(user, 2, 2)
    assert "In 1 of 1 no runtime is proved to be the fastest." in head
    assert "1.0.0 is fastest" not in head and "2.0 is fastest" not in head
