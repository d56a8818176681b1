"""One rank under mpirun: speaks the protocol with a worker of its own, and writes down what it answered.

usage: mpirun … python mpi_rank.py FOLDER PREPARE [MEASURE …]

PREPARE and MEASURE are arguments of Worker.prepare() and Worker.measure() as JSON objects. FOLDER/RANK.json gets the
list of answers and, in the end, the exit code.
"""

import json
import os
import pathlib
import signal
import sys

from conftest import Worker


def main():
    rank, ranks = int(os.environ["OMPI_COMM_WORLD_RANK"]), int(os.environ["OMPI_COMM_WORLD_SIZE"])
    folder, prepare, *measures = sys.argv[1:]
    worker = Worker("mpi")
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # from mpirun, as soon as one rank has ended after an error
    try:
        answers = [worker.prepare(**{"rank": rank, "ranks": ranks, "batch": 1, **json.loads(prepare)})]
        if answers[0]["type"] == "prepared":
            answers += [worker.measure(**json.loads(measure)) for measure in measures]
            answers.append(worker.close())
    finally:
        sys.stderr.write(worker.kill().decode(errors="replace"))
    (pathlib.Path(folder) / ("%d.json" % rank)).write_text(json.dumps(answers))


main()
