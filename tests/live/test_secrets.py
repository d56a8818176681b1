"""Fifty secrets are planted where users have them; none is found in what Assay writes, says, starts or stores.

Everything happens once, in `scene`; a test for each place then says what was found there. A canary was put into every
one of them on purpose: a search that does not find it proves nothing.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

import planted_secrets as planted
import pytest
from postgres_server import PORT, PostgresServer, programs, why_not
from secret_search import Search, Watch, names

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
LIMIT_SECONDS = 180
PLAN = ["toy", "--worker", "fake", "--env", f"SEEN={planted.CANARY}", "--name", planted.CANARY, "--warmup", "0s"]
PACED = [word for option in ("pace=1", "base_ns=20000000", "per_sample_ns=0") for word in ("--option", option)]
PLACES = [
    "output",
    "database",
    "server log",
    "agent log",
    "exports",
    "report",
    "run directories",
    "spool",
    "command line",
    "environment of a worker",
]

pytestmark = pytest.mark.skipif(bool(why_not()), reason=str(why_not()))


def is_worker(words):
    return b"assay-worker-fake" in words


class Scene:
    """A server that asks for passwords, and calls of assay by somebody whose environment is full of secrets."""

    def __init__(self, folder):
        self.folder = folder  # of what is searched
        self.hidden = folder.parent / "hidden"  # of the files in which users keep secrets
        for path in (folder, self.hidden, folder / "tmp", folder / "home"):
            path.mkdir(mode=0o755)
        self.search = Search({**planted.everything(), **planted.halves(), "canary": planted.CANARY})
        self.found = {place: set() for place in PLACES}
        self.server = PostgresServer(folder.parent / "pg").start()
        self.store = self.server.url()

    def environment(self, **more):
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        own = {
            "HOME": str(self.hidden),
            "TMPDIR": str(self.folder / "tmp"),
            "ASSAY_SPOOL": str(self.folder / "spool"),
            "ASSAY_NO_HOST_LOCK": "true",
        }
        return {**kept, **own, **planted.environment(), **more}

    def assay(self, *argv, code=0, program="assay", **more):
        done = subprocess.run(
            [BUILD / program, *map(str, argv)],
            cwd=self.folder,
            env=self.environment(**more),
            capture_output=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        said = done.stdout + done.stderr
        self.found["output"] |= self.search.in_bytes(said, "output")
        assert done.returncode == code, f"{argv}: exit {done.returncode}: {said.decode(errors='replace')}"
        return said.decode()

    def hide(self, name, text):
        file = self.hidden / name.replace(" ", "_").replace("/", "_")
        file.write_text(text + "\n")
        file.chmod(0o600)
        return file

    def role(self, name, password):
        text = password.replace("'", "''")
        self.server.ask(f"CREATE ROLE \"{name}\" LOGIN PASSWORD '{text}'")
        self.assay("store", "allow", "reader", name, "--store", self.store)

    def url(self, user):
        return self.server.url(user=user)

    def start_agent(self, location, program="assay", **more):
        log = self.folder / f"agent-{time.monotonic_ns()}.log"
        words = [BUILD / program, "agent", "--campaign", planted.CANARY, "--store", location]
        with log.open("w") as stream:
            agent = subprocess.Popen(words, cwd=self.folder, env=self.environment(**more), stderr=stream, stdout=stream)
        agent.log = log
        return agent


def plan(scene):
    words = ["--seconds", "700ms", "--runs", 3, "--retries", 0, "--plan-only", "--json", "--store", scene.store]
    scene.campaign = json.loads(scene.assay("run", *PLAN, *PACED, *words))["campaign"]
    scene.server.ask(f"DO $$ BEGIN RAISE LOG '{planted.CANARY}'; END $$")


def ask_for_passwords(scene):
    for number, password in enumerate(planted.PASSWORDS.values()):
        scene.role(f"role{number}", password)
    for number, password in enumerate(planted.WAYS.values()):
        scene.role(f"way{number}", password)
    scene.server.ask(
        f"CREATE ROLE guarded LOGIN PASSWORD '{planted.PASSWORDS['password with letters']}'; SELECT pg_reload_conf()"
    )
    scene.assay("store", "allow", "agent", "guarded", "--store", scene.store)
    rules = scene.server.folder / "data" / "pg_hba.conf"
    rules.write_text("local all owner trust\nlocal all all scram-sha-256\n")
    scene.server.ask("SELECT pg_reload_conf()")


def log_in(scene):
    """Every password is the right one here: who gets in has used it."""
    show = ["show", "--all", "--store"]
    for number, (name, password) in enumerate(planted.PASSWORDS.items()):
        file = scene.hide(name, scene.url(f"role{number}:{planted.quoted(password)}"))
        assert planted.CANARY in scene.assay(*show, f"@{file}")
    urls = {name: scene.url(f"way{number}") for number, name in enumerate(planted.WAYS)}
    users = {name: f"way{number}" for number, name in enumerate(planted.WAYS)}
    lines = {name: f"*:*:*:{users[name]}:{password}" for name, password in planted.WAYS.items()}
    word = planted.WAYS
    scene.assay(*show, urls["PGPASSWORD"], PGPASSWORD=word["PGPASSWORD"])
    scene.assay(*show, urls["PGPASSFILE"], PGPASSFILE=str(scene.hide("passfile", lines["PGPASSFILE"])))
    scene.hide(".pgpass", lines["home's .pgpass"])
    scene.assay(*show, urls["home's .pgpass"])
    scene.assay(*show, urls["passfile parameter"] + f"&passfile={scene.hide('own', lines['passfile parameter'])}")
    for name, parameter in {"password parameter": "password", "escaped password parameter": "pass%77ord"}.items():
        scene.assay(*show, f"@{scene.hide(name, urls[name] + f'&{parameter}={word[name]}')}")
    service = scene.hide(
        "services",
        f"[lab]\nhost={scene.server.folder}\nport={PORT}\ndbname=postgres\nuser={users['service file']}\n"
        f"password={word['service file']}",
    )
    scene.assay(*show, "postgresql://?service=lab", PGSERVICEFILE=str(service))
    inside = urls["ASSAY_STORE"].replace("@/", f":{word['ASSAY_STORE']}@/")
    scene.assay("show", "--all", ASSAY_STORE=inside)


def fail(scene):
    for name, location in planted.failing_locations(scene.url).items():
        said = scene.assay("show", "--store", f"@{scene.hide(name, location)}", code=code_of(name))
        assert "assay" in said
    scene.assay("show", "--store", scene.url("guarded"), code=1, PGPASSWORD=planted.FAILING["wrong PGPASSWORD"])
    typed = planted.TYPED
    scene.assay("show", "--store", scene.url(f"me:{typed['--store URL']}"), code=2)
    scene.assay("show", f"--store={scene.url('me:' + typed['--store=URL'])}", code=2)
    for variable in (
        f"HF_TOKEN={typed['HF_TOKEN']}",
        f"CACHE_URL=redis://me:{typed['CACHE_URL']}@cache/0",
        f"DB_PASS={typed['DB_PASS']}",
    ):
        said = scene.assay("run", "toy", "--worker", "fake", "--env", variable, "--plan-only", code=2)
        assert "looks like a secret" in said


def code_of(name):
    """The exit code: 2 where the location itself is wrong, 1 where it is and the server does not take it."""
    return 2 if name in ("broken escape", "unknown parameter") else 1


def work(scene):
    """An agent whose server goes away while it is at a run, so that the result waits in the spool."""
    file = scene.hide("agent", scene.url(f"guarded:{planted.PASSWORDS['password with letters']}"))
    with Watch(scene.search, scene.folder / "tmp", is_worker) as watch:
        agent = scene.start_agent(f"@{file}")
        try:
            wait_until(lambda: scene.server.ask("SELECT count(*) FROM assay.record") != ["0"], agent)
            wait_until(lambda: scene.server.ask("SELECT count(*) FROM assay.run WHERE state = 1") != ["0"], agent)
            scene.server.kill()
            # A record names its campaign by id, and so that is the canary here.
            wait_until(lambda: scene.campaign.encode() in spooled(scene), agent)
            here = Search({**planted.everything(), **planted.halves(), "canary": scene.campaign})
            scene.found["spool"] |= here.in_bytes(spooled(scene), "spool")
            scene.server.start()
            assert agent.wait(LIMIT_SECONDS) == 0, agent.log.read_text()
        finally:
            agent.kill()
            agent.wait()
    for name, where in watch.found:
        scene.found["run directories" if where not in PLACES else where].add((name, where))
    scene.found["agent log"] |= scene.search.in_file(agent.log)


def spooled(scene):
    return b"".join(path.read_bytes() for path in scene.folder.glob("spool/*"))


def wait_until(holds, agent):
    deadline = time.monotonic() + LIMIT_SECONDS
    while not holds():
        assert agent.poll() is None and time.monotonic() < deadline, agent.log.read_text()
        time.sleep(0.02)


def look_back(scene):
    """At what is left when all is done."""
    out = scene.folder / "exports"
    out.mkdir()
    for form in ("json", "jsonl", "csv", "chrome-trace", "prometheus"):
        scene.assay("export", "--format", form, "-o", out / form, "--store", scene.store)
    for argv in (["show"], ["show", "--json"], ["show", "--fleet"], ["history"], ["doctor"], ["worker", "list"]):
        scene.assay(*argv, *([] if argv[0] in ("doctor", "worker") else ["--store", scene.store]))
    scene.found["exports"] |= scene.search.in_folder(out)
    scene.assay("report", "-o", scene.folder / "r.html", "--store", scene.store)
    scene.found["report"] |= scene.search.in_file(scene.folder / "r.html")
    scene.found["database"] |= scene.search.in_bytes(dump(scene.server), "dump")
    scene.found["server log"] |= scene.search.in_bytes(scene.server.log(), "log")
    scene.found["run directories"] |= scene.search.in_folder(scene.folder)  # and whatever else it left


def dump(server):
    words = ["-h", server.folder, "-p", PORT, "-U", "owner"]
    done = subprocess.run([programs() / "pg_dumpall", *map(str, words)], capture_output=True, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def scene():
    place = pathlib.Path(tempfile.mkdtemp(prefix="secrets-"))
    place.chmod(0o755)
    one = Scene(place / "open")
    try:
        for act in (plan, ask_for_passwords, log_in, fail, work, look_back):
            act(one)
        yield one
    finally:
        one.server.stop()
        shutil.rmtree(place, ignore_errors=True)


def test_there_are_fifty_and_no_two_are_alike():
    texts = list(planted.everything().values())
    assert len(texts) == len(set(texts)) == 50


@pytest.mark.parametrize("place", PLACES)
def test_nothing_but_the_canary_is_found(scene, place):
    assert names(scene.found[place]) == {"canary"}, scene.found[place]


@pytest.mark.parametrize("name", planted.everything())
def test_each_secret_would_be_found_as_it_is_and_as_it_is_quoted(name):
    text = planted.everything()[name]
    search = Search(planted.everything())
    for written in (text, planted.quoted(text), f'{{"a": "{text}"}}', text.encode().hex()):
        assert name in names(search.in_bytes("before " + written + " behind", ""))


def test_planted_a_worker_that_inherits_everything_is_found_out(scene):
    program = "assay-planted-leaked_environment"
    if not (BUILD / program).exists():
        pytest.skip("planted bugs are not built here")
    words = [*PLAN[:-4], "--name", "leak", "--seconds", "500ms", "--runs", 1, *PACED, "--quiet", "--no-peak"]
    with Watch(scene.search, scene.folder / "tmp", is_worker) as watch:
        scene.assay("run", *words, "--store", scene.folder / "leak.db", program=program)
    leaked = {name for name, where in watch.found if where == "environment of a worker"}
    assert leaked >= {f"variable {name}" for name in planted.VARIABLES}
