"""pgbouncer before a PostgreSQL server of a test: on a unix socket, as an unprivileged user, gone with the test."""

import pathlib
import shutil
import socket
import subprocess
import time

from postgres_server import PORT
from postgres_server import why_not as why_no_server

BOUNCER_PORT = 6499  # part of the socket's name; nothing listens on it


def why_not():
    if not shutil.which("pgbouncer", path="/usr/sbin:/usr/bin"):
        return "there is no pgbouncer here (Debian: pgbouncer)"
    return why_no_server()


class Pgbouncer:
    """In transaction mode, with few connections to the server, so that clients get each other's. `folder` must be short
    and open to others down from the root. Roles are those that the server has at the start. `settings` are more lines
    of its file."""

    def __init__(self, server, folder, pool_size=1, settings=("query_wait_timeout = 5",)):
        self.server = server
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(mode=0o755)
        self.server.give_away(self.folder)
        self.process = None
        users = server.ask('SELECT format(\'"%s" ""\', rolname) FROM pg_roles WHERE rolcanlogin')
        (self.folder / "users").write_text("\n".join(users) + "\n")
        (self.folder / "settings").write_text(
            f"[databases]\n* = host={server.folder} port={PORT}\n"
            f"[pgbouncer]\nunix_socket_dir = {self.folder}\nlisten_port = {BOUNCER_PORT}\nlisten_addr =\n"
            f"auth_type = trust\nauth_file = {self.folder}/users\npool_mode = transaction\n"
            f"default_pool_size = {pool_size}\nserver_login_retry = 0\n"
            f"logfile = {self.folder}/log\n" + "".join(f"{setting}\n" for setting in settings)
        )

    def start(self):
        self.process = subprocess.Popen(
            ["/usr/sbin/pgbouncer", "-q", self.folder / "settings"],
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
            stderr=subprocess.DEVNULL,
            **self.server.user,
        )
        deadline = time.monotonic() + 60
        while not self._answers():
            assert self.process.poll() is None, self.log()
            assert time.monotonic() < deadline, "pgbouncer did not start"
            time.sleep(0.02)
        return self

    def _answers(self):
        with socket.socket(socket.AF_UNIX) as one:
            return one.connect_ex(f"{self.folder}/.s.PGSQL.{BOUNCER_PORT}") == 0

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database="postgres", user="owner"):
        return f"postgresql://{user}@/{database}?host={self.folder}&port={BOUNCER_PORT}"

    def log(self):
        return (self.folder / "log").read_text(errors="replace")
