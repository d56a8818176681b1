"""What a submitter must keep to himself is nowhere in what Slurm is told, keeps, logs and starts.

The fifty secrets of planted_secrets.py are in the environment of the submitter and in the file of the store. The ids of
the submission and of the campaign are in every place on purpose: a search that finds neither proves nothing.
"""

import os
import tempfile

import planted_secrets as planted
import pytest
from secret_search import Search, Watch, names, places
from slurm_fleet import SlurmFleet, paced, why_not

pytestmark = pytest.mark.skipif(bool(why_not()), reason=str(why_not()))

PASSWORD = planted.PASSWORDS["password with slash"]


def is_ours(words):
    return b"assay" in words.split(b"\0")[0]


@pytest.fixture(scope="module")
def fleet():
    with tempfile.TemporaryDirectory(prefix="sec-") as folder:
        os.chmod(folder, 0o755)
        with SlurmFleet(folder, 1) as one:
            yield one


def guard(fleet):
    """From now on the server asks nodes for a password, which is in the file of the store alone."""
    quoted = PASSWORD.replace("'", "''")
    fleet.ask(f"ALTER ROLE owner PASSWORD '{quoted}'")
    rules = fleet.server.folder / "data" / "pg_hba.conf"
    rules.write_text("local all all trust\nhost all all all scram-sha-256\n")
    fleet.ask("SELECT pg_reload_conf()")
    url = f"{fleet.server.url()}&sslmode=disable".replace("owner@", f"owner:{planted.quoted(PASSWORD)}@")
    fleet.file.write_text(url + "\n")


def dump(fleet):
    """Everything that the database holds."""
    where = ["-h", str(fleet.server.folder), "-p", "5499", "-U", "owner", fleet.database]
    return fleet.server._run("pg_dump", *where)


def test_no_secret_reaches_slurm_agents_or_the_store(fleet):
    assert len(planted.everything()) >= 50
    guard(fleet)
    variables = planted.environment() | {name: planted.WAYS[name] for name in ("PGPASSWORD", "PGPASSFILE")}
    del variables["SLURM_JWT"]  # Slurm's programs would log in with it
    made = fleet.submit("toy", "--runs", 2, *paced(20_000_000, 1), "--name", "one", agents=1, **variables)
    canaries = {"canary submission": made["submission"], "canary campaign": made["campaign"]}
    search = Search({**planted.everything(), **planted.halves(), **canaries})
    state = fleet.cluster.folder
    with Watch(search, state, is_ours) as watch:
        fleet.wait_for("SELECT count(*) FROM assay.run WHERE state = 1", "no run was taken")
        told = fleet.cluster.run(["scontrol", "show", "job", "-dd", made["job"]])
        script = fleet.cluster.run(["scontrol", "write", "batch_script", made["job"], "-"])
        fleet.wait_until_done()
    fleet.wait_until_ended()
    assert fleet.judge()["failed"] == 0
    found = {
        "Slurm's answers": search.in_bytes(told, "scontrol show job"),
        "job script": search.in_bytes(script, "script"),
        "Slurm's files": search.in_folder(state),
        "files and processes while it ran": watch.found,
        "logs of agents": search.in_bytes(fleet.all_logs(), "log"),
        "database": search.in_bytes(dump(fleet), "dump"),
        "what show says": search.in_bytes(fleet.assay("show", "one", "--fleet"), "show"),
    }
    assert {"command line", "environment of a worker"} <= places(watch.found), "processes were looked at"
    for place, seen in found.items():
        if place != "logs of agents":
            assert names(seen) & set(canaries), f"nothing was seen in {place}"
        leaked = {one for one in seen if one[0] not in canaries}
        assert not leaked, f"{place}: {sorted(leaked)[:5]}"
    assert "run 0 of" in fleet.all_logs(), "agents have logs"
