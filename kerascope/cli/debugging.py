"""`kerascope debug script.py`: run a script in the model debugger, as `python -m pdb` does."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from kerascope import backend
from kerascope.cli.parser import UsageError
from kerascope.cli.scripts import ScriptRun, checked_script, exit_code_of, traceback_text
from kerascope.errors import ArgumentError
from kerascope.trace.conditions import parse_conditions
from kerascope.trace.stepper import Stepper
from kerascope.trace.stops import Reason, Stop

FRONT = "kerascope.debugger.front"
SESSION = "kerascope.debugger.session"
RC_FILE = ".kscoperc"
DONE, FAILED, FOUND = 0, 1, 3


class Found(BaseException):
    """What `--fail-on` names was found; it goes through the script, past its `except`."""


def run_debug(options: Namespace) -> int:
    """Debug the script of `kerascope debug` and return the exit code.

    Raises
    ------
    UsageError
        There is no such script or file of commands, or `--fail-on` names no condition.
    """
    path = checked_script(options.script)
    commands = [*_lines_of_rc(), *_lines_of(options.commands_file), *options.commands]
    conditions = _conditions(options.fail_on)
    debugger = import_module(FRONT).ModelDebugger()
    sessions = import_module(SESSION)
    debugger.cmdqueue = [*commands, "c"] if conditions else commands
    prompt = partial(_ask, debugger, conditions)
    before: Any = None
    while True:
        script = ScriptRun(path, options.script_words, for_good=options.for_good)
        session = sessions.Session(prompt, script=path, names=script.names)
        session.traceback_of = partial(traceback_text, path=path)
        session.keep_from(before)
        if options.fail_on:
            session.stepper.catches.add(options.fail_on)
        debugger.session = before = session
        try:
            session.run(script.execute)
        except sessions.Restarting:
            backend.clear_session()  # so that the layers get the same names again
        except sessions.Quitting:
            return FAILED if session.has_failed else DONE
        except Found:
            return FOUND
        else:
            failure = session.failure_to_show()
            if failure is not None:  # nobody was asked at the end: `detach`
                print(failure.text, end="", file=sys.stderr)
            if session.has_exited:
                return exit_code_of(session.error)
            return FAILED if session.has_failed else DONE


def _ask(debugger: Any, conditions: set[str], stop: Stop) -> Callable[[Stepper], Any] | None:
    """Ask the debugger; with `--fail-on`, end at what it names, and ask no more at the end."""
    if any(finding.condition in conditions for finding in stop.findings):
        debugger.show(stop)
        raise Found
    if conditions and stop.reason is Reason.END:
        failure = debugger.session.failure_to_show()
        if failure is not None:
            debugger.say(failure.text.rstrip())
        return None
    order: Callable[[Stepper], Any] | None = debugger.ask(stop)
    return order


def _conditions(text: str | None) -> set[str]:
    if text is None:
        return set()
    try:
        return {condition.name for condition in parse_conditions(text)}
    except ArgumentError as error:
        raise UsageError(f"--fail-on: {error}") from None


def _lines_of_rc() -> list[str]:
    """Return the lines of `.kscoperc` in the home directory.

    One in the working directory counts only if KSCOPE_RC=1: a folder that was downloaded shall not
    run commands.
    """
    folders = [Path.home()]
    if os.environ.get("KSCOPE_RC") == "1" and Path.cwd() != Path.home():
        folders.append(Path.cwd())
    files = [folder / RC_FILE for folder in folders]
    return [line for file in files if file.is_file() for line in _lines_of(str(file))]


def _lines_of(file: str | None) -> list[str]:
    if file is None:
        return []
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"-x {file}: expected a text file of commands; {error}.") from None
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]
