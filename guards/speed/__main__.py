"""The command `python -m guards.speed`."""

import sys

from guards.speed.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
