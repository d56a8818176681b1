"""A Slurm cluster of a test's own: a controller and nodes, all on this machine, gone with the test.

    with SlurmCluster(folder, nodes=4) as cluster:
        cluster.run(["srun", "-N", "4", "hostname"])
        cluster.cut(2)

Every node (n1, n2, …) has its own network behind a link, process numbers, host name, boot id and /var/tmp, so that
nothing on it can tell that the others are on the same machine; all other files are common. cut() pulls the cable of a
node, kill_node() its power plug, kill_daemon() ends its slurmd alone. The controller has a network of its own too, so
that it listens nowhere else. This machine is in reach of all nodes as `cluster.address`. Needs root; why_not() says
what is missing.
"""

import contextlib
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import time
import uuid

import shaped_hosts
from shaped_hosts import ShapedHosts

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "munged", "nsenter", "setpriv")
RATE_MBIT = 1000
LIMIT_SECONDS = 90
HERE = 254  # this host's number in the network of the nodes
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def why_not():
    """Why there can be no cluster here, or None."""
    missing = [program for program in PROGRAMS if not shutil.which(program, path=PATH)]
    if missing:
        return f"{missing[0]} is not installed (Debian: slurmctld slurmd slurm-client munge util-linux)"
    return shaped_hosts.why_not()


def wait_for(condition, what, limit_seconds=LIMIT_SECONDS):
    """Looks until `condition` is true, and returns what it said; `what` is told where that takes too long."""
    deadline = time.monotonic() + limit_seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, what() if callable(what) else what
        time.sleep(0.05)
    return found


class SlurmCluster:
    """Nodes count from 1, as their names do. A node that does not answer for `timeout` seconds is down. `folder` must
    be short (a socket's path has 107 bytes) and may not lie below /var/tmp."""

    def __init__(self, folder, nodes, cpus=2, timeout=30):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(mode=0o755)
        self.count = nodes
        self.names = [f"n{i}" for i in range(1, nodes + 1)]
        self.hosts = ShapedHosts(nodes + 1, RATE_MBIT)  # the last one is the controller's
        self.address = f"{self.hosts.network}.{HERE}"
        self.conf = self.folder / "slurm.conf"
        self._munged = self._controller = None
        self._nodes = {}  # by number: the process that holds its namespaces
        self._daemons = {}
        self._write_settings(cpus, timeout)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def _write_settings(self, cpus, timeout):
        for name in ("state", "log", "spool", "boot", "disk"):
            (self.folder / name).mkdir(mode=0o755)
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(1024))
        host = os.uname().nodename.partition(".")[0]
        values = {"folder": self.folder, "host": host, "address": self.hosts.addresses[-1]}
        nodes = [
            f"NodeName={name} NodeHostname={name} NodeAddr={address} CPUs={cpus} RealMemory=64000 State=UNKNOWN"
            for name, address in zip(self.names, self.hosts.addresses[:-1])
        ]
        self.conf.write_text("\n".join([SETTINGS.format(**values, timeout=timeout), *nodes, ""]))

    def environment(self, **more):
        return {"PATH": PATH, "HOME": "/root", "LC_ALL": "C.UTF-8", "SLURM_CONF": str(self.conf), **more}

    def _begin(self, name, argv, **options):
        """Starts a program that ends with this process at the latest."""
        with (self.folder / "log" / name).open("ab") as log:
            words = ["setpriv", "--pdeathsig", "KILL", *map(str, argv)]
            return subprocess.Popen(
                words, cwd="/", env=self.environment(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options
            )

    # The cluster

    def start(self):
        try:
            self.hosts.__enter__()
            self.hosts.reach(HERE)
            key, socket = self.folder / "munge.key", self.folder / "munge.socket"
            own = [f"--{name}-file={self.folder}/munge.{name}" for name in ("pid", "log", "seed")]
            munged = ["munged", "--foreground", f"--key-file={key}", f"--socket={socket}", *own]
            self._munged = self._begin("munged.out", munged)
            wait_for(socket.exists, lambda: "munged did not start: " + self.log("munged.out"))
            self.start_controller("-c")
            for number in range(1, self.count + 1):
                self._start_daemon(number)
            self.wait_until_idle()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self):
        """Ends all of it, also what runs on the nodes."""
        for number in list(self._nodes):
            self.kill_node(number)
        self.kill_controller()
        if self._munged:
            self._munged.kill()
            self._munged.wait()
            self._munged = None
        self.hosts.__exit__()
        shutil.rmtree(self.folder, ignore_errors=True)

    def restore(self):
        """As it was after start(), but for the controller's memory of jobs: for the next test."""
        for number in range(1, self.count + 1):
            self.mend(number)
        if self._controller is None:
            self.start_controller()
        self.run(["scancel", "--user", str(os.getuid())], code=None)
        for number in range(1, self.count + 1):
            if number not in self._daemons:
                self._start_daemon(number)
            if self.states().get(self.names[number - 1]) in ("down", "drained", "draining", "fail"):
                self._update(number, "resume", code=None)
        self.wait_until_idle()

    def call(self, argv, code=0, **variables):
        """A command as on a login node. `code`: what it must end with; None: whatever."""
        done = subprocess.run(
            list(map(str, argv)),
            cwd="/",
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        if code is not None:
            assert done.returncode == code, f"{argv} ended with {done.returncode}: {done.stdout}{done.stderr}"
        return done

    def run(self, argv, code=0, **variables):
        """The same: what it printed."""
        return self.call(argv, code, **variables).stdout

    def log(self, name):
        file = self.folder / "log" / name
        return file.read_text(errors="replace")[-3000:] if file.exists() else "(no log)"

    # The controller

    def start_controller(self, *flags):
        """With what it saved before, if any; "-c" forgets that."""
        inside = ["nsenter", f"--net=/run/netns/{self.hosts.namespaces[-1]}"]
        self._controller = self._begin("slurmctld.out", [*inside, "slurmctld", "-D", "-f", self.conf, *flags])
        wait_for(
            lambda: "UP" in self.run(["scontrol", "ping"], code=None),
            lambda: "the controller did not start: " + self.log("slurmctld.log"),
        )

    def kill_controller(self):
        """It writes its state every 5 s or so: what came later is forgotten."""
        self._end_controller(signal.SIGKILL)

    def stop_controller(self):
        self._end_controller(signal.SIGTERM)

    def _end_controller(self, number):
        if self._controller:
            self._controller.send_signal(number)
            self._controller.wait()
            self._controller = None

    # Nodes

    def _power_on(self, number):
        name = self.names[number - 1]
        boot, disk = self.folder / "boot" / name, self.folder / "disk" / name
        boot.write_text(f"{uuid.uuid4()}\n")
        disk.mkdir(exist_ok=True)
        space = f"--net=/run/netns/{self.hosts.namespaces[number - 1]}"
        own = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--uts", "--mount"]
        self._nodes[number] = self._begin(name, ["nsenter", space, *own, "sh", "-c", NODE, name, boot, disk])
        wait_for(lambda: self._is_up(number), lambda: f"{name} did not start: {self.log(name)}")

    def _is_up(self, number):
        first = self._first(number)
        return first and pathlib.Path(f"/proc/{first}/comm").read_text() == "sleep\n"

    def _first(self, number):
        """The process of the node that has number 1 there; 0 where it has none yet."""
        below = pathlib.Path(f"/proc/{self._nodes[number].pid}/task/{self._nodes[number].pid}/children").read_text()
        return int(below.split()[0]) if below else 0

    def on_node(self, number, argv):
        """The command that runs `argv` on a node."""
        return ["nsenter", "-t", str(self._first(number)), "--pid", "--mount", "--uts", "--net", *map(str, argv)]

    def _start_daemon(self, number):
        if number not in self._nodes:
            self._power_on(number)
        daemon = ["slurmd", "-D", "-f", self.conf, "-N", self.names[number - 1]]
        self._daemons[number] = self._begin(self.names[number - 1], self.on_node(number, daemon))

    def start_node(self, number, wait=True):
        """Starts what of it does not run, and waits until Slurm knows."""
        self._start_daemon(number)
        if wait:
            self.wait_until_idle([number], among=("idle", "mixed", "allocated", "drained", "draining"))

    def kill_daemon(self, number):
        """The slurmd alone; what it started goes on."""
        daemon = self._daemons.pop(number, None)
        if daemon is None:
            return
        for pid in pathlib.Path(f"/proc/{daemon.pid}/task/{daemon.pid}/children").read_text().split():
            os.kill(int(pid), signal.SIGKILL)
        daemon.wait()

    def kill_node(self, number):
        """As a power cut does: everything that runs on it ends at once. It comes back with another boot id."""
        node = self._nodes.pop(number)
        node.kill()  # its first process goes with it, and with that one all others
        node.wait()
        daemon = self._daemons.pop(number, None)
        if daemon:
            daemon.wait()

    def kill_all_but(self, number, kept):
        """Ends what runs on a node, also Slurm's own, but those processes."""
        self.kill_daemon(number)
        left_out = (*kept, self._first(number))
        ended = [pid for pid, name in self.processes(number).items() if pid not in left_out and name != "unshare"]
        for sent in (signal.SIGSTOP, signal.SIGKILL):  # stopped first, none can act on the end of another
            for pid in ended:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, sent)

    def own_number(self, pid):
        """What a process of this machine is called on its node."""
        status = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
        (numbers,) = [line for line in status if line.startswith("NSpid:")]
        return int(numbers.split()[-1])

    def cut(self, number):
        self.hosts.link_down(number - 1)

    def mend(self, number):
        self.hosts.link_up(number - 1)

    def drain(self, number):
        self._update(number, "drain")

    def down(self, number):
        self._update(number, "down")

    def resume(self, number, wait=True):
        """A controller that has just come back says that it refuses, and does it; so the state is looked at."""
        self._update(number, "resume", code=None)
        if wait:
            self.wait_until_idle([number], among=("idle", "mixed", "allocated"))

    def _update(self, number, state, code=0):
        words = [f"NodeName={self.names[number - 1]}", f"State={state}", "Reason=test"]
        self.call(["scontrol", "update", *words], code)

    def states(self):
        """What Slurm says of each node, without the marks it adds."""
        rows = self.run(["sinfo", "-h", "-N", "-o", "%N %T"], code=None).splitlines()
        return {row.split()[0]: row.split()[1].strip("*~#!%$@^-+") for row in rows}

    def wait_until_idle(self, numbers=None, among=("idle",)):
        wanted = [self.names[number - 1] for number in numbers] if numbers else self.names

        def ready():
            states = self.states()
            return all(states.get(name) in among for name in wanted)

        wait_for(ready, lambda: f"{self.states()}: {self.log('slurmctld.log')}")

    def processes(self, number=None):
        """Numbers and names, on this host, of all that runs on a node, or on any."""
        spaces = self.hosts.namespaces[:-1] if number is None else [self.hosts.namespaces[number - 1]]
        inodes = {os.stat(f"/run/netns/{space}").st_ino for space in spaces}
        found = {}
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if (process / "ns" / "net").stat().st_ino in inodes:
                    found[int(process.name)] = (process / "comm").read_text().strip()
            except OSError:
                continue
        return found

    # Jobs

    def submit(self, script, *flags):
        """A batch job; its number."""
        file = self.folder / f"job-{secrets.token_hex(4)}.sh"
        file.write_text("#!/bin/sh\n" + script + "\n")
        return self.run(["sbatch", "--parsable", *flags, file]).strip()

    def jobs(self, *flags):
        """Jobs and tasks that Slurm knows: lists of number, name and state."""
        words = ["squeue", "-h", "-r", "-t", "all", "-o", "%i %j %T", *flags]
        return [row.split() for row in self.run(words).splitlines()]

    def wait_for_state(self, job, *states):
        def there():
            return any(row[2] in states for row in self.jobs("-j", job))

        wait_for(there, lambda: f"{self.jobs()}: {self.log('slurmctld.log')}")


# A node's first process: it collects what others leave, and never ends by itself.
NODE = """
set -e
hostname "$0"
mount --bind "$1" /proc/sys/kernel/random/boot_id
mount --bind "$2" /var/tmp
exec env --ignore-signal=CHLD sleep infinity
"""

# Jobs go back to the queue by default, as on many clusters; memory is nobody's.
SETTINGS = """
ClusterName=assay
SlurmctldHost={host}({address})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdSpoolDir={folder}/spool/%n
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdLogFile={folder}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=pmix
TmpFS=/var/tmp
ReturnToService=2
SlurmdTimeout={timeout}
SlurmctldTimeout=10
KillWait=5
InactiveLimit=0
MessageTimeout=10
MinJobAge=300
BatchStartTimeout=2
JobRequeue=1
PropagateResourceLimits=NONE
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
PartitionName=main Nodes=ALL Default=YES MaxTime=600 State=UP
"""
