"""Becomes a program as one tenant of a machine has it. To be started in a mount namespace of its own (unshare --mount).

tenant.py [--tmp] [--hide-processes] [--user N] -- PROGRAM ARGUMENTS...
"""

import argparse
import os
import subprocess


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tmp", action="store_true", help="an own /tmp")
    parser.add_argument("--hide-processes", action="store_true", help="of other users, as /proc with hidepid=2 does")
    parser.add_argument("--user", type=int, help="a number that needs no name")
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
    os.execv(options.program[0], options.program)


if __name__ == "__main__":
    main()
