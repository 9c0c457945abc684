"""The command: `python3 -m benchmarks.paired`, or `python3 benchmarks/paired` from anywhere."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])

    from benchmarks.paired.commands import main

    sys.exit(main(sys.argv[1:]))
