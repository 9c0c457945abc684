"""`main`: from the words of a command line to an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from kerascope.cli.parser import parse
from kerascope.cli.pictures import run_draw, run_summary
from kerascope.cli.scripts import run_script, run_trace
from kerascope.cli.usage import UsageError
from kerascope.compat import keras_imports, keras_imports_for_good
from kerascope.errors import KerascopeError
from kerascope.settings import config, dialect_of_environment

DONE, FAILED, USAGE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141


def _when_called(module: str, name: str) -> Callable[[Any], int]:
    """Return a command whose module is imported when it is called."""
    return lambda options: int(getattr(import_module(module), name)(options))


COMMANDS: dict[str, Callable[[Any], int]] = {
    "run": run_script,
    "trace": run_trace,
    "debug": _when_called("kerascope.cli.debugging", "run_debug"),
    "replay": _when_called("kerascope.cli.debugging", "run_replay"),
    "profile": _when_called("kerascope.cli.profiling", "run_profile"),
    "learn": _when_called("kerascope.cli.learning", "run_learn"),
    "examples": _when_called("kerascope.cli.learning", "run_examples"),
    "draw": run_draw,
    "summary": run_summary,
    "lessons": _when_called("kerascope.lessons.commands", "run_lessons"),
}


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
        if options.for_good:
            keras_imports_for_good()
            code = COMMANDS[options.command](options)
        else:
            with keras_imports():
                code = COMMANDS[options.command](options)
        sys.stdout.flush()
        return code
    except SystemExit as stop:  # argparse: --help, --version
        return stop.code if isinstance(stop.code, int) else DONE
    except UsageError as error:
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
