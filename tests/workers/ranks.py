"""Several workers working together, each with a thread that speaks to it: none answers before the others are there."""

import concurrent.futures
import json
import pathlib
import socket
import subprocess
import sys

MPIRUN_SECONDS = 60


def peers(ranks):
    """Addresses on this host whose ports are free now."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(ranks)]
    found = ["127.0.0.1:%d" % s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return found


class Ranks:
    """The workers in the order of their ranks."""

    def __init__(self, start, name, ranks=2, **options):
        self.workers = [start(name, **options) for _ in range(ranks)]

    def each(self, function):
        """function(worker, rank) for all at once; the results by rank."""
        with concurrent.futures.ThreadPoolExecutor(len(self.workers)) as pool:
            return list(pool.map(function, self.workers, range(len(self.workers))))

    def prepare(self, of_rank=None, **asked):
        """`of_rank(rank)`: what is asked of that rank alone."""
        ranks, addresses = len(self.workers), peers(len(self.workers))

        def one(worker, rank):
            own = of_rank(rank) if of_rank else {}
            return worker.prepare(rank=rank, ranks=ranks, peers=addresses, **asked, **own)

        return self.each(one)

    def measure(self, **asked):
        return self.each(lambda worker, _: worker.measure(**asked))

    def close(self):
        return self.each(lambda worker, _: worker.close())


def under_mpirun(folder, count, prepare, measures, slots=1):
    """The answers of each worker `mpi`, by rank. More ranks than slots leave each other the CPUs."""
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(count)]
    command += ["--host", "localhost:%d" % slots, sys.executable, str(pathlib.Path(__file__).with_name("mpi_rank.py"))]
    command += [str(folder), json.dumps(prepare)]
    command += [json.dumps({"seconds": 1000, **measure}) for measure in measures]
    done = subprocess.run(command, capture_output=True, text=True, timeout=MPIRUN_SECONDS, check=False)
    files = sorted(folder.glob("*.json"), key=lambda path: int(path.stem))
    assert files, done.stderr
    return [json.loads(path.read_text()) for path in files]
