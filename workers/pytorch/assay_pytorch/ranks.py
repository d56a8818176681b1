"""Several ranks that work together, over gloo: how they find each other."""

import datetime
import fcntl
import ipaddress
import os
import socket
import struct

import assay_worker
from torch import distributed

# For ranks to appear, and for each to come to an exchange: longer than any of them builds a network.
LIMIT = datetime.timedelta(minutes=10)
_SIOCGIFADDR = 0x8915  # the address of an interface


def join(prepare):
    """Makes the process group. Rank 0 listens on the port of its peer, on that address alone."""
    if len(prepare.peers) != prepare.ranks:
        raise ValueError("%d ranks came with %d peers" % (prepare.ranks, len(prepare.peers)))
    address, port = _parts(prepare.peers[0])
    if not os.environ.get("GLOO_SOCKET_IFNAME"):
        os.environ["GLOO_SOCKET_IFNAME"] = _interface_with(_parts(prepare.peers[prepare.rank])[0])
    more = {}
    if prepare.rank == 0:
        more["master_listen_fd"] = socket.create_server((address, port), backlog=prepare.ranks + 16).detach()
    store = distributed.TCPStore(address, port, prepare.ranks, prepare.rank == 0, timeout=LIMIT, **more)
    distributed.init_process_group("gloo", store=store, rank=prepare.rank, world_size=prepare.ranks, timeout=LIMIT)


def _parts(peer):
    address, _, port = peer.rpartition(":")
    return address, int(port)


def _interface_with(address):
    """Name of the network interface that has this IPv4 address: gloo would look the host's name up instead."""
    number = ipaddress.IPv4Address(socket.gethostbyname(address))
    if number.is_loopback:
        return "lo"
    found = {name: _address_of(name) for _, name in socket.if_nameindex()}
    for name, its in found.items():
        if its == number:
            return name
    listed = ", ".join("%s %s" % item for item in found.items() if item[1])
    raise assay_worker.Refused("peer %s: no network interface here has this address. There is %s." % (address, listed))


def _address_of(interface):
    """None where it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            answer = fcntl.ioctl(any_socket, _SIOCGIFADDR, struct.pack("256s", interface.encode()))
        except OSError:
            return None
    return ipaddress.IPv4Address(answer[20:24])
