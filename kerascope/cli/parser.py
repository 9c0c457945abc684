"""What can be typed after `kerascope`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import NamedTuple

from kerascope import __version__
from kerascope.cli.debug_options import (
    DEBUG_EXAMPLES,
    REPLAY_EXAMPLES,
    add_debug_options,
    add_replay_options,
    split_debug_words,
    split_replay_words,
)
from kerascope.cli.picture_options import (
    DRAW_EXAMPLES,
    SUMMARY_EXAMPLES,
    add_draw_options,
    add_summary_options,
    positive,
)
from kerascope.cli.usage import Parser, UsageError, exit_codes
from kerascope.registry import did_you_mean

# --- kerascope profile ----------------------------------------------------------------------------


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


def split_profile_words(parser: Parser, words: list[str]) -> tuple[list[str], list[str]]:
    """Tell our own options from the script's arguments, which keep their order.

    Raises
    ------
    UsageError
        A word behind the script looks like one of our options misspelt.

    Examples
    --------
    >>> parser = Parser()
    >>> add_profile_options(parser)
    >>> split_profile_words(parser, ["train.py", "data.csv", "-o", "p.svg", "--", "--all"])
    (['train.py', '-o', 'p.svg'], ['data.csv', '--all'])
    """
    ours, theirs, after = parser.split_around_script(words, flags=parser.option_names)
    for word in theirs:
        name = word.partition("=")[0]
        hint = did_you_mean(name, parser.option_names) if name.startswith("--") else ""
        if hint:
            raise UsageError(
                f"unrecognized argument: {word}. {hint}The script's own words stand behind --.\n"
                f"(kerascope profile --help shows examples)"
            )
    return ours, theirs + after


# --- kerascope learn ------------------------------------------------------------------------------


LEARN_ACTIONS = ("next", "list", "read", "run", "check", "hint", "reset", "solution", "watch")
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


def split_learn_words(parser: Parser, words: list[str]) -> tuple[list[str], list[str]]:
    """Tell options from the action and the exercises, wherever they stand."""
    ours: list[str] = []
    others: list[str] = []
    for option in parser.with_their_values(words):
        (ours if option[0].startswith("-") else others).extend(option)
    return ours, others


def _seconds(word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = 0.0
    if not 0 < number <= 3600:
        raise argparse.ArgumentTypeError(f"expected seconds above 0, at most 3600; got {word}")
    return number


# --- kerascope lessons and kerascope examples -----------------------------------------------------


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
LESSONS_ACTIONS = {
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
    for name, help_text in LESSONS_ACTIONS.items():
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
                "--jobs", type=_at_least(1), default=2, metavar="N",
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


def _at_least(least: int) -> Callable[[str], int]:
    """Return what reads a whole number."""

    def number(word: str) -> int:
        if not word.isdecimal() or int(word) < least:
            raise argparse.ArgumentTypeError(f"expected {least} or more, got {word}")
        return int(word)

    return number


EXAMPLES_FOLDER = "examples"
EXAMPLES_EXAMPLES = f"""\
  kerascope examples              copy them to ./{EXAMPLES_FOLDER}
  kerascope examples .            ... to the folder in which you stand, as chapter 0 wants it
  kerascope examples --list       only say what there is
  kerascope examples --force      write also over those that you have changed

Without --force a file that is there already is left as it is.

{exit_codes()}
"""


def add_examples_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope examples`."""
    add = parser.add_argument
    parser.set_defaults(dialect=None)
    add(
        "folder",
        nargs="?",
        default=EXAMPLES_FOLDER,
        metavar="FOLDER",
        help=f"default ./{EXAMPLES_FOLDER}",
    )
    add("--list", action="store_true", help="copy nothing; a line for each example")
    add("--force", action="store_true", help="write over files that were changed")


# --- the command line as a whole ------------------------------------------------------------------


DIALECTS = ("1.2", "2.2", "3")

MODEL_HELP = """\
MODEL is script.py, script.py:name, module:name, or a file: .keras, .h5, or the .json of
model.to_json(), written here or by Keras 1, 2 or 3. A script is run as it is, its training too;
what it prints goes to standard error. A file is read without running any code of it.
"""
OTHER_CODES = {
    3: "debug --fail-on: found",
    4: "replay --against: the script computes something else",
    5: "learn check: not attempted",
}
EXAMPLES = f"""\
examples:
  kerascope run example.py data.csv             run a Keras script; `import keras` is kerascope
  kerascope trace example.py                    walk through all that a script does
  kerascope trace example.py --level op | less  every op of the first batch
  kerascope debug example.py                    step through its models, as pdb does
  kerascope profile example.py                  where its time and memory go, by layer and by op
  kerascope draw example.py -o model.svg        draw the model that a script builds
  kerascope draw example.py:encoder -o e.png    ... the one in its variable `encoder`
  kerascope summary mypackage.models:build      a table of the layers
  kerascope examples                            example.py and others, copied to ./examples
  kerascope learn read 0                        the course, chapter by chapter
  kerascope learn                               its exercises, with a checker

{MODEL_HELP}
{exit_codes(OTHER_CODES)}
"""
RUN_EXAMPLES = f"""\
`import keras`, `from tensorflow import keras` and the paths of Keras 1, 2 and 3 find kerascope; a
Keras that is installed is not touched. Options stand before the script; what follows it is its own:
  kerascope run train.py data.csv --epochs 3
  kerascope run --dialect 1.2 old_script.py
  kerascope run --dialect 3 new_script.py

{exit_codes()}
"""
TRACE_EXAMPLES = f"""\
Options stand before the script or after it; what follows `--` belongs to the script alone:
  kerascope trace --batches 2 train.py data.csv
  kerascope trace train.py -- --batches 100

formats: text; md (Markdown) and jsonl (a JSON object a line), for which the script's own output
goes to standard error

{exit_codes()}
"""


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the options of a command line.

    Raises
    ------
    UsageError
        It makes no sense.
    SystemExit
        It asked for help or the version, which was printed.
    """
    if list(words[:1]) == ["help"]:
        words = [*words[1:2], "--help"]
    parser, commands = _parsers()
    first = next((word for word in words if not word.startswith("-")), None)
    if first is not None and words[0] == first and first not in commands:
        hint = did_you_mean(first, list(commands))
        raise UsageError(
            f"unknown command {first!r}. {hint}Commands: {', '.join(commands)}.\n"
            f"(kerascope --help shows examples)"
        )
    split = COMMANDS[words[0]].split if words and words[0] in COMMANDS else None
    script_words: list[str] = []
    if split is not None:
        ours, script_words = split(commands[words[0]], list(words[1:]))
        words = [words[0], *ours]
    else:
        _check_first(list(words), parser, commands)
    options, unknown = parser.parse_known_args(list(words))
    if unknown:
        commands[options.command].chosen(options).refuse(unknown)
    options.script_words = script_words
    return options


def _check_first(words: list[str], parser: Parser, commands: dict[str, Parser]) -> None:
    """Refuse an option that stands where a command is expected, unless it needs none.

    Raises
    ------
    UsageError
        It is misspelt, or belongs behind a command.
    """
    name = words[0].partition("=")[0] if words else ""
    if not name.startswith("-") or any(known.startswith(name) for known in parser.option_names):
        return
    having = [command for command, its in commands.items() if name in its.option_names]
    if having:
        command = next((word for word in words if word in having), having[0])
        parser.error(f"{name} stands behind a command: kerascope {command} {name} ...")
    parser.refuse(words[:1])


def _parsers() -> tuple[Parser, dict[str, Parser]]:
    common = Parser(add_help=False)
    common.add_argument(
        "--dialect", choices=DIALECTS,
        help="whose names, defaults and formulas (default: $KERASCOPE_DIALECT, or 2.2)",
    )  # fmt: skip
    parser = Parser(
        prog="kerascope",
        description="See inside a Keras-style model: walk through it, draw it.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"kerascope {__version__}")
    sub = parser.add_subparsers(dest="command", required=True, metavar="command")
    found: dict[str, Parser] = {}
    for name, command in COMMANDS.items():
        found[name] = sub.add_parser(
            name,
            help=command.help,
            usage=command.usage,
            epilog=command.examples,
            parents=[common] if command.knows_dialects else (),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_options(found[name])
    return parser, found


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", metavar="script.py [argument ...]")


def _add_trace_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("script", metavar="script.py [argument ...]")
    parser.add_argument(
        "--level", choices=("node", "op"), default="node",
        help="node: a line for each layer (default); op: also one for each op",
    )  # fmt: skip
    parser.add_argument("--format", choices=("text", "md", "jsonl"), default="text")
    parser.add_argument(
        "--batches", type=_at_least(0), default=1, metavar="N",
        help="how many batches of each train function are shown in full (default 1)",
    )  # fmt: skip


def _split_trace_words(parser: Parser, words: list[str]) -> tuple[list[str], list[str]]:
    ours, theirs, after = parser.split_around_script(words)
    return ours, theirs + after


class Command(NamedTuple):
    """A command.

    Attributes
    ----------
    run : str
        Module and name of the function that does it, imported when it is asked for: it is given the
        options, and returns the exit code.
    help : str
        A line, for the list of all.
    examples : str
    add_options : callable
        `add_options(parser)`.
    split : callable, optional
        `split(parser, words)` tells our own words from those that its script, or its own code, gets
        as they are: `options.script_words`.
    usage : str, optional
        By default argparse writes it.
    knows_dialects : bool
        Whether it makes models, whose names a dialect decides.
    """

    run: str
    help: str
    examples: str
    add_options: Callable[[argparse.ArgumentParser], None]
    split: Callable[[Parser, list[str]], tuple[list[str], list[str]]] | None = None
    usage: str | None = None
    knows_dialects: bool = True


COMMANDS = {
    "run": Command(
        "kerascope.cli.scripts.run_script",
        "run a Keras script, with kerascope as its keras",
        RUN_EXAMPLES,
        _add_run_options,
        Parser.split_at_script,
    ),
    "trace": Command(
        "kerascope.cli.scripts.run_trace",
        "run a script and print what happens in it",
        TRACE_EXAMPLES,
        _add_trace_options,
        _split_trace_words,
    ),
    "debug": Command(
        "kerascope.cli.debugging.run_debug",
        "step through a script's models",
        DEBUG_EXAMPLES,
        add_debug_options,
        split_debug_words,
    ),
    "replay": Command(
        "kerascope.cli.debugging.run_replay",
        "look again at what debug has recorded",
        REPLAY_EXAMPLES,
        add_replay_options,
        split_replay_words,
    ),
    "profile": Command(
        "kerascope.cli.profiling.run_profile",
        "measure where a script's models spend time and memory",
        PROFILE_EXAMPLES,
        add_profile_options,
        split_profile_words,
    ),
    "draw": Command(
        "kerascope.cli.pictures.run_draw",
        "draw a model",
        f"{DRAW_EXAMPLES}\n{MODEL_HELP}\n{exit_codes()}",
        add_draw_options,
    ),
    "summary": Command(
        "kerascope.cli.pictures.run_summary",
        "print a table of a model's layers",
        f"{SUMMARY_EXAMPLES}\n{MODEL_HELP}\n{exit_codes()}",
        add_summary_options,
    ),
    "lessons": Command(
        "kerascope.lessons.commands.run_lessons",
        "the course as web pages and notebooks; check it",
        LESSONS_EXAMPLES,
        add_lessons_options,
        knows_dialects=False,
    ),
    "examples": Command(
        "kerascope.cli.learning.run_examples",
        "copy the scripts that the course reads",
        EXAMPLES_EXAMPLES,
        add_examples_options,
        knows_dialects=False,
    ),
    "learn": Command(
        "kerascope.cli.learning.run_learn",
        "the course: read a chapter, do its exercises",
        LEARN_EXAMPLES,
        add_learn_options,
        split_learn_words,
        usage=LEARN_USAGE,
        knows_dialects=False,
    ),
}
