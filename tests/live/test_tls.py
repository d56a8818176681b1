"""A store across a network: TLS is required, and a server that loses it is waited for, never used in plain text."""

import os
import pathlib
import subprocess
import tempfile

import pytest
import shaped_hosts
from postgres_server import PostgresServer, why_not
from test_agents import LIMIT_SECONDS, Fleet
from test_standby import wait_for_words

REASON = why_not() or shaped_hosts.why_not()
pytestmark = pytest.mark.skipif(bool(REASON), reason=str(REASON))


def make_certificate(server, name):
    """Signed by itself, for the address of the server. The settings that make the server use it."""
    certificate, key = (server.folder / f"{name}.{kind}" for kind in ("crt", "key"))
    subject = ["-subj", f"/CN={server.address}", "-addext", f"subjectAltName=IP:{server.address}"]
    words = ["-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate, *subject]
    subprocess.run(["openssl", "req", "-x509", *words], check=True, capture_output=True)
    key.chmod(0o600)
    server.give_away(key)
    return ("ssl=on", f"ssl_cert_file={certificate}", f"ssl_key_file={key}")


@pytest.fixture(scope="module")
def server():
    """It listens on an address of this machine that is not of the loopback device, with TLS."""
    with shaped_hosts.ShapedHosts(1, rate_mbit=1000) as hosts, tempfile.TemporaryDirectory(prefix="assay-tls-") as name:
        os.chmod(name, 0o755)
        one = PostgresServer(pathlib.Path(name) / "pg", address=hosts.reach(200))
        one.plain = one.settings
        one.settings = (*one.plain, *make_certificate(one, "server"))
        make_certificate(one, "other")
        yield one.start()
        one.stop()


@pytest.fixture
def fleet(server):
    with tempfile.TemporaryDirectory(prefix="secured-") as own:
        one = Fleet(server, pathlib.Path(own))
        try:
            yield one
        finally:
            for agent in one.agents:
                agent.kill()
                agent.wait()


def restart(server, settings):
    server.kill()
    server.settings = settings
    server.start()


def secure_ones(fleet):
    """Connections of Assay that cross the network now: with TLS, and without."""
    sql = (
        "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
        "WHERE application_name = 'assay' AND client_addr IS NOT NULL AND "
    )
    return fleet.number(sql + "ssl"), fleet.number(sql + "NOT ssl")


def secure_ones_while_it_works(fleet, program):
    fleet.plan("toy", "--runs", 2, seconds="1s", program=program)
    agent = fleet.start_agent(program=program)
    fleet.wait_for("SELECT count(*) FROM assay.run WHERE state = 1", "no run was taken")
    found = secure_ones(fleet)
    assert agent.wait(LIMIT_SECONDS) == 0, agent.log.read_text()
    return found


def test_what_crosses_a_network_is_encrypted(fleet):
    assert secure_ones_while_it_works(fleet, "assay") == (1, 0)


def test_planted_a_program_that_asks_for_no_tls_is_seen(fleet):
    assert secure_ones_while_it_works(fleet, "assay-planted-plain_text") == (0, 1)


def test_a_certificate_that_is_asked_for_is_checked(fleet):
    folder = fleet.server.folder
    checked = fleet.store + "&sslmode=verify-full&sslrootcert="
    fleet.plan("toy", "--runs", 1, store=checked + str(folder / "server.crt"))
    refused = fleet.assay("show", "--all", store=checked + str(folder / "other.crt"), code=1).stderr
    assert "no secure connection" in refused
    refused = fleet.assay("show", "--all", store=checked + str(folder / "missing.crt"), code=1).stderr
    assert "no secure connection" in refused


def test_a_server_without_tls_is_used_only_where_the_url_says_so(fleet):
    secured = fleet.server.settings
    restart(fleet.server, fleet.server.plain)
    try:
        for store in (fleet.store, fleet.store + "&sslmode=prefer", fleet.store + "&sslmode=allow"):
            refused = fleet.assay("run", "toy", "--plan-only", "--worker", "fake", store=store, code=1).stderr
            assert "no secure connection" in refused
            assert "sslmode=disable" in refused
        fleet.plan("toy", "--runs", 1, store=fleet.store + "&sslmode=disable")
    finally:
        restart(fleet.server, secured)


def test_an_agent_does_not_go_on_in_plain_text(fleet):
    fleet.plan("toy", "--runs", 3, seconds="1s")
    secured = fleet.server.settings
    agent = fleet.start_agent()
    fleet.wait_for("SELECT count(*) FROM assay.run WHERE state = 1", "no run was taken")
    restart(fleet.server, fleet.server.plain)
    try:
        wait_for_words(agent, "no secure connection")
        assert secure_ones(fleet) == (0, 0)
    finally:
        restart(fleet.server, secured)
    assert agent.wait(LIMIT_SECONDS) == 0, agent.log.read_text()
    assert fleet.counted() == (3, 3, 0)
