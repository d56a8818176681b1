"""Several hosts on one machine: network namespaces on a bridge, each link shaped to a rate in both directions.

    with ShapedHosts(4, rate_mbit=400) as hosts:
        subprocess.run(hosts.command(0, ["hostname", "-I"]))
        hosts.mpirun(["program"], timeout=60)

Needs root, `ip` and `tc`; why_not() says what is missing. Hosts count from 0. A host has an address on `e0`, a host
name of its own for what command() starts, and nothing else: files and processes are those of the machine. What a link
carries beyond its payload counts too: with TCP 1514 bytes on the link hold 1448 of payload.
"""

import itertools
import os
import pathlib
import shutil
import subprocess
import tempfile

BURST_BYTES = 256 * 1024  # pass at once after a pause, unless another number is asked for
LATENCY = "200ms"  # what may wait in a link before it drops
PAYLOAD_SHARE = 1448 / 1514  # of TCP, with time stamps, in frames of Ethernet

# Open MPI sends what is below these limits without asking first: its question waits behind data on the same
# connection. See workers/mpi/README.md.
EAGER = ("btl_tcp_eager_limit", "btl_tcp_rndv_eager_limit", "btl_tcp_max_send_size")

_serial = itertools.count()


def why_not():
    """Why there can be no hosts here, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    missing = [program for program in ("ip", "tc", "unshare") if not shutil.which(program)]
    if missing:
        return "%s is not installed" % missing[0]
    name = "as%dprobe" % os.getpid()
    probe = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        return "no network namespaces here: %s" % probe.stderr.strip()
    _call("ip", "netns", "del", name)
    return None


def _call(*argv):
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError("%s: %s" % (" ".join(argv), done.stderr.strip()))
    return done.stdout


class ShapedHosts:
    """`count` hosts, made on entering and removed on leaving, with every process that runs in them."""

    def __init__(self, count, rate_mbit, burst_bytes=BURST_BYTES):
        if not 1 <= count <= 254:
            raise ValueError("%d hosts: there may be 1 to 254" % count)
        self.count, self.rate_mbit, self.burst_bytes = count, rate_mbit, burst_bytes
        # Interfaces have at most 15 characters. The process id keeps runs apart, the serial those of one process.
        self.prefix = "as%dx%d" % (os.getpid(), next(_serial) % 10)
        self.network = "10.77.%d" % (os.getpid() % 254 + 1)
        self.addresses = ["%s.%d" % (self.network, i + 1) for i in range(count)]
        self.namespaces = ["%sh%d" % (self.prefix, i + 1) for i in range(count)]
        self._ports = ["%sv%d" % (self.prefix, i + 1) for i in range(count)]
        self._bridge = self.prefix + "b"
        self._guard = None
        self._folder = None

    def __enter__(self):
        try:
            _call("ip", "link", "add", self._bridge, "type", "bridge")  # fails where the name is taken
            self._guard = subprocess.Popen(
                ["sh", "-c", GUARD, self.prefix, str(self.count)], stdin=subprocess.PIPE, start_new_session=True
            )
            _call("ip", "link", "set", self._bridge, "up")
            for i in range(self.count):
                self._add_host(i)
            self._folder = tempfile.TemporaryDirectory(prefix="shaped_hosts.")
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_):
        self._remove()

    def _add_host(self, i):
        space, port = self.namespaces[i], self._ports[i]
        shape = "root tbf rate %gmbit burst %d latency %s" % (self.rate_mbit, self.burst_bytes, LATENCY)
        for command in (
            "ip netns add %s" % space,
            "ip link add %s type veth peer name e0 netns %s" % (port, space),
            "ip link set %s master %s up" % (port, self._bridge),
            "ip -n %s addr add %s/24 dev e0" % (space, self.addresses[i]),
            "ip -n %s link set e0 up" % space,
            "ip -n %s link set lo up" % space,
            # A packet larger than the burst would be cut into frames one by one, which takes many times the CPU.
            "ip -n %s link set e0 gso_max_size %d" % (space, min(65536, self.burst_bytes // 2)),
            "tc -n %s qdisc add dev e0 %s" % (space, shape),  # from the host
            "tc qdisc add dev %s %s" % (port, shape),  # to the host
        ):
            _call(*command.split())
        # The one that every kernel has, so that machines with another default (bbr) give the same times.
        reno = "echo reno >/proc/sys/net/ipv4/tcp_congestion_control"
        _call("ip", "netns", "exec", space, "sh", "-c", reno)

    def _remove(self):
        if self._guard:
            self._guard.communicate()
            self._guard = None
        if self._folder:
            self._folder.cleanup()
            self._folder = None

    def host_name(self, i):
        return "node%d" % (i + 1)

    def command(self, i, argv):
        """The command that runs `argv` on host i."""
        rename = ["unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"', self.host_name(i)]
        return ["ip", "netns", "exec", self.namespaces[i], *rename, *argv]

    def end_processes(self):
        """Kills what runs in the hosts."""
        for space in self.namespaces:
            subprocess.run(["sh", "-c", KILL_ALL, space], capture_output=True, check=False)

    def link_down(self, i):
        """Pulls the cable of host i."""
        _call("ip", "link", "set", self._ports[i], "down")

    def link_up(self, i):
        _call("ip", "link", "set", self._ports[i], "up")

    def reach(self, number):
        """Gives this machine itself an address in the network of the hosts, which may not be one of theirs."""
        address = "%s.%d" % (self.network, number)
        _call("ip", "addr", "add", address + "/24", "dev", self._bridge)
        return address

    def rsh_agent(self, path):
        """Writes a program that takes the place of ssh: `path [options] ADDRESS COMMAND…` runs COMMAND on that host."""
        path = pathlib.Path(path)
        path.write_text(AGENT % {"prefix": self.prefix})
        path.chmod(0o755)
        return str(path)

    def mpi_parameters(self):
        """What Open MPI must know to use these hosts and nothing else: MCA parameters and their values."""
        return {
            "plm": "rsh",
            "plm_rsh_agent": self.rsh_agent(pathlib.Path(self._folder.name) / "agent"),
            "orte_keep_fqdn_hostnames": "1",  # an address is a name here, and is not to be cut at its first point
            "btl": "tcp,self",
            "btl_tcp_if_include": self.network + ".0/24",
            "oob_tcp_if_include": self.network + ".0/24",
        }

    def mpirun_command(self, argv, flags=(), slots=1):
        """Open MPI's mpirun on host 0, for `slots` ranks on each host; `flags` come before the program."""
        hosts = ",".join("%s:%d" % (address, slots) for address in self.addresses)
        command = ["mpirun", "--allow-run-as-root", "--bind-to", "none", "-np", str(self.count * slots)]
        command += ["--host", hosts, "--map-by", "slot"]
        for name, value in self.mpi_parameters().items():
            command += ["--mca", name, value]
        return self.command(0, [*command, *flags, *argv])

    def mpirun(self, argv, timeout, flags=(), slots=1, **options):
        """Runs it to its end as subprocess.run() does. After `timeout` seconds kills all that runs in the hosts."""
        try:
            return subprocess.run(self.mpirun_command(argv, flags, slots), timeout=timeout, check=False, **options)
        except subprocess.TimeoutExpired:
            self.end_processes()
            raise


KILL_ALL = 'kill -9 $(ip netns pids "$0")'

# Waits until its input ends, which it does whatever ends this process, and removes all that has the prefix $0.
GUARD = """
exec 2>/dev/null
cat >/dev/null
for i in $(seq "$1"); do
  kill -9 $(ip netns pids "$0h$i")
  ip netns del "$0h$i"
  ip link del "$0v$i"
done
ip link del "$0b"
"""

# As ssh does it, the command is put together to one line for a shell.
AGENT = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
number=${1##*.}
shift
exec ip netns exec %(prefix)sh$number unshare --uts sh -c 'hostname "$0"; exec sh -c "$*"' node$number "$@"
"""
