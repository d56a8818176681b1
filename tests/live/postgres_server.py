"""A PostgreSQL server of a test's own: on a unix socket in its folder, as an unprivileged user, gone with the test."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

PORT = 5499  # part of the socket's name; nothing listens on it
NOBODY = 65534  # PostgreSQL refuses to run as root


def programs():
    """Folder of the newest server that is installed; None where there is none."""
    found = [path for path in pathlib.Path("/usr/lib/postgresql").glob("*/bin") if (path / "postgres").exists()]
    return max(found, key=lambda path: int(path.parent.name), default=None)


def why_not():
    if programs() is None:
        return "there is no PostgreSQL server here (Debian: postgresql)"
    return None


class PostgresServer:
    """`folder` must be short (a socket's path has 107 bytes) and open to others down from the root. With an `address`
    of this machine it listens there too, for everybody of that network, which must be the test's own."""

    def __init__(self, folder, *settings, address=None):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(mode=0o755)
        self.address = address
        self.settings = (f"listen_addresses={address or ''}", *settings)
        self.process = None
        self.user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        self.give_away(self.folder)
        self._make_data()

    def give_away(self, path):
        """To the user that the server runs as."""
        if self.user:
            os.chown(path, NOBODY, NOBODY)

    def _make_data(self):
        self._run(
            "initdb", "-D", self.folder / "data", "-U", "owner", "--auth=trust", "--no-locale", "-E", "UTF8", "-N"
        )
        if self.address:
            with (self.folder / "data" / "pg_hba.conf").open("a") as rules:
                rules.write(f"host all all {self.address}/24 trust\n")

    def _command(self, program, *arguments):
        return [str(programs() / program), *map(str, arguments)]

    def _run(self, program, *arguments):
        environment = {"HOME": str(self.folder), "PATH": "/usr/bin:/bin", "LC_ALL": "C"}
        done = subprocess.run(
            self._command(program, *arguments),
            cwd="/",
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            **self.user,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self):
        settings = [word for setting in ("fsync=off", *self.settings) for word in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self._command("postgres", "-D", self.folder / "data", "-k", self.folder, "-p", PORT, *settings),
                cwd="/",
                env={"HOME": str(self.folder), "PATH": "/usr/bin:/bin", "LC_ALL": "C"},
                stdout=log,
                stderr=log,
                **self.user,
            )
        deadline = time.monotonic() + 60
        while subprocess.run(
            [programs() / "pg_isready", "-q", "-h", self.folder, "-p", str(PORT)], check=False
        ).returncode:
            assert self.process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.05)
        return self

    def kill(self):
        """As a power cut does: every process of it is ended at once, and nothing is tidied up."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database="postgres", user="owner"):
        return f"postgresql://{user}@/{database}?host={self.address or self.folder}&port={PORT}"

    def ask(self, sql, database="postgres", user="owner"):
        """Rows of a query, as text separated by |."""
        words = ["-h", self.folder, "-p", PORT, "-U", user, "-d", database, "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1"]
        return self._run("psql", *words, "-c", sql).splitlines()

    def load(self, file, database="postgres"):
        """Runs a file of SQL, such as pg_dump writes."""
        words = ["-h", self.folder, "-p", PORT, "-U", "owner", "-d", database, "-X", "-q", "-v", "ON_ERROR_STOP=1"]
        self._run("psql", *words, "-f", file)

    def log(self):
        return (self.folder / "log").read_text(errors="replace")


class Standby(PostgresServer):
    """A streaming copy of a server that runs; it takes no writes until promote()."""

    def __init__(self, primary, folder, *settings):
        self.primary = primary
        super().__init__(folder, *settings)

    def _make_data(self):
        words = ["-h", self.primary.folder, "-p", PORT, "-U", "owner", "-X", "stream", "-c", "fast", "-R", "--no-sync"]
        self._run("pg_basebackup", *words, "-D", self.folder / "data")

    def wait_until_equal(self):
        """Until it has all that the primary has at this moment."""
        (position,) = self.primary.ask("SELECT pg_current_wal_lsn()")
        deadline = time.monotonic() + 60
        while self.ask(f"SELECT pg_last_wal_replay_lsn() >= '{position}'") != ["t"]:
            assert time.monotonic() < deadline, "the standby does not follow: " + self.log()
            time.sleep(0.02)

    def promote(self):
        """Makes it the primary; returns when it takes writes."""
        assert self.ask("SELECT pg_promote(true, 60)") == ["t"], self.log()


def url_of(servers, database="postgres", user="owner", **parameters):
    """One URL for several servers, of which libpq takes the first that will do."""
    rest = "".join(f"&{name}={value}" for name, value in parameters.items())
    hosts = ",".join(str(server.folder) for server in servers)
    return f"postgresql://{user}@/{database}?host={hosts}&port={','.join([str(PORT)] * len(servers))}{rest}"
