"""Several ranks: MXNet's parameter servers. Each worker starts one server; that of rank 0 also starts the scheduler,
through which all find each other."""

import os
import subprocess
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "parameter_server.py")


class Group:
    """The ranks that work together. `store` is None where there is but one."""

    def __init__(self, prepare):
        """Before mxnet is loaded: it reads these variables then."""
        self.store, self._started, self._ranks = None, [], prepare.ranks
        if prepare.ranks == 1:
            return
        address, _, port = prepare.peers[0].rpartition(":")
        os.environ.update(
            DMLC_PS_ROOT_URI=address,
            DMLC_PS_ROOT_PORT=port,
            DMLC_NODE_HOST=prepare.peers[prepare.rank].rpartition(":")[0],
            DMLC_NUM_WORKER=str(prepare.ranks),
            DMLC_NUM_SERVER=str(prepare.ranks),
            DMLC_ROLE="worker",
        )
        for role in ("scheduler", "server") if prepare.rank == 0 else ("server",):
            argv = [sys.executable, PROGRAM, str(os.getpid())]
            self._started.append(subprocess.Popen(argv, env={**os.environ, "DMLC_ROLE": role}))

    def join(self):
        """Waits until all ranks and servers have found each other."""
        if self._ranks > 1:
            import mxnet

            self.store = mxnet.kv.create("dist_sync")

    def barrier(self):
        self.store._barrier()
