"""Sessions of the debugger in tests: a program, piped commands, and all that is written."""

import contextlib
import io
from pathlib import Path

from kerascope import backend as K
from kerascope.cli.commands import main
from kerascope.debugger.front import ModelDebugger
from kerascope.debugger.session import Quitting, Session

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def transcript(program, *commands, names=None):
    """Return the text of a session over a callable, the session, and the debugger."""
    K.clear_session()
    out = io.StringIO()
    debugger = ModelDebugger(io.StringIO("".join(f"{line}\n" for line in commands)), out)
    session = debugger.session = Session(debugger.ask, names=names)
    with contextlib.suppress(Quitting):
        session.run(program)
    return out.getvalue(), session, debugger


def debug_script(monkeypatch, capsys, path, *commands, options=()):
    """Return exit code and standard output of `kerascope debug`, commands piped into it."""
    K.clear_session()
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in commands)))
    code = main(["debug", *options, str(path)])
    return code, capsys.readouterr().out


def answer(text, command):
    """Return the lines that a session wrote after a command, up to the next prompt."""
    after = text.split(f"(Kdb) {command}\n", 1)[1]
    return after.split("(Kdb) ", 1)[0].splitlines()
