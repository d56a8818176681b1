"""Hosts on one machine: their links are as fast as asked for, can be pulled, and leave nothing behind."""

import pathlib
import shutil
import statistics
import subprocess
import sys

import pytest
from shaped_hosts import BURST_BYTES, PAYLOAD_SHARE, ShapedHosts, why_not

LIMIT_SECONDS = 60

RECEIVE = """
import socket, sys, time
listener = socket.create_server(("", 5000))
print("ready", flush=True)
for _ in range(int(sys.argv[1])):
    connection, _ = listener.accept()
    got = len(connection.recv(1))
    begin = time.monotonic()
    while chunk := connection.recv(1 << 20):
        got += len(chunk)
    connection.close()
    print(got, time.monotonic() - begin, flush=True)
"""
SEND = """
import socket, sys
with socket.create_connection((sys.argv[1], 5000), timeout=float(sys.argv[3])) as connection:
    connection.sendall(bytes(int(sys.argv[2])))
"""


@pytest.fixture(autouse=True, scope="module")
def possible():
    reason = why_not()
    if reason:
        pytest.skip(reason)


def transfer(hosts, size, times):
    """Seconds that host 1 took to receive `size` bytes from host 0, for each time."""
    receive = hosts.command(1, [sys.executable, "-c", RECEIVE, str(times)])
    with subprocess.Popen(receive, stdout=subprocess.PIPE, text=True) as receiver:
        assert receiver.stdout.readline() == "ready\n"
        for _ in range(times):
            send = [sys.executable, "-c", SEND, hosts.addresses[1], str(size), "20"]
            subprocess.run(hosts.command(0, send), check=True, timeout=LIMIT_SECONDS)
        lines = [line.split() for line in receiver.stdout]
    assert [int(got) for got, _ in lines] == [size] * times
    return [float(seconds) for _, seconds in lines]


def named(prefix):
    """Namespaces and interfaces that exist and whose names begin like this."""
    found = [subprocess.check_output(["ip", "netns", "list"], text=True)]
    found.append(subprocess.check_output(["ip", "-brief", "link"], text=True))
    return [line for text in found for line in text.splitlines() if line.startswith(prefix)]


def seconds_over_link(rate_mbit):
    """What transfers took at the median, over what the link asks for."""
    size = rate_mbit * 20_000  # 0.16 s
    with ShapedHosts(2, rate_mbit) as hosts:
        seconds = statistics.median(transfer(hosts, size, times=5))
    return seconds / ((size / PAYLOAD_SHARE - BURST_BYTES) * 8 / (rate_mbit * 1e6))


@pytest.mark.parametrize("rate_mbit", [100, 400])
def test_a_transfer_is_no_faster_than_its_link(rate_mbit):
    assert seconds_over_link(rate_mbit) > 0.85


@pytest.mark.full  # needs an idle machine
@pytest.mark.parametrize("rate_mbit", [100, 400])
def test_a_transfer_takes_as_long_as_its_link(rate_mbit):
    assert 0.85 < seconds_over_link(rate_mbit) < 1.15


def test_nothing_is_left_behind():
    with ShapedHosts(3, 100) as hosts:
        assert len(named(hosts.prefix)) == 3 + 3 + 1  # namespaces, links and the bridge
        sleeper = subprocess.Popen(hosts.command(2, ["sleep", "1000"]))
    assert sleeper.wait(LIMIT_SECONDS) == -9
    assert named(hosts.prefix) == []


def test_nothing_is_left_behind_by_an_exception():
    with pytest.raises(ZeroDivisionError), ShapedHosts(2, 100) as hosts:
        assert named(hosts.prefix)
        1 / 0  # noqa: B018
    assert named(hosts.prefix) == []


def test_what_was_made_goes_when_making_fails():
    hosts = ShapedHosts(2, 0)  # there is no link of 0 Mbit/s
    with pytest.raises(OSError, match="tbf"), hosts:
        pass
    assert named(hosts.prefix) == []


def test_nothing_is_left_behind_by_a_kill():
    code = "import shaped_hosts\nwith shaped_hosts.ShapedHosts(2, 100) as h: print(h.prefix, flush=True), input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    folder = pathlib.Path(__file__).parent
    with subprocess.Popen([sys.executable, "-c", code], cwd=folder, text=True, **pipes) as process:
        prefix = process.stdout.readline().strip()
        assert len(named(prefix)) == 2 + 2 + 1
        process.kill()
        process.stdout.read()  # ends when the guard has ended
    assert named(prefix) == []


def test_two_sets_of_hosts_live_side_by_side():
    with ShapedHosts(2, 100) as first, ShapedHosts(2, 100) as second:
        assert named(first.prefix) and named(second.prefix)
        assert transfer(first, 1000, times=1) and transfer(second, 1000, times=1)


def test_a_link_goes_down_and_up_again():
    with ShapedHosts(2, 100) as hosts:
        hosts.link_down(1)
        send = hosts.command(0, [sys.executable, "-c", SEND, hosts.addresses[1], "1", "0.3"])
        done = subprocess.run(send, check=False, capture_output=True, text=True, timeout=LIMIT_SECONDS)
        assert done.returncode != 0 and ("timed out" in done.stderr or "No route" in done.stderr)
        hosts.link_up(1)
        assert transfer(hosts, 1000, times=1)


def test_each_host_has_a_name_of_its_own():
    with ShapedHosts(2, 100) as hosts:
        names = [subprocess.check_output(hosts.command(i, ["hostname"]), text=True).strip() for i in range(2)]
    assert names == ["node1", "node2"]


@pytest.mark.skipif(not shutil.which("mpirun"), reason="mpirun is not installed")
def test_mpirun_reaches_every_host():
    with ShapedHosts(3, 400) as hosts:
        done = hosts.mpirun(["hostname"], timeout=LIMIT_SECONDS, slots=2, capture_output=True, text=True)
    assert sorted(done.stdout.split()) == ["node1", "node1", "node2", "node2", "node3", "node3"], done.stderr
