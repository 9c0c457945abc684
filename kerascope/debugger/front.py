"""The debugger's front: all commands together, help, and what Python itself answers.

`onecmd(line)` is the one way in. A line that is no command is Python, as in pdb; `!` says so where
a name is that of a command.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from keyword import iskeyword
from typing import Any

from kerascope.debugger.files import FileCommands
from kerascope.debugger.looking import SAMPLES, AsideCommands, LookingCommands, SourceCommands
from kerascope.debugger.moving import MovingCommands
from kerascope.debugger.rendering import lines_of_stop
from kerascope.debugger.session import Quitting
from kerascope.debugger.tables import STEPS, TableCommands
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.expressions import told
from kerascope.trace.stepper import Reason, Stepper, Stop

GROUPS = {
    "forward": "step stepi next until return continue",
    "backward": "rs rn ru rr rc",
    "in time": "goto when origin timeline diff",
    "stop at": "break tbreak condition ignore enable disable clear commands catch watch",
    "values": "p pp pv row whatis display undisplay args retval statement interact",
    "what if": "set unset rerun other",
    "source": "where up down list longlist source",
    "all of it": "info plot check draw record replay export",
    "session": "alias unalias pdb restart detach quit help",
}
FIRST = """\
s, n, r         a step further; over it; to the end of what is around
c               run on, until something stops it:
catch nan          where the first NaN is made
b dense_1          where this layer is called; b loss > 10; b batch 17
p out           print what came out here; p dense_1/kernel; any Python
info batches    the run as a table; info weights, info grads, info nodes
goto batch 17   go there, also back; rs and rc are s and c backward
set out = 0     what if: go on with another value
l, w            the source here; where this is in the run
q               end
help all        every command; help b explains one; an empty line: once more"""
_WITHOUT_WORDS = """
c cont continue r return rr rc w where bt a args rv retval ll longlist when pdb interact restart
detach
"""
WITHOUT_WORDS = frozenset(_WITHOUT_WORDS.split())


class ModelDebugger(
    MovingCommands, LookingCommands, SourceCommands, TableCommands, FileCommands, AsideCommands
):
    """The commands of the model debugger.

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

    def show(self, stop: Stop) -> None:
        """Stand at a stop and print it."""
        super().show(stop)
        commands = [] if stop.breakpoint is None else list(stop.breakpoint.commands)
        if commands[:1] == ["silent"]:
            commands = commands[1:]
        else:
            self._say_stop(stop)
            self.say_where_symbols_are(stop)
        self.say_never_came(stop)
        if stop.reason is Reason.END and not self._is_running():
            self.say_never_matched()
        self.show_displays()
        self.cmdqueue[:0] = commands

    def _say_stop(self, stop: Stop) -> None:
        """Print a stop; whatever goes wrong with that, the prompt and the program live on."""
        try:
            lines = lines_of_stop(self.session, stop, self.page)
        except Exception as error:
            lines = [f"*** t={stop.t} cannot be shown: {told(error)}"]
        for line in lines:
            self.say(line)
        if self.is_terminal and stop.event is None and not len(self.session.tape):
            self.say("   s steps, c runs on, help says what else there is")
        if stop.event is not None and stop.event.kind == "op" and "scan" in stop.event.name:
            try:
                import_module(STEPS).say_step_of_stop(self, stop)
            except Exception as error:
                self.say_error(error)
        if stop.findings:
            try:
                import_module(SAMPLES).say_rows_of_stop(self, stop)
            except Exception as error:
                self.say_error(error)

    def ask(self, stop: Stop) -> Callable[[Stepper], Stop | None] | None:
        """Show a stop and read commands until one moves; a failed program is stood at first."""
        failure = self.session.failure_to_show() if stop.reason is Reason.END else None
        if failure is not None:
            self.say_traceback(failure.text.rstrip())
            self.say("Uncaught exception. Post mortem: rs, w and p look at what was recorded,")
            self.say("pdb at the frame that failed.")
            if failure.t is not None:
                t = failure.t
                return lambda stepper: stepper.goto(t)
        return super().ask(stop)

    # --- lines ------------------------------------------------------------------------------------

    def parseline(self, line: str) -> tuple[str | None, str | None, str]:
        """Return command, words and line; `!x` is Python, and so is a name that is given a value.

        `s = 3` and `n.shape` are Python though `s` and `n` are commands; pdb does it so for `=`.
        """
        line = line.strip()
        if line.startswith("!"):
            return "statement", line[1:].strip(), line
        command, words, line = super().parseline(line)
        if command and words and not words.startswith("=="):
            is_attached = line[len(command)] == words[0]  # `p [1, 2]` prints a list
            if words[0] == "=" or (words[0] in ".[" and is_attached):
                return None, None, line
        return command, words, line

    def default(self, line: str) -> None:
        """Run a line that is no command as Python."""
        if line == "EOF":
            self.do_quit("")
        word = line.split()[0] if line.split() else line
        is_unknown = word.isidentifier() and not iskeyword(word) and word not in self.names()
        is_unknown = is_unknown and "=" not in line
        if is_unknown and (line == word or not _is_python(line)):
            near = did_you_mean(word, [*self._commands(), *self.names()])
            what = "a name" if line == word else "Python"
            raise ArgumentError(f"neither a command nor {what}: {line!r}. {near}Try help.")
        self.do_statement(line)

    def onecmd(self, line: str) -> bool:
        """Run one line; see `Shell.onecmd`."""
        if line.strip() == "EOF":
            self.do_quit("")
        return super().onecmd(line)

    def _run_command(self, line: str) -> bool:
        command, words, _ = self.parseline(line)
        if command in WITHOUT_WORDS and words:
            self.say_error(
                ArgumentError(f"{command}: got {words!r}; nothing is expected behind {command}.")
            )
            return False
        return super()._run_command(line)

    # --- the session ------------------------------------------------------------------------------

    def do_quit(self, words: str) -> None:
        """End the program and the debugger.

        Usage: q[uit]
        Example: q
        """
        raise Quitting

    def do_detach(self, words: str) -> bool:
        """Let the program run on alone, to its end.

        Usage: detach
        Example: detach
        """
        if self.session.is_over:
            raise ArgumentError("detach: no program runs here. `q` ends.")
        return self.move(None)

    # --- help -------------------------------------------------------------------------------------

    def do_help(self, arg: str) -> None:
        """Tell what the commands are, or what one does, with an example.

        Usage: h[elp] [COMMAND | all]
        Example: help step
        """
        if not arg:
            self.say(FIRST)
            return
        if arg != "all":
            self.say_prose(self._help_of("statement" if arg == "!" else arg))
            return
        known = self._commands()
        for title, words in GROUPS.items():
            named = [word for word in words.split() if word in known]
            if named:
                listed = " ".join("!" if name == "statement" else name for name in named)
                self.say_text(f"{title:<10} {listed}")
        self.say("help COMMAND says more. An empty line does the last command again.")

    def _help_of(self, name: str) -> str:
        method: Any = getattr(self, f"do_{name}", None)
        if method is None:
            near = did_you_mean(name, self._commands())
            raise ArgumentError(f"help: unknown command {name!r}. {near}`help` lists them.")
        return inspect.getdoc(method) or f"{name}: no help"

    def _commands(self) -> list[str]:
        return [name[3:] for name in self.get_names() if name.startswith("do_")]

    do_q = do_exit = do_quit
    do_h = do_help


def _is_python(line: str) -> bool:
    try:
        compile(line, "<stdin>", "exec")
    except SyntaxError:
        return False
    return True
