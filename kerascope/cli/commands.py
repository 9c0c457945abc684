"""The table of the commands of `kerascope`, the parser of command lines, and `main`."""

from __future__ import annotations

import argparse
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import Any, NamedTuple

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
    4: "replay --against: the script computes something different",
    5: "learn check: not attempted",
}
EXAMPLES = f"""\
  kerascope examples                            copy example.py and others to ./examples
  kerascope run example.py data.csv             run a Keras script, with kerascope as its keras
  kerascope trace example.py                    print what happens in a script
  kerascope trace example.py --level op | less  print every op of the first batch
  kerascope debug example.py                    step through the models of a script, as in pdb
  kerascope play example.py -o page.html        play the first training step in a browser
  kerascope profile example.py                  measure time and memory by layer and by op
  kerascope draw example.py -o model.svg        draw the model of a script
  kerascope draw example.py:encoder -o e.png    draw the model in the variable `encoder`
  kerascope show m.keras conv1 --values x.npy   draw the feature maps of a layer
  kerascope summary mypackage.models:build      print a table of the layers
  kerascope compare m.keras port.onnx           find the first call that differs
  kerascope learn read 0                        read the course, chapter by chapter
  kerascope learn                               do its exercises, with a checker

{options.MODEL_HELP}
{exit_codes(OTHER_CODES)}
"""


class Command(NamedTuple):
    """A command of the command line, such as `kerascope run`.

    Attributes
    ----------
    run : str
        Module and name of the function that runs the command. It takes the options and returns the
        exit code. It is imported only when the command runs.
    help : str
        One sentence, for the list of commands and the first line of the command's help.
    examples : str
        The rest of the help: examples, a blank line, and the text that follows the options.
    add_options : callable
        `add_options(parser)` adds the command's options to its parser.
    split : callable, optional
        `split(parser, words)` separates the options of kerascope from the words that the script, or
        the command itself, takes unparsed as `options.script_words`.
    usage : str, optional
        The usage line. By default argparse writes it.
    knows_dialects : bool
        Whether the command has the option `--dialect`, because it builds models.
    keras_is_ours : callable
        Takes the options and returns whether `import keras` imports kerascope.
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
        "Run a Keras script, with kerascope as its keras.",
        options.RUN_EXAMPLES,
        options.add_run_options,
        Parser.split_at_script,
    ),
    "trace": Command(
        "kerascope.cli.scripts.run_trace",
        "Run a script and print what happens in it.",
        options.TRACE_EXAMPLES,
        options.add_trace_options,
        Parser.split_around_script,
    ),
    "debug": Command(
        "kerascope.cli.debugging.run_debug",
        "Step through the models of a script.",
        options.DEBUG_EXAMPLES,
        options.add_debug_options,
        options.split_debug_words,
    ),
    "replay": Command(
        "kerascope.cli.debugging.run_replay",
        "Step through a tape that the debugger recorded.",
        options.REPLAY_EXAMPLES,
        options.add_replay_options,
        options.split_replay_words,
    ),
    "play": Command(
        "kerascope.cli.playing.run_play",
        "Play the first training step of a script, as a page or a picture.",
        options.PLAY_EXAMPLES,
        options.add_play_options,
        Parser.split_around_script,
    ),
    "profile": Command(
        "kerascope.cli.profiling.run_profile",
        "Measure where the models of a script spend time and memory.",
        options.PROFILE_EXAMPLES,
        options.add_profile_options,
        Parser.split_around_script,
    ),
    "draw": Command(
        "kerascope.cli.pictures.run_draw",
        "Draw a model.",
        f"{options.DRAW_EXAMPLES}\n{options.MODEL_HELP}\n{exit_codes()}",
        options.add_draw_options,
    ),
    "show": Command(
        "kerascope.cli.tensors.run_show",
        "Draw the weights or the outputs of a layer.",
        f"{options.SHOW_EXAMPLES}\n{options.MODEL_HELP}\n{exit_codes()}",
        options.add_show_options,
    ),
    "summary": Command(
        "kerascope.cli.pictures.run_summary",
        "Print a table of the layers of a model.",
        f"{options.SUMMARY_EXAMPLES}\n{options.MODEL_HELP}\n{exit_codes()}",
        options.add_summary_options,
    ),
    "compare": Command(
        "kerascope.cli.comparing.run_compare",
        "Find the first call at which two models differ.",
        options.COMPARE_EXAMPLES,
        options.add_compare_options,
        keras_is_ours=options.runs_script,
    ),
    "lessons": Command(
        "kerascope.lessons.commands.run_lessons",
        "Check the course, or write it as web pages and notebooks.",
        options.LESSONS_EXAMPLES,
        options.add_lessons_options,
        knows_dialects=False,
    ),
    "examples": Command(
        "kerascope.cli.learning.run_examples",
        "Copy the example scripts of the course.",
        options.EXAMPLES_EXAMPLES,
        options.add_examples_options,
        knows_dialects=False,
    ),
    "learn": Command(
        "kerascope.cli.learning.run_learn",
        "Read a chapter of the course, or do its exercises.",
        options.LEARN_EXAMPLES,
        options.add_learn_options,
        options.split_learn_words,
        usage=options.LEARN_USAGE,
        knows_dialects=False,
    ),
}


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Parse a command line and return its options.

    Raises
    ------
    UsageError
        The command line is not valid.
    SystemExit
        The command line requested the help or the version, which was printed.
    """
    if list(words[:1]) == ["help"]:
        words = [*words[1:2], "--help"]
    parser, commands = _parsers()
    first = next((word for word in words if not word.startswith("-")), None)
    if first is not None and words[0] == first and first not in commands:
        hint = did_you_mean(first, list(commands))
        raise UsageError(
            f"Unknown command {first!r}. {hint}`kerascope --help` shows examples. "
            f"Commands: {', '.join(commands)}."
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
    """Raise for an option before the command, unless the option needs no command, as `--help`.

    Raises
    ------
    UsageError
        The option is misspelt, or belongs to a command.
    """
    name = words[0].partition("=")[0] if words else ""
    if not name.startswith("-") or any(known.startswith(name) for known in parser.option_names):
        return
    having = [command for command, its in commands.items() if name in its.option_names]
    if having:
        command = next((word for word in words if word in having), having[0])
        parser.error(f"{name} belongs after the command: kerascope {command} {name} ...")
    parser.refuse(words[:1])


def _parsers() -> tuple[Parser, dict[str, Parser]]:
    common = Parser(add_help=False)
    common.add_argument(
        "--dialect", choices=DIALECTS,
        help="The version of Keras that sets names, defaults and formulas (default: "
        "$KERASCOPE_DIALECT, or 2.2).",
    )  # fmt: skip
    parser = Parser(
        prog="kerascope",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        **_help_around_options(
            "See inside Keras-style models: step through and draw them.", EXAMPLES
        ),
    )
    parser.add_argument("--version", action="version", version=f"kerascope {__version__}")
    sub = parser.add_subparsers(dest="command", required=True, metavar="command")
    found: dict[str, Parser] = {}
    for name, command in COMMANDS.items():
        found[name] = sub.add_parser(
            name,
            help=command.help,
            usage=command.usage,
            **_help_around_options(command.help, command.examples),
            parents=[common] if command.knows_dialects else (),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_options(found[name])
    return parser, found


def _help_around_options(sentence: str, text: str) -> dict[str, Any]:
    """Return the texts before and after the options of a help text, as arguments of the parser.

    The text before them has the command's sentence and its examples, which end at the first blank
    line.
    """
    examples, _, epilog = text.partition("\n\n")
    return {"description": f"{sentence}\n\nexamples:\n{examples}", "epilog": epilog}


# --- main -----------------------------------------------------------------------------------------


_ENGINES = "kerascope.backend.engines"
DONE, FAILED, USAGE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The words after `kerascope`. By default these are `sys.argv[1:]`, and `import keras` imports
        kerascope until the process ends, because threads of a script may run after its last line.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    _write_anything()
    try:
        dialect_of_environment()
    except KerascopeError as error:
        return _complain(error, USAGE)
    dialect, engine = config.dialect, config.engine
    try:
        options = parse(words)
        config.dialect = options.dialect or dialect
        if name := getattr(options, "engine_of_functions", None):
            config.engine = import_module(_ENGINES).checked_engine(name, "--engine")
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
    except (UsageError, ArgumentError) as error:  # an option that does not fit the model or file
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
            config.dialect, config.engine = dialect, engine


def _done(options: Namespace) -> int:
    """Import the module of the chosen command, run the command and return its exit code."""
    module, _, name = COMMANDS[options.command].run.rpartition(".")
    return int(getattr(import_module(module), name)(options))


def _complain(error: Exception, code: int) -> int:
    print(f"kerascope: {error}", file=sys.stderr)
    return code


def _write_anything() -> None:
    """Let the output streams write escapes for characters that their encoding does not have."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _leave_broken_pipe() -> int:
    """Return the exit code for a closed pipe, for example after `| head`; print nothing.

    Standard output is redirected to the null device, because Python flushes it at its exit.
    """
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return BROKEN_PIPE
    return BROKEN_PIPE
