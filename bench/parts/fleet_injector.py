"""Faults for a fleet that Slurm starts, one at a time, and what mends them later without a person's help."""

import contextlib
import os
import signal
import time

from parts.fleet_cluster import group_of

LEASE = 3  # seconds


def send(pid, number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


class Injector:
    """Does one thing to the fleet at a time. A node that is broken is left alone until it is mended."""

    def __init__(self, fleet, campaign, chance):
        self.fleet, self.cluster, self.campaign, self.chance = fleet, fleet.cluster, campaign, chance
        self.later = []  # when, on which node or None, and what mends it
        self.done = {}
        self.orphans = []  # node, number there, number here
        self.kinds = [
            self.kill_agent,
            self.kill_worker,
            self.stop_agent,
            self.kill_controller,
            self.cut_link,
            self.kill_server,
            self.cancel_agent,
            self.lose_node,
            self.kill_slurmd,
            self.leave_orphan,
            self.drain_node,
            self.set_node_down,
            self.kill_rank,
            self.cut_connections,
        ]

    def inject(self):
        """False where nothing was there to be hit."""
        kind = self.kinds[sum(self.done.values()) % len(self.kinds)]
        if not kind():
            return False
        self.done[kind.__name__] = self.done.get(kind.__name__, 0) + 1
        return True

    def mend(self, all_of_it=False):
        """What is due; or all of it, as soon as it is due."""
        while self.later and (all_of_it or min(self.later, key=lambda one: one[0])[0] <= time.monotonic()):
            due = min(self.later, key=lambda one: one[0])
            time.sleep(max(0, due[0] - time.monotonic()))
            self.later.remove(due)
            due[2]()

    # Whom it hits

    def _whole_nodes(self):
        broken = {node for _, node, _ in self.later}
        return [number for number in range(1, self.cluster.count + 1) if number not in broken]

    def _busy_node(self):
        """One with a worker, which is not broken; None where there is none, or where too few would be left."""
        whole = self._whole_nodes()
        if len(whole) <= self.cluster.count // 2:
            return None
        busy = [number for number in whole if self.fleet.workers(number)]
        return self.chance.choice(busy) if busy else None

    def _mend_later(self, node, what, least, most):
        self.later.append((time.monotonic() + self.chance.uniform(least, most), node, what))
        return True

    def _hit(self, find, number):
        node = self._busy_node()
        pids = find(node) if node else []
        for pid in pids[:1]:
            send(pid, number)
        return bool(pids)

    # Faults

    def kill_agent(self):
        return self._hit(self.fleet.agents, signal.SIGKILL)

    def kill_worker(self):
        return self._hit(self.fleet.workers, signal.SIGKILL)

    def kill_rank(self):
        return self._hit(self.fleet.ranks, signal.SIGKILL)

    def stop_agent(self):
        """For longer than its lease."""
        node = self._busy_node()
        pids = self.fleet.agents(node) if node else []
        for pid in pids:
            send(pid, signal.SIGSTOP)

        def go_on():
            for pid in pids:
                send(pid, signal.SIGCONT)

        return bool(pids) and self._mend_later(node, go_on, LEASE + 1, LEASE + 4)

    def kill_controller(self):
        """Within 6 s of a submission, which it may forget; it comes back at once."""
        self.fleet.submit("--campaign", self.campaign, agents=2, lease=LEASE, own=["--idle", "600"])
        time.sleep(self.chance.uniform(0, 6))
        self.cluster.kill_controller()
        self.cluster.start_controller()
        return True

    def kill_server(self):
        self.fleet.server.kill()
        time.sleep(self.chance.uniform(0, 2))
        self.fleet.server.start()
        return True

    def cut_connections(self):
        self.fleet.ask("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE client_addr IS NOT NULL")
        return True

    def cut_link(self):
        """For less or more than the lease, and than the time after which Slurm misses a node."""
        node = self._busy_node()
        if node is None:
            return False
        self.cluster.cut(node)
        return self._mend_later(node, lambda: self.cluster.mend(node), 1, 15)

    def cancel_agent(self):
        running = [row[0] for row in self.cluster.jobs("-t", "R")]
        if not running:
            return False
        self.cluster.run(["scancel", self.chance.choice(running)], code=None)
        return True

    def lose_node(self):
        """Everything on it ends; it comes back as a host that has just been started."""
        node = self._busy_node()
        if node is None:
            return False
        self.cluster.kill_node(node)
        self.orphans = [one for one in self.orphans if one[0] != node]
        return self._mend_later(node, lambda: self.cluster.start_node(node, wait=False), 1, 10)

    def kill_slurmd(self):
        node = self._busy_node()
        if node is None:
            return False
        self.cluster.kill_daemon(node)
        return self._mend_later(node, lambda: self.cluster.start_node(node, wait=False), 0, 10)

    def leave_orphan(self):
        """Ends everything on a node but what a worker has started; the worker itself goes with its assay-rank."""
        node = self._busy_node()
        left = self.fleet.left_by_workers(node) if node else []
        if not left:
            return False
        own = self.cluster.own_number(left[0])
        self.cluster.kill_all_but(node, left[:1])
        if group_of(left[0]):  # else its run had just come to its end
            self.orphans.append((node, own, left[0]))
        return self._mend_later(node, lambda: self.cluster.start_node(node, wait=False), 0, 3)

    def drain_node(self):
        return self._set_aside(self.cluster.drain)

    def set_node_down(self):
        return self._set_aside(self.cluster.down)

    def _set_aside(self, how):
        node = self._busy_node()
        if node is None:
            return False
        how(node)
        return self._mend_later(node, lambda: self.cluster.resume(node, wait=False), 2, 6)
