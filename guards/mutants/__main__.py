"""The command `python -m guards.mutants`."""

import sys

from guards.mutants import command, exercises

if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] == ["--exercises"]:
        sys.exit(exercises.main(words[1:]))
    sys.exit(command.main(words))
