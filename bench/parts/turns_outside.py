"""Two process trees that take turns from outside: one runs while the other is stopped by signals, in the order ABBA."""

import os
import signal
import statistics
import time

TICK = os.sysconf("SC_CLK_TCK")


def stat_of(pid):
    """Parent and CPU seconds of a process, or None where it has ended."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[1]), (int(fields[11]) + int(fields[12])) / TICK


def tree(root):
    """The process and all below it."""
    children = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (found := stat_of(name)):
            children.setdefault(found[0], []).append(int(name))
    found, left = [], [root]
    while left:
        found.append(pid := left.pop())
        left += children.get(pid, [])
    return found


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


def cpu_seconds(pids):
    return sum(found[1] for pid in pids if (found := stat_of(pid)))


class Turns:
    """`roots`: the two processes. Each turn lasts `seconds`.

    `windows` has both sides of every round: begin and end in monotonic ns, and CPU seconds.
    """

    def __init__(self, roots, seconds):
        self.roots = roots
        self.seconds = seconds
        self.windows = []

    def take(self, until, most_rounds):
        """Rounds until `until()` holds."""
        send(self._trees(), signal.SIGSTOP)
        try:
            for number in range(most_rounds):
                if until():
                    return
                pair = [None, None]
                for side in (0, 1) if number % 2 == 0 else (1, 0):
                    pair[side] = self._turn(side)
                self.windows.append(pair)
        finally:
            send(self._trees(), signal.SIGCONT)

    def _trees(self):
        return [pid for root in self.roots for pid in tree(root)]

    def _turn(self, side):
        """Begin, end and CPU seconds of a turn. Processes that were begun in it are stopped with the others."""
        pids = tree(self.roots[side])
        before = cpu_seconds(pids)
        begin = time.monotonic_ns()
        send(pids, signal.SIGCONT)
        time.sleep(self.seconds)  # a turn of this length is what is wanted
        end = time.monotonic_ns()
        send(tree(self.roots[side]), signal.SIGSTOP)
        return begin, end, cpu_seconds(pids) - before


def steps_within(steps, windows):
    """Of each window the steps (begin, end) that are wholly in it, but for the first, which settles."""
    found, at = [], 0
    for begin, end, _ in windows:
        while at < len(steps) and steps[at][0] < begin:
            at += 1
        inside = []
        while at < len(steps) and steps[at][1] <= end:
            inside.append(steps[at][1] - steps[at][0])
            at += 1
        found.append(inside[1:])
    return found


def round_medians(steps, windows):
    """Median step of each window, or None where fewer than two steps are in it."""
    return [statistics.median(inside) if len(inside) > 1 else None for inside in steps_within(steps, windows)]
