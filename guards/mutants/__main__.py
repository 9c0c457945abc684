"""The command: `python -m guards.mutants`."""

import sys

from guards.mutants.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
