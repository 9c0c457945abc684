"""The debugger's user interface: all commands, the printed stops, and lines of Python.

Every line goes through `onecmd(line)`. A line that is not a command is run as Python, as in pdb; a
leading `!` does so even if the first word is a command.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from keyword import iskeyword
from typing import IO

from kerascope.debugger import changing, files, looking, moving, session_commands, stopping, tables
from kerascope.debugger.commands import Registry
from kerascope.debugger.evaluating import NamesAtStop
from kerascope.debugger.rendering import lines_of_stop
from kerascope.debugger.shell import Shell
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.expressions import error_text
from kerascope.trace.stepper import Reason, Stepper, Stop

COMMANDS = Registry(moving, stopping, looking, changing, tables, files, session_commands)


class ModelDebugger(Shell):
    """The model debugger: a shell with all commands, which prints each stop.

    Parameters
    ----------
    stdin, stdout : file, optional

    Examples
    --------
    >>> from kerascope.debugger.session import Session
    >>> from kerascope.trace.tape_store import Tape
    >>> debugger = ModelDebugger()
    >>> debugger.session = Session(debugger.ask, tape=Tape())
    >>> debugger.onecmd("p 1 + 1")
    2
    False
    """

    def __init__(self, stdin: IO[str] | None = None, stdout: IO[str] | None = None) -> None:
        super().__init__(COMMANDS, stdin, stdout)

    # --- stops ------------------------------------------------------------------------------------

    def show(self, stop: Stop) -> None:
        """Print a stop, and select its innermost span."""
        self.state(looking.SelectedSpan).level = 0
        self.state(tables.CaughtConditions).note(stop)
        super().show(stop)
        tables.draw_again(self)
        commands = [] if stop.breakpoint is None else list(stop.breakpoint.commands)
        if commands[:1] == ["silent"]:
            commands = commands[1:]
        else:
            self._say_stop(stop)
            stopping.say_where_symbols_are(self, stop)
        moving.say_never_came(self, stop)
        if stop.reason is Reason.END and not changing.is_running(self):
            stopping.say_never_matched(self)
        looking.show_displays(self)
        self.cmdqueue[:0] = commands

    def _say_stop(self, stop: Stop) -> None:
        """Print a stop; if printing it raises, print the error, so that the prompt still opens."""
        try:
            lines = lines_of_stop(self.session, stop, self.page)
        except Exception as error:
            lines = [f"*** t={stop.t} cannot be shown: {error_text(error)}"]
        for line in lines:
            self.say(line)
        if self.is_terminal and stop.event is None and not len(self.session.tape):
            self.say("   s steps, c continues, help lists the commands")
        if stop.event is not None and stop.event.kind == "op" and "scan" in stop.event.name:
            try:
                import_module(tables.STEPS).say_step_of_stop(self, stop)
            except Exception as error:
                self.say_error(error)
        if stop.findings:
            try:
                import_module(looking.SAMPLES).say_rows_of_stop(self, stop)
            except Exception as error:
                self.say_error(error)

    def ask(self, stop: Stop) -> Callable[[Stepper], Stop | None] | None:
        """Show a stop, read commands until one chooses a movement, and return this movement.

        A movement is a function that moves the stepper and returns its next stop. To detach the
        program, return None.

        If the program has failed, show the traceback and go to the event that failed.
        """
        failure = self.session.failure_to_show() if stop.reason is Reason.END else None
        if failure is not None:
            self.say_traceback(failure.text.rstrip())
            self.say("Uncaught exception. Post mortem: use rs, w and p to look at the recorded")
            self.say("run, pdb to look at the frame that failed.")
            if failure.t is not None:
                t = failure.t
                return lambda stepper: stepper.goto(t)
        return super().ask(stop)

    # --- lines ------------------------------------------------------------------------------------

    def names(self) -> NamesAtStop:
        """Return the names that an expression may use at the current stop, including `other`."""
        return changing.with_other(self, super().names())

    def unaliased(self, line: str) -> str:
        """Return the line with its alias expanded; without an alias, return it unchanged."""
        return self.state(session_commands.Aliases).line_for(line)

    def run_python(self, line: str) -> None:
        """Run a line that is not a command as Python."""
        word = line.split()[0] if line.split() else line
        is_unknown = word.isidentifier() and not iskeyword(word) and word not in self.names()
        is_unknown = is_unknown and "=" not in line
        if is_unknown and (line == word or not _is_python(line)):
            near = did_you_mean(word, [*self.commands.names, *self.names()])
            kind = "a name" if line == word else "Python"
            raise ArgumentError(f"{line!r} is neither a command nor {kind}. {near}Try `help`.")
        looking.statement(self, line)


def _is_python(line: str) -> bool:
    try:
        compile(line, "<stdin>", "exec")
    except SyntaxError:
        return False
    return True
