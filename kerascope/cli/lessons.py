"""What can be typed after `kerascope lessons`."""

from __future__ import annotations

import argparse

from kerascope.cli.usage import exit_codes

LESSONS_EXAMPLES = f"""\
A chapter is meant by its number or its name (7, 07, 07-dense, dense); without one, all are:
  kerascope lessons check                  run every block, compare every printed line
  kerascope lessons check 7                ... of one chapter
  kerascope lessons build --accept 7       write into it what its blocks print now
  kerascope lessons build --accept --translated zh 7
                                           ... and say that its Chinese was brought up to date
  kerascope lessons html -o pages          a page for each chapter, and an index
  kerascope lessons notebook --lang zh 7   a Jupyter notebook, written to ./07-dense.zh.ipynb

A new chapter is a folder NN-topic with lesson.en.md and lesson.zh.md:
  kerascope lessons check --tutorials my_course

{exit_codes({1: "check and build: something differs"})}
"""
ACTIONS = {
    "check": "run every block and compare every printed line",
    "build": "the same; with --accept, write what has changed",
    "html": "make a page for each chapter, and an index",
    "notebook": "make a Jupyter notebook of each chapter",
}


def add_lessons_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope lessons`.

    A lesson says itself in which dialect it speaks, so there is no such option.
    """
    parser.set_defaults(dialect=None)
    sub = parser.add_subparsers(dest="action", required=True, metavar="action")
    for name, help_text in ACTIONS.items():
        action = sub.add_parser(
            name,
            help=help_text,
            epilog=LESSONS_EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        action.add_argument("chapters", nargs="*", metavar="chapter", help="default: all")
        action.add_argument("--tutorials", metavar="DIR", help="folder of the chapters")
        if name == "build":
            _add_build_options(action)
        if name in ("check", "build"):
            action.add_argument(
                "--jobs", type=_positive, default=2, metavar="N",
                help="how many chapters run at a time (default 2)",
            )  # fmt: skip
        if name in ("html", "notebook"):
            where = "lessons" if name == "html" else "."
            action.add_argument(
                "-o", "--output", default=where, metavar="DIR",
                help=f"folder to write to (default {where})",
            )  # fmt: skip
        if name == "notebook":
            action.add_argument("--lang", choices=("en", "zh"), help="default: both")


def _add_build_options(action: argparse.ArgumentParser) -> None:
    how = action.add_mutually_exclusive_group()
    how.add_argument("--accept", action="store_true", help="rewrite outputs and pictures")
    how.add_argument("--check", action="store_true", help="only compare (default)")
    action.add_argument(
        "--translated", choices=("en", "zh", "both"),
        help="with --accept: the language that was brought up to date; renews the hashes of twins",
    )  # fmt: skip


def _positive(word: str) -> int:
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"expected 1 or more, got {word}")
    return int(word)
