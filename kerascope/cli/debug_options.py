"""What can be typed after `kerascope debug` and `kerascope replay`."""

from __future__ import annotations

import argparse

DEBUG_EXAMPLES = """\
As in `python -m pdb`, options stand before the script; what follows it is its own. It stops before
the first event; `help` lists the commands:
  kerascope debug train.py data.csv
  kerascope debug -c 'b dense_2:bwd' -c c train.py
  kerascope debug -x commands.txt train.py
  kerascope debug --fail-on nan train.py        exit code 3 if a NaN comes out anywhere

If standard input is no terminal, commands are read from it, and each is written after its prompt:
  echo 'c' | kerascope debug train.py

exit codes: 0 done, 1 the script failed, 2 wrong usage, 3 what --fail-on names was found
"""
REPLAY_EXAMPLES = """\
In `kerascope debug`, `record t.jsonl` writes a tape. Its replay runs no code, neither the script's
nor the model's: it can be read where Keras scripts cannot be trusted.
  kerascope replay t.jsonl
  kerascope replay -c 'catch nan' -c c t.jsonl
"""
WITH_VALUE = ("-c", "--command", "-x", "--commands-from", "--fail-on", "--dialect")


def add_debug_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope debug`."""
    add = parser.add_argument
    add("script", metavar="script.py [argument ...]")
    add("-c", "--command", action="append", default=[], metavar="CMD", dest="commands",
        help="do this command first; may be given several times")  # fmt: skip
    add("-x", "--commands-from", metavar="FILE", dest="commands_file",
        help="do the commands in this file first, one on each line; # is a comment")  # fmt: skip
    add("--fail-on", metavar="CONDITIONS",
        help="run on without asking, and fail with exit code 3 at the first of these: nan, inf, "
        "exception, dead, vanishing, exploding, stuck, ratio>0.1 (several: commas)")  # fmt: skip


def split_debug_words(words: list[str]) -> tuple[list[str], list[str]]:
    """Tell our own options from the script and its arguments, as pdb does.

    Examples
    --------
    >>> split_debug_words(["-c", "c", "train.py", "-c", "data"])
    (['-c', 'c', 'train.py'], ['-c', 'data'])
    """
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] in WITH_VALUE else 1
    return words[: at + 1], words[at + 1 :]


def add_replay_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope replay`."""
    parser.add_argument("file", metavar="t.jsonl")
    parser.add_argument(
        "-c", "--command", action="append", default=[], metavar="CMD", dest="commands",
        help="do this command first; may be given several times",
    )  # fmt: skip
