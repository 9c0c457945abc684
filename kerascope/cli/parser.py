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
from kerascope.cli.examples import EXAMPLES_EXAMPLES, add_examples_options
from kerascope.cli.learn_options import (
    LEARN_EXAMPLES,
    LEARN_USAGE,
    add_learn_options,
    split_learn_words,
)
from kerascope.cli.lessons import LESSONS_EXAMPLES, add_lessons_options
from kerascope.cli.picture_options import (
    DRAW_EXAMPLES,
    SUMMARY_EXAMPLES,
    add_draw_options,
    add_summary_options,
)
from kerascope.cli.profile_options import (
    PROFILE_EXAMPLES,
    add_profile_options,
    split_profile_words,
)
from kerascope.cli.usage import Parser, UsageError, exit_codes
from kerascope.registry import did_you_mean

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
    if words and words[0] in _SPLITTERS:
        command = words[0]
        ours, script_words = _SPLITTERS[command](list(words[1:]))
        options, unknown = parser.parse_known_args([command, *ours])
        if unknown:
            commands[command].refuse(unknown)
        options.script_words = script_words
        return options
    _check_first(list(words), parser, commands)
    options, unknown = parser.parse_known_args(list(words))
    if unknown:
        commands[options.command].chosen(options).refuse(unknown)
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


class _Command(NamedTuple):
    """A subcommand.

    Attributes
    ----------
    help : str
        A line, for the list of all.
    examples : str
    add_options : callable
        `add_options(parser)`.
    usage : str, optional
        By default argparse writes it.
    knows_dialects : bool
        Whether it makes models, whose names a dialect decides.
    """

    help: str
    examples: str
    add_options: Callable[[argparse.ArgumentParser], None]
    usage: str | None = None
    knows_dialects: bool = True


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
    for name, command in _COMMANDS.items():
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
        "--batches", type=_count, default=1, metavar="N",
        help="how many batches of each train function are shown in full (default 1)",
    )  # fmt: skip


def _count(word: str) -> int:
    if not word.isdecimal():
        raise argparse.ArgumentTypeError(f"expected 0 or more, got {word}")
    return int(word)


def _split_run_words(words: list[str]) -> tuple[list[str], list[str]]:
    """Tell our own options from the script and its arguments, as Python does."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] == "--dialect" else 1
    return words[: at + 1], words[at + 1 :]


def _split_trace_words(words: list[str]) -> tuple[list[str], list[str]]:
    """Tell our own options from the script's arguments, which keep their order.

    The script is the first word that is neither an option nor an option's value.
    """
    with_value = ("--level", "--format", "--batches", "--dialect")
    ours: list[str] = []
    theirs: list[str] = []
    script_seen = False
    while words:
        word = words.pop(0)
        if word == "--" and script_seen:
            return ours, theirs + words
        if word in with_value:
            ours += [word, *words[:1]]
            del words[:1]
        elif word.startswith(tuple(f"{name}=" for name in with_value)):
            ours.append(word)
        elif script_seen:
            theirs.append(word)
        else:
            ours.append(word)
            script_seen = not word.startswith("-")
    return ours, theirs


def _split_profile_words(words: list[str]) -> tuple[list[str], list[str]]:
    ours, theirs, doubt = split_profile_words(words)
    if doubt:
        raise UsageError(f"{doubt}\n(kerascope profile --help shows examples)")
    return ours, theirs


_SPLITTERS = {
    "run": _split_run_words,
    "trace": _split_trace_words,
    "debug": split_debug_words,
    "replay": split_replay_words,
    "profile": _split_profile_words,
    "learn": split_learn_words,
}


_COMMANDS = {
    "run": _Command(
        "run a Keras script, with kerascope as its keras", RUN_EXAMPLES, _add_run_options
    ),
    "trace": _Command(
        "run a script and print what happens in it", TRACE_EXAMPLES, _add_trace_options
    ),
    "debug": _Command("step through a script's models", DEBUG_EXAMPLES, add_debug_options),
    "replay": _Command(
        "look again at what debug has recorded", REPLAY_EXAMPLES, add_replay_options
    ),
    "profile": _Command(
        "measure where a script's models spend time and memory",
        PROFILE_EXAMPLES,
        add_profile_options,
    ),
    "draw": _Command(
        "draw a model", f"{DRAW_EXAMPLES}\n{MODEL_HELP}\n{exit_codes()}", add_draw_options
    ),
    "summary": _Command(
        "print a table of a model's layers",
        f"{SUMMARY_EXAMPLES}\n{MODEL_HELP}\n{exit_codes()}",
        add_summary_options,
    ),
    "lessons": _Command(
        "the course as web pages and notebooks; check it",
        LESSONS_EXAMPLES,
        add_lessons_options,
        knows_dialects=False,
    ),
    "examples": _Command(
        "copy the scripts that the course reads",
        EXAMPLES_EXAMPLES,
        add_examples_options,
        knows_dialects=False,
    ),
    "learn": _Command(
        "the course: read a chapter, do its exercises",
        LEARN_EXAMPLES,
        add_learn_options,
        usage=LEARN_USAGE,
        knows_dialects=False,
    ),
}
