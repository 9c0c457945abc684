"""The options of `kerascope learn`."""

from __future__ import annotations

import argparse

from kerascope.cli.usage import exit_codes

ACTIONS = ("next", "list", "read", "run", "check", "hint", "reset", "solution", "watch")
LEARN_USAGE = "kerascope learn [ACTION] [EXERCISE ...] [options]"
LEARN_EXAMPLES = f"""\
actions:
  kerascope learn                     the next exercise; the first time, the exercises are copied
                                      to ./kerascope-exercises, where you write your answers
  kerascope learn list                all exercises, and what you have passed
  kerascope learn read 5              chapter 5 in the terminal
  kerascope learn run                 run your file and see what it prints
  kerascope learn check               check it: NOT ATTEMPTED, FAIL and why, or PASS
  kerascope learn hint                a hint; the next time, a clearer one
  kerascope learn reset               begin again; what you had written is kept beside it
  kerascope learn solution            one way to do it
  kerascope learn watch               check again whenever you save

EXERCISE is a name (count_parameters), an id (01/count_parameters), a file, or a chapter's number;
left out, it is the next one that you have not passed.

for teachers:
  kerascope learn check --all --json --folder ann --folder bob
  kerascope learn check --all --class submissions        a line for each student
No file in these folders is changed. It runs what the students wrote: on a machine where it may.

{exit_codes({5: "check: none failed, but one was not attempted", 124: "run: it took too long"})}
"""
_WITH_VALUE = ("--folder", "--class", "--lang", "--time-limit")


def add_learn_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope learn`."""
    add = parser.add_argument
    parser.set_defaults(dialect=None)
    add("--lang", choices=("en", "zh"), help="English or Chinese; it is remembered")
    add("--folder", action="append", metavar="DIR", default=[],
        help="where your answers are (default ./kerascope-exercises, or the one you stand in)"
    )  # fmt: skip
    add("--class", dest="class_folder", metavar="DIR", help="check: a folder of students' folders")
    add("--all", action="store_true", help="check: every exercise")
    add("--json", action="store_true", help="check: write the verdicts as JSON")
    add("--time-limit", type=_seconds, metavar="S",
        help="seconds that your file may take (default 10; run: 60)"
    )  # fmt: skip


def split_learn_words(words: list[str]) -> tuple[list[str], list[str]]:
    """Tell options from the action and the exercises, wherever they stand."""
    ours: list[str] = []
    others: list[str] = []
    while words:
        word = words.pop(0)
        if word in _WITH_VALUE:
            ours += [word, *words[:1]]
            del words[:1]
        else:
            (ours if word.startswith("-") else others).append(word)
    return ours, others


def _seconds(word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = 0.0
    if not 0 < number <= 3600:
        raise argparse.ArgumentTypeError(f"expected seconds above 0, at most 3600; got {word}")
    return number
