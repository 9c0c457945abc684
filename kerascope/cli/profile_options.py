"""The options of `kerascope profile`."""

from __future__ import annotations

import argparse

from kerascope.cli.picture_options import positive
from kerascope.cli.usage import exit_codes
from kerascope.registry import did_you_mean

ORDERS = ("time", "memory", "limit", "name", "order")
PROFILE_EXAMPLES = f"""\
The script runs at full speed; then each function that it has called (train_function,
predict_function, ...) is measured line by line, on the last batch that it got. Options stand before
the script or after it; what follows `--` belongs to the script alone:
  kerascope profile train.py
  kerascope profile train.py -o profile.svg -o profile.html   the model, coloured by time
  kerascope profile train.py --sort memory --all              all ops, the largest results first
  kerascope profile train.py --json > profile.json            for a program
  kerascope profile train.py -- --epochs 3                    what the script gets

Of limit: the least time that an op could take on this machine, as a share of the time it took; by
the best matrix product (GEMM) or by copying its bytes (copy), both measured at the end.

{exit_codes()}
"""
WITH_VALUE = ("-o", "--output", "--sort", "--repeats", "--dialect")
FLAGS = ("--all", "--json", "-h", "--help")


def add_profile_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope profile`."""
    add = parser.add_argument
    add("script", metavar="script.py [argument ...]")
    add("-o", "--output", action="append", metavar="FILE", default=[],
        help="also draw the model, each box filled by its share of the time: .svg .html .png .pdf "
             ".txt ...; may be repeated")  # fmt: skip
    add("--sort", choices=ORDERS, default="time",
        help="how the ops are sorted: by time (default), size of their results, share of the "
             "limit, name, or in the order of the program")  # fmt: skip
    add("--all", action="store_true", help="show all ops (default: 20) and all functions")
    add("--repeats", type=positive, metavar="N",
        help="how many calls are measured (default: a second long)")  # fmt: skip
    add("--json", action="store_true",
        help="print JSON; what the script prints goes to standard error")  # fmt: skip


def split_profile_words(words: list[str]) -> tuple[list[str], list[str], str]:
    """Tell our own options from the script's arguments, which keep their order.

    Returns
    -------
    ours, theirs : list of str
    doubt : str
        What to say of a word behind the script that looks like one of our options misspelt.

    Examples
    --------
    >>> split_profile_words(["train.py", "data.csv", "-o", "p.svg", "--", "--all"])
    (['train.py', '-o', 'p.svg'], ['data.csv', '--all'], '')
    >>> split_profile_words(["train.py", "--jsn"])[2]
    "unrecognized argument: --jsn. Did you mean '--json'? The script's own words stand behind --."
    """
    ours: list[str] = []
    theirs: list[str] = []
    doubt, script_seen = "", False
    words = list(words)
    while words:
        word = words.pop(0)
        if word == "--" and script_seen:
            return ours, theirs + words, doubt
        if word in WITH_VALUE:
            ours += [word, *words[:1]]
            del words[:1]
        elif word in FLAGS or word.startswith(tuple(f"{name}=" for name in WITH_VALUE)):
            ours.append(word)
        elif not script_seen:
            ours.append(word)
            script_seen = not word.startswith("-")
        else:
            theirs.append(word)
            doubt = doubt or _doubt(word)
    return ours, theirs, doubt


def _doubt(word: str) -> str:
    name = word.partition("=")[0]
    hint = did_you_mean(name, [*WITH_VALUE, *FLAGS]) if name.startswith("--") else ""
    if not hint:
        return ""
    return f"unrecognized argument: {word}. {hint}The script's own words stand behind --."
