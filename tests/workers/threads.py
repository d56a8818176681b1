"""What the threads of a process do, seen from outside. Standard library only: tests and figures share it."""

import pathlib
import re
import time

# Of what the busiest thread had of a CPU: on a quiet host that is the whole window, on a busy one all get less of it
# alike. A thread that waits or hands out work uses less.
USED_SHARE = 0.2
_MATH_THREADS = re.compile(r"/lib(gomp|iomp5|omp|tbb)\b[^/\s]*\.so")


def on_cpu_ns(pid):
    """By thread: nanoseconds on a CPU so far."""
    found = {}
    for task in pathlib.Path("/proc/%d/task" % pid).iterdir():
        try:
            found[task.name] = int((task / "schedstat").read_text().split()[0])
        except FileNotFoundError:
            pass
    return found


class Window:
    """From its making to `close()`: how many threads were used, and how many CPUs they took in all."""

    def __init__(self, pid):
        self._pid, self._before, self._begin_ns = pid, on_cpu_ns(pid), time.monotonic_ns()
        self.used, self.cpus = 0, 0.0

    def close(self):
        window_ns = time.monotonic_ns() - self._begin_ns
        took_ns = [ns - self._before.get(thread, 0) for thread, ns in on_cpu_ns(self._pid).items()]
        self.used = sum(ns >= USED_SHARE * max(took_ns) for ns in took_ns)
        self.cpus = sum(took_ns) / window_ns
        return self


def libraries(pid):
    """Names of the libraries that bring threads of their own for mathematics: gomp, iomp5, omp, tbb."""
    return sorted(set(_MATH_THREADS.findall(pathlib.Path("/proc/%d/maps" % pid).read_text())))
