"""The MPI worker over hosts with links of a known rate: steps take as long as their algorithm must on such links."""

import json
import os
import pathlib
import shutil
import statistics
import sys

import pytest
from shaped_hosts import EAGER, PAYLOAD_SHARE, ShapedHosts, why_not

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKER = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")) / "workers" / "mpi" / "worker.json"
RATE_MBIT = 400
BYTES = 4 << 20
BURSTS = 3  # steps at the beginning that what the links let pass at once makes shorter

pytestmark = [
    pytest.mark.full,  # needs an idle machine
    pytest.mark.skipif(not WORKER.exists() or not shutil.which("mpirun"), reason="built without Open MPI"),
]


@pytest.fixture(autouse=True, scope="module")
def possible():
    reason = why_not()
    if reason:
        pytest.skip(reason)


def step_seconds(hosts, folder, algorithm, steps=12):
    """The median step of an all_reduce over the hosts, each step being as long as on its slowest rank."""
    prepare = {
        "network": "all_reduce",
        "options": {"bytes": BYTES, "algorithm": algorithm},
        "settings": {"spin": False},
    }
    measure = {"seconds": 1000, "max_samples": BURSTS + steps}
    rank = [sys.executable, str(ROOT / "tests" / "workers" / "mpi_rank.py"), str(folder)]
    flags = [word for name in EAGER for word in ("--mca", name, str(4 * BYTES))]
    done = hosts.mpirun([*rank, json.dumps(prepare), json.dumps(measure)], timeout=60, flags=flags, capture_output=True)
    answers = [json.loads(path.read_text()) for path in folder.glob("*.json")]
    assert len(answers) == hosts.count, done.stderr
    each = [max(times) for times in zip(*(measured["ns"] for _, measured, _ in answers))]
    return statistics.median(each[BURSTS:]) / 1e9


@pytest.mark.parametrize("count", [2, 4])
def test_a_ring_takes_as_long_as_its_links(tmp_path, count):
    """Each host sends and receives 2 (P - 1) / P of the bytes, both at once."""
    with ShapedHosts(count, RATE_MBIT) as hosts:
        seconds = step_seconds(hosts, tmp_path, "ring")
    expected = 2 * (count - 1) / count * BYTES / PAYLOAD_SHARE * 8 / (RATE_MBIT * 1e6)
    assert expected * 0.9 < seconds < expected * 1.25


def test_all_to_one_and_back_takes_as_long_as_the_one_link(tmp_path):
    """So the algorithm asked for is the one that ran: rank 0 takes in P - 1 times the bytes, and then sends as many."""
    with ShapedHosts(4, RATE_MBIT) as hosts:
        seconds = step_seconds(hosts, tmp_path, "basic_linear", steps=5)
    expected = 2 * 3 * BYTES / PAYLOAD_SHARE * 8 / (RATE_MBIT * 1e6)
    assert expected * 0.9 < seconds < expected * 1.25
