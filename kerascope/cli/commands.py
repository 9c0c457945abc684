"""The commands of `kerascope`: one table, how a command line is read by it, and `main`."""

from __future__ import annotations

import argparse
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import NamedTuple

from kerascope import __version__
from kerascope.cli import options
from kerascope.cli.usage import Parser, UsageError, exit_codes
from kerascope.compat import keras_imports, keras_imports_for_good
from kerascope.errors import ArgumentError, KerascopeError
from kerascope.registry import did_you_mean
from kerascope.settings import config, dialect_of_environment

# --- the table, and the parser --------------------------------------------------------------------


DIALECTS = ("1.2", "2.2", "3")
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
  kerascope play example.py -o page.html        ... and play its first step in a browser
  kerascope profile example.py                  where its time and memory go, by layer and by op
  kerascope draw example.py -o model.svg        draw the model that a script builds
  kerascope draw example.py:encoder -o e.png    ... the one in its variable `encoder`
  kerascope show m.keras conv1 --values x.npy   its feature maps
  kerascope summary mypackage.models:build      a table of the layers
  kerascope compare m.keras port.onnx           the first call at which they differ
  kerascope examples                            example.py and others, copied to ./examples
  kerascope learn read 0                        the course, chapter by chapter
  kerascope learn                               its exercises, with a checker

{options.MODEL_HELP}
{exit_codes(OTHER_CODES)}
"""


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
    keras_is_ours : callable
        From the options to whether `import keras` means kerascope.
    """

    run: str
    help: str
    examples: str
    add_options: Callable[[argparse.ArgumentParser], None]
    split: Callable[[Parser, list[str]], tuple[list[str], list[str]]] | None = None
    usage: str | None = None
    knows_dialects: bool = True
    keras_is_ours: Callable[[Namespace], bool] = lambda options: not getattr(options, "live", False)


COMMANDS = {
    "run": Command(
        "kerascope.cli.scripts.run_script",
        "run a Keras script, with kerascope as its keras",
        options.RUN_EXAMPLES,
        options.add_run_options,
        Parser.split_at_script,
    ),
    "trace": Command(
        "kerascope.cli.scripts.run_trace",
        "run a script and print what happens in it",
        options.TRACE_EXAMPLES,
        options.add_trace_options,
        Parser.split_around_script,
    ),
    "debug": Command(
        "kerascope.cli.debugging.run_debug",
        "step through a script's models",
        options.DEBUG_EXAMPLES,
        options.add_debug_options,
        options.split_debug_words,
    ),
    "replay": Command(
        "kerascope.cli.debugging.run_replay",
        "look again at what debug has recorded",
        options.REPLAY_EXAMPLES,
        options.add_replay_options,
        options.split_replay_words,
    ),
    "play": Command(
        "kerascope.cli.playing.run_play",
        "play a script's first training step in a page or a picture",
        options.PLAY_EXAMPLES,
        options.add_play_options,
        Parser.split_around_script,
    ),
    "profile": Command(
        "kerascope.cli.profiling.run_profile",
        "measure where a script's models spend time and memory",
        options.PROFILE_EXAMPLES,
        options.add_profile_options,
        Parser.split_around_script,
    ),
    "draw": Command(
        "kerascope.cli.pictures.run_draw",
        "draw a model",
        f"{options.DRAW_EXAMPLES}\n{options.MODEL_HELP}\n{exit_codes()}",
        options.add_draw_options,
    ),
    "show": Command(
        "kerascope.cli.tensors.run_show",
        "draw what a layer holds or gives",
        f"{options.SHOW_EXAMPLES}\n{options.MODEL_HELP}\n{exit_codes()}",
        options.add_show_options,
    ),
    "summary": Command(
        "kerascope.cli.pictures.run_summary",
        "print a table of a model's layers",
        f"{options.SUMMARY_EXAMPLES}\n{options.MODEL_HELP}\n{exit_codes()}",
        options.add_summary_options,
    ),
    "compare": Command(
        "kerascope.cli.comparing.run_compare",
        "find the first call at which two models differ",
        f"{options.COMPARE_EXAMPLES}\n{options.MODEL_HELP}",
        options.add_compare_options,
        keras_is_ours=options.runs_script,
    ),
    "lessons": Command(
        "kerascope.lessons.commands.run_lessons",
        "the course as web pages and notebooks; check it",
        options.LESSONS_EXAMPLES,
        options.add_lessons_options,
        knows_dialects=False,
    ),
    "examples": Command(
        "kerascope.cli.learning.run_examples",
        "copy the scripts that the course reads",
        options.EXAMPLES_EXAMPLES,
        options.add_examples_options,
        knows_dialects=False,
    ),
    "learn": Command(
        "kerascope.cli.learning.run_learn",
        "the course: read a chapter, do its exercises",
        options.LEARN_EXAMPLES,
        options.add_learn_options,
        options.split_learn_words,
        usage=options.LEARN_USAGE,
        knows_dialects=False,
    ),
}


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
    typed, unknown = parser.parse_known_args(list(words))
    if unknown:
        commands[typed.command].chosen(typed).refuse(unknown)
    typed.script_words = script_words
    return typed


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


# --- main -----------------------------------------------------------------------------------------


DONE, FAILED, USAGE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The words after `kerascope`; default `sys.argv[1:]`. Without them it is the command of the
        process: `keras` is ours to its end, since threads of a script may outlive its last line.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    _write_anything()
    try:
        dialect_of_environment()
    except KerascopeError as error:
        return _complain(error, USAGE)
    dialect = config.dialect
    try:
        options = parse(words)
        config.dialect = options.dialect or dialect
        options.for_good = argv is None
        is_ours = COMMANDS[options.command].keras_is_ours(options)
        if options.for_good and is_ours:
            keras_imports_for_good()
        with keras_imports() if is_ours and not options.for_good else nullcontext():
            code = _done(options)
        sys.stdout.flush()
        return code
    except SystemExit as stop:  # argparse: --help, --version
        return stop.code if isinstance(stop.code, int) else DONE
    except (UsageError, ArgumentError) as error:  # an option that does not fit what was given
        return _complain(error, USAGE)
    except KerascopeError as error:
        return _complain(error, FAILED)
    except KeyboardInterrupt:
        print("\nkerascope: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        return _leave_broken_pipe()
    finally:
        if argv is not None:
            config.dialect = dialect


def _done(options: Namespace) -> int:
    """Do what the options ask for, whose module is imported only now; return the exit code."""
    module, _, name = COMMANDS[options.command].run.rpartition(".")
    return int(getattr(import_module(module), name)(options))


def _complain(error: Exception, code: int) -> int:
    print(f"kerascope: {error}", file=sys.stderr)
    return code


def _write_anything() -> None:
    """Let a name that the terminal's encoding lacks be written as an escape, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _leave_broken_pipe() -> int:
    """Be silent when the reader has gone (`| head`), also when Python flushes at its end."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return BROKEN_PIPE
    return BROKEN_PIPE
