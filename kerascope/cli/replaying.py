"""`kerascope replay t.jsonl`: the model debugger on a tape that its `record` wrote."""

from __future__ import annotations

from argparse import Namespace
from importlib import import_module

from kerascope.trace.drivers import ask

FRONT, FILES = "kerascope.debugger.front", "kerascope.debugger.files"
SESSION = "kerascope.debugger.session"
DONE = 0


def run_replay(options: Namespace) -> int:
    """Open the debugger at the first event of a tape and return the exit code.

    Raises
    ------
    ArgumentError
        There is no such file.
    ConfigError
        The file is damaged; the error tells the line.
    """
    tape = import_module(FILES).tape_of_file(options.file)
    debugger = import_module(FRONT).ModelDebugger()
    sessions = import_module(SESSION)
    debugger.cmdqueue = list(options.commands)
    session = debugger.session = sessions.Session(debugger.ask, tape=tape)
    try:
        ask(session.stepper, session.stepper.goto(0), debugger.ask)
    except sessions.Quitting:
        return DONE
    return DONE
