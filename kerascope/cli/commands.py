"""`main`: from the words of a command line to an exit code."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module

from kerascope.cli.parser import COMMANDS, parse
from kerascope.cli.usage import UsageError
from kerascope.compat import keras_imports, keras_imports_for_good
from kerascope.errors import KerascopeError
from kerascope.settings import config, dialect_of_environment

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
        if options.for_good:
            keras_imports_for_good()
        with nullcontext() if options.for_good else keras_imports():
            code = _done(options)
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
