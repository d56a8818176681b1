"""A private place for each test: its own store, temporary folder and host lock, and nothing it started outlives it.

Everything comes as the fixtures `place` and `places`, because other folders under tests/ have a conftest of their own.
"""

import contextlib
import ctypes
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("ASSAY_BUILD", ROOT / "build" / "dev")).resolve()
LIMIT_SECONDS = 60
PR_SET_CHILD_SUBREAPER = 36
SAMPLE_SECONDS = 0.002
CGROUPS = pathlib.Path("/sys/fs/cgroup/cpu")


def read_bytes(path):
    """What /proc says, or nothing where the process has ended meanwhile."""
    try:
        return pathlib.Path(path).read_bytes()
    except OSError:
        return b""


def children_of(pid):
    try:
        threads = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return []
    return [int(child) for thread in threads for child in read_bytes(thread / "children").split()]


def is_alive(pid):
    """False for a zombie too: it runs no more."""
    state = read_bytes(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return bool(state) and state[0] not in (b"Z", b"X")


def peak_bytes(pid):
    for line in read_bytes(f"/proc/{pid}/status").splitlines():
        if line.startswith(b"VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


@dataclass
class Ended:
    """A program that was run to its end."""

    code: int
    stdout: str
    stderr: str
    seconds: float
    peak_bytes: int  # of the program itself
    rank_peak_bytes: int  # of the largest assay-rank below it

    def json(self):
        return json.loads(self.stdout)


class Started:
    """A program that was started here; its peak memory and that of its assay-ranks are sampled until it ends."""

    def __init__(self, argv, env, folder, number):
        self.out, self.err = folder / f"out-{number}", folder / f"err-{number}"
        self.begin = time.monotonic()
        with self.out.open("wb") as out, self.err.open("wb") as err:
            self.process = subprocess.Popen(argv, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        self.pid = self.process.pid
        self.peak = self.rank_peak = 0
        self.watcher = threading.Thread(target=self._watch, daemon=True)
        self.watcher.start()

    def _watch(self):
        # VmHWM only grows, so the last look before the end is the peak, but for what grew within one interval.
        while self.process.returncode is None and is_alive(self.pid):
            self.peak = max(self.peak, peak_bytes(self.pid))
            for child in children_of(self.pid):
                if read_bytes(f"/proc/{child}/comm") == b"assay-rank\n":
                    self.rank_peak = max(self.rank_peak, peak_bytes(child))
            time.sleep(SAMPLE_SECONDS)

    def signal(self, number):
        self.process.send_signal(number)

    def running(self):
        return self.process.poll() is None

    def wait(self, seconds=LIMIT_SECONDS):
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.process.args} still ran after {seconds} s:\n{self.text()}") from None
        took = time.monotonic() - self.begin
        self.watcher.join()
        return Ended(code, self.out.read_text("utf-8", "replace"), self.err.read_text("utf-8", "replace"), took,
                     self.peak, self.rank_peak)  # fmt: skip

    def text(self):
        return self.out.read_text("utf-8", "replace") + self.err.read_text("utf-8", "replace")

    def kill(self):
        if self.running():
            self.process.kill()
            self.process.wait()


class Place:
    """A folder for one user of Assay. Helpers are methods, so that a test imports nothing from here."""

    root, build, limit_seconds = ROOT, BUILD, LIMIT_SECONDS

    def __init__(self, path):
        self.path = path
        self.temporary = path / "tmp"
        self.temporary.mkdir(parents=True)
        self.store = path / "assay.db"
        self.started = []
        self._earlier = set(children_of(os.getpid()))  # another test's, such as a browser: not ours to judge or to end

    def environment(self, **more):
        env = {key: value for key, value in os.environ.items() if not key.startswith("ASSAY_")}
        env.update(TMPDIR=str(self.temporary), ASSAY_HOST_LOCK=str(self.path / "host.lock"))
        env.update({key: str(value) for key, value in more.items()})
        return env

    def start(self, *arguments, planted=None, before=(), **env):
        """Starts `assay ARGUMENTS`; `planted` names a bug to plant, `before` a program to run it under."""
        program = BUILD / "assay"
        if planted and (BUILD / f"assay-planted-{planted}").exists():
            program = BUILD / f"assay-planted-{planted}"
        elif planted:
            assert (BUILD / "planted" / planted / "assay-rank").exists(), f"there is no planted bug {planted}"
            env["ASSAY_LIBEXEC"] = BUILD / "planted" / planted
        argv = [str(argument) for argument in (*before, program, *arguments)]
        self.started.append(Started(argv, self.environment(**env), self.path, len(self.started)))
        return self.started[-1]

    def assay(self, *arguments, seconds=LIMIT_SECONDS, expect=0, **options):
        """Runs it to its end and checks the exit code; expect=None takes any."""
        ended = self.start(*arguments, **options).wait(seconds)
        if expect is not None:
            assert ended.code == expect, f"exit code {ended.code} in place of {expect}:\n{ended.stdout}{ended.stderr}"
        return ended

    def run(self, argv, seconds=LIMIT_SECONDS):
        """Runs any other program to its end."""
        self.started.append(Started([str(part) for part in argv], self.environment(), self.path, len(self.started)))
        return self.started[-1].wait(seconds)

    def write(self, name, text):
        file = self.path / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def records(self, all_attempts=False):
        more = ["--all-attempts"] if all_attempts else []
        return [json.loads(line) for line in self.assay("export", "--store", self.store, *more).stdout.splitlines()]

    def rows(self, query):
        """Rows of the store, read by another program than Assay."""
        with contextlib.closing(sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=20)) as database:
            return database.execute(query).fetchall()

    @staticmethod
    def until(condition, what, seconds=60):
        """Polls until the condition gives something true, and returns that."""
        deadline = time.monotonic() + seconds
        while not (result := condition()):
            assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
            time.sleep(0.005)
        return result

    @staticmethod
    def name_of(pid):
        """The program that a process runs, however it calls itself."""
        try:
            return pathlib.Path(f"/proc/{pid}/exe").readlink().name
        except OSError:
            return ""

    def marked(self):
        """Live processes with this place in their environment: assay-rank, workers and whatever those started."""
        marks = (f"TMPDIR={self.temporary}\0".encode(), f"ASSAY_HOST_LOCK={self.path}/host.lock\0".encode())
        found = []
        for folder in pathlib.Path("/proc").iterdir():
            if folder.name.isdigit() and int(folder.name) != os.getpid():
                environment = read_bytes(folder / "environ")
                if any(mark in environment for mark in marks) and is_alive(folder.name):
                    found.append(int(folder.name))
        return found

    def _known(self):
        """Children that this process had before, or that were started here."""
        return {*self._earlier, *(started.pid for started in self.started)}

    def orphans(self):
        """Live children of this process that nobody started here: it adopts whatever loses its parent."""
        mine = self._known()
        return [pid for pid in children_of(os.getpid()) if pid not in mine and is_alive(pid)]

    def left(self):
        """Processes that a finished program left. Those that end by themselves at this moment get 100 ms."""
        deadline = time.monotonic() + 0.1
        while (found := sorted({*self.marked(), *self.orphans()})) and time.monotonic() < deadline:
            time.sleep(0.005)
        return [(pid, read_bytes(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode("utf-8", "replace"))
                for pid in found]  # fmt: skip

    def close(self):
        """Ends all that was started here, by id."""
        for started in self.started:
            started.kill()
        deadline = time.monotonic() + 10
        while (found := {*self.marked(), *self.orphans()}) and time.monotonic() < deadline:
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        mine = self._known()
        for pid in children_of(os.getpid()):
            if pid not in mine and not is_alive(pid):
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)


@pytest.fixture(scope="session", autouse=True)
def adopts_orphans():
    """Whatever loses its parent below this process comes to it: nothing can hide by changing its environment."""
    libc = ctypes.CDLL(None)
    assert libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    yield
    libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@contextlib.contextmanager
def places_below(folder):
    made = []

    def make(name):
        made.append(Place(folder / name))
        return made[-1]

    yield make
    for place in made:
        place.close()


@pytest.fixture
def places(tmp_path):
    """Makes as many places as a test needs."""
    with places_below(tmp_path) as make:
        yield make


@pytest.fixture(scope="session")
def common_places(tmp_path_factory):
    """Makes places that tests share."""
    with places_below(tmp_path_factory.mktemp("common")) as make:
        yield make


@pytest.fixture
def place(places):
    return places("place")


def until_gone(folder):
    """Removes a control group, which works once its last process has gone."""
    deadline = time.monotonic() + 10
    while folder.exists() and time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            folder.rmdir()
            return
        time.sleep(0.01)


@pytest.fixture
def group():
    """Makes a control group in which a program has the CPU to itself; gives the words to put before its command."""
    folder = CGROUPS / f"assay-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no control group of version 1 can be made in {CGROUPS}: {error}")

    def make(quota_cpus=None):
        try:
            (folder / "cpu.shares").write_text("262144")
            if quota_cpus is not None:
                (folder / "cpu.cfs_period_us").write_text("100000")
                (folder / "cpu.cfs_quota_us").write_text(str(int(quota_cpus * 100000)))
        except OSError as error:
            pytest.skip(f"{folder} takes no quota: {error}")
        enter = "import os, sys; open(sys.argv[1], 'w').write('0'); os.execvp(sys.argv[2], sys.argv[2:])"
        return (sys.executable, "-c", enter, str(folder / "cgroup.procs"))

    yield make
    until_gone(folder)


@contextlib.contextmanager
def busy_neighbour(name):
    """A busy process of this name on the CPU of the tests, with more weight than others."""
    text = f"import os; open('/proc/self/comm', 'w').write({name!r}); os.nice(-5); print(flush=True)\nwhile True: pass"
    one_cpu = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    process = subprocess.Popen([*one_cpu, sys.executable, "-c", text], stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        yield process.pid
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def neighbour():
    """Starts a process of a given name that keeps a CPU busy, as a context."""
    return busy_neighbour


@pytest.fixture
def tuning(place):
    """Writes a tuning as `assay tune` would leave it, for a machine of so many CPUs; gives the file."""

    def write(worker="pytorch", cpus=None, name="by hand", env=None, **settings):
        launch = json.loads((ROOT / "workers" / worker / "worker.json").read_text()).get("launch", {})
        cpus = cpus or len(os.sched_getaffinity(0))
        document = {
            "version": 1, "name": name, "workload": {"network": "resnet50"}, "goal": "latency", "platform": "0" * 32,
            "worker": {"name": worker, "release": "1.0"}, "settings": {**settings, "env": env or {}}, "launch": launch,
            "resources": {"sockets": 1, "nodes": 1, "cores": cpus, "threads": cpus},
        }  # fmt: skip
        return place.write(f"tuning-{len(list(place.path.iterdir()))}.json", json.dumps(document))

    return write
