"""`kerascope replay t.jsonl`: the model debugger on a tape that its `record` wrote."""

from __future__ import annotations

from argparse import Namespace
from contextlib import suppress
from functools import partial

from kerascope.cli.against import recorded, run_against
from kerascope.cli.debug_orders import Orders, orders_of
from kerascope.cli.full_screen import check_full_screen, on_full_screen
from kerascope.cli.usage import UsageError
from kerascope.debugger.front import ModelDebugger
from kerascope.debugger.session import Quitting, Session
from kerascope.debugger.unattended import INTERRUPTED, Ended, Unattended, Wanted
from kerascope.trace.stepper import Reason, Stop, ask
from kerascope.trace.tape_store import Tape

DONE = 0


def run_replay(options: Namespace) -> int:
    """Open the debugger at the first event of a tape and return the exit code.

    Raises
    ------
    UsageError
        The options make no sense, or there is no such file, or it is no tape or a damaged one.
    """
    orders = orders_of(options, options.file, options.commands, None)
    if options.tui:
        check_full_screen(orders, options.against)
    if options.against is not None:
        _refuse_others(options)
        return run_against(options)
    if options.script_words:
        words = " ".join(options.script_words)
        raise UsageError(f"unrecognized arguments: {words}. Only a script of --against gets them.")
    tape = recorded(options.file)
    if orders.wanted is not None:
        return _run_unattended(tape, orders.wanted)
    run = partial(_run_asking, tape, orders, options.commands)
    return on_full_screen(run) if options.tui else run(ModelDebugger())


def _refuse_others(options: Namespace) -> None:
    given = {"-c": options.commands, "--until": options.until, "--format": options.format}
    names = [name for name, value in given.items() if value]
    names += ["--step-all"] if options.step_all is not None else []
    if names:
        raise UsageError(
            f"--against and {', '.join(names)} do not go together: it compares, and nobody is "
            f"asked. Without --against the tape itself is looked at."
        )


def _run_asking(tape: Tape, orders: Orders, commands: list[str], debugger: ModelDebugger) -> int:
    debugger.cmdqueue = list(commands)
    session = debugger.session = Session(debugger.ask, tape=tape)
    stepper = session.stepper
    stop = stepper.goto(0) if orders.until is None else orders.until.go(stepper)
    missed = "" if orders.until is None else orders.until.why_missed(session)
    if missed:
        debugger.say_text(f"*** {missed}")
    try:
        ask(stepper, stop, debugger.ask)
    except Quitting:
        return DONE
    return DONE


def _run_unattended(tape: Tape, wanted: Wanted) -> int:
    unattended = Unattended(wanted)
    session = Session(unattended.ask, tape=tape)
    unattended.debugger.session = session
    with suppress(Ended):
        ask(session.stepper, Stop(-1, Reason.BEGIN, None), unattended.ask)
    unattended.write()
    if unattended.code == INTERRUPTED:
        raise KeyboardInterrupt
    return unattended.code
