"""Becomes a program as one tenant of a machine has it. To be started in a mount namespace of its own (unshare --mount).

tenant.py [--tmp] [--hide-processes] [--user N] [--pid N] -- PROGRAM ARGUMENTS...
"""

import argparse
import os
import pathlib
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tmp", action="store_true", help="an own /tmp")
    parser.add_argument("--hide-processes", action="store_true", help="of other users, as /proc with hidepid=2 does")
    parser.add_argument("--user", type=int, help="a number that needs no name")
    parser.add_argument("--pid", type=int, help="of the program, in a namespace of which this is the first process")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    if options.tmp:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/tmp"], check=True)
    if options.hide_processes:
        subprocess.run(["mount", "-t", "proc", "-o", "hidepid=2", "proc", "/proc"], check=True)
    if options.user:
        os.setgroups([])
        os.setgid(options.user)
        os.setuid(options.user)
    if options.pid:
        pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(options.pid - 1))
        child = os.fork()
        if child:
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os.execv(options.program[0], options.program)


if __name__ == "__main__":
    main()
