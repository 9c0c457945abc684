"""`kerascope debug script.py`: run a script in the model debugger, as `python -m pdb` does."""

from __future__ import annotations

import linecache
import os
import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from functools import partial
from pathlib import Path
from typing import Any

from kerascope import backend
from kerascope.cli.debug_orders import Orders, orders_of
from kerascope.cli.full_screen import check_full_screen, on_full_screen
from kerascope.cli.scripts import ScriptRun, checked_script, exit_code_of, traceback_text
from kerascope.cli.usage import UsageError
from kerascope.debugger.entry import breakpoints_come_here
from kerascope.debugger.front import ModelDebugger
from kerascope.debugger.session import Quitting, Restarting, Session
from kerascope.debugger.unattended import Ended, Unattended, Wanted
from kerascope.trace.stepper import Order, Prompt, Reason, Stepper, Stop

RC_FILE = ".kscoperc"
DONE, FAILED, USAGE, FOUND, INTERRUPTED = 0, 1, 2, 3, 130


class Found(BaseException):
    """What `--fail-on` names was found; it goes through the script, past its `except`."""


class ReaderGone(BaseException):
    """Nobody reads our output any more (`| head`); it goes through the script too."""


def run_debug(options: Namespace) -> int:
    """Debug the script of `kerascope debug` and return the exit code.

    Raises
    ------
    UsageError
        There is no such script or file of commands, or the options make no sense.
    """
    commands = [*_lines_of(options.commands_file), *options.commands]
    orders = orders_of(options, options.script, commands, options.fail_on)
    checked_script(options.script)
    if options.tui:
        check_full_screen(orders)
    if orders.wanted is not None:
        return _run_unattended(options, orders.wanted)
    run = partial(_run_asking, options, orders, [*_lines_of_rc(), *commands])
    return on_full_screen(run) if options.tui else run(ModelDebugger())


def _session(prompt: Prompt, script: ScriptRun, options: Namespace) -> Session:
    session = Session(prompt, script=script.path, names=script.names)
    session.traceback_of = partial(traceback_text, path=script.path)
    if options.fail_on:
        session.stepper.catches.add(options.fail_on)
    return session


def _script(options: Namespace) -> ScriptRun:
    return ScriptRun(Path(options.script), options.script_words, for_good=options.for_good)


# --- somebody is asked ----------------------------------------------------------------------------


def _run_asking(
    options: Namespace, orders: Orders, commands: list[str], debugger: ModelDebugger
) -> int:
    debugger.cmdqueue = [*commands, "c"] if orders.conditions else commands
    before: Session | None = None
    while True:
        script = _script(options)
        session = _session(partial(_ask, debugger, orders), script, options)
        session.keep_from(before)
        debugger.session = before = session
        try:
            with breakpoints_come_here():
                session.run(script.execute)
        except Restarting:
            backend.clear_session()  # so that the layers get the same names again
            linecache.checkcache()  # the script may have been edited meanwhile
            orders = orders._replace(until=None)
        except Quitting:
            missed = orders.until is not None and orders.until.was_missed
            return USAGE if missed and not session.has_failed else _code_at_the_end(session)
        except Found:
            return FOUND
        except ReaderGone:
            raise BrokenPipeError from None
        else:
            return _code_at_the_end(session)


def _code_at_the_end(session: Session) -> int:
    """Return the exit code of a program; what it failed with is told, if it was not yet."""
    failure = session.failure_to_show()
    if failure is not None:
        print(failure.text, end="", file=sys.stderr)
    if session.has_exited and isinstance(session.error, SystemExit):
        return exit_code_of(session.error)
    return FAILED if session.has_failed else DONE


def _ask(debugger: ModelDebugger, orders: Orders, stop: Stop) -> Order | None:
    try:
        return _asked(debugger, orders, stop)
    except BrokenPipeError:
        raise ReaderGone from None


def _asked(debugger: ModelDebugger, orders: Orders, stop: Stop) -> Order | None:
    """Ask the debugger; with `--fail-on`, end at what it names, and ask no more at the end."""
    until = orders.until
    if until is not None and stop.reason is Reason.BEGIN and not len(debugger.session.tape):
        return until.go
    if orders.conditions and stop.reason is Reason.SET_TRACE:
        return Stepper.continue_
    if any(finding.condition in orders.conditions for finding in stop.findings):
        debugger.show(stop)
        raise Found
    if stop.reason is Reason.END:
        missed = "" if until is None else until.why_missed(debugger.session)
        if missed:
            debugger.say_text(f"*** {missed}")
        if orders.conditions:
            failure = debugger.session.failure_to_show()
            if failure is not None:
                debugger.say_traceback(failure.text.rstrip())
            return None
    order: Callable[..., Any] | None = debugger.ask(stop)
    return order


# --- nobody is asked ------------------------------------------------------------------------------


def _run_unattended(options: Namespace, wanted: Wanted) -> int:
    """Run the script to its end, or to that of what is wanted, and write that."""
    unattended = Unattended(wanted)
    script = _script(options)
    session = _session(unattended.ask, script, options)
    unattended.debugger.session = session
    elsewhere: AbstractContextManager[Any] = nullcontext()
    if unattended.is_for_programs:
        elsewhere = redirect_stdout(sys.stderr)
    code = DONE
    with elsewhere, breakpoints_come_here():
        try:
            session.run(script.execute)
        except Ended:
            pass
        else:
            code = _code_at_the_end(session)
    unattended.write()
    if unattended.code == INTERRUPTED:
        raise KeyboardInterrupt
    return unattended.code or code


# --- files of commands ----------------------------------------------------------------------------


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
    lines = (line.strip() for line in text.split("\n"))
    return [line for line in lines if line and not line.startswith("#")]
