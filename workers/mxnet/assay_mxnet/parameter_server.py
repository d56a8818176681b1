"""A scheduler or server of MXNet's, as DMLC_ROLE says: serves until the workers have ended, or its parent has.

python parameter_server.py PID_OF_PARENT
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1

ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit("the worker ended before its server began")
import mxnet  # noqa: E402, F401 - serves and exits in the course of this import
