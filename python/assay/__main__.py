"""`python -m assay`: the program, in place of Python."""

import os
import sys

from assay import AssayError, program

try:
    found = str(program())
except AssayError as error:
    sys.exit(f"assay: {error}")
os.execv(found, [found, *sys.argv[1:]])
