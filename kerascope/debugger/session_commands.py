"""Commands of the session itself: aliases, Python's prompt and debugger, restart, quit, help."""

from __future__ import annotations

import code
import pdb
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import partial

from kerascope.debugger.commands import END_OF_INPUT, command
from kerascope.debugger.evaluating import EXITS
from kerascope.debugger.places import frames_of_failure
from kerascope.debugger.session import Quitting, Restarting
from kerascope.debugger.shell import Shell
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean

# --- Python's own prompt and debugger -------------------------------------------------------------


@command("interact", group="values", takes_words=False)
def interact(debugger: Shell, words: str) -> None:
    """Open a Python prompt with the names at the stop; Ctrl-D or exit() returns to the debugger.

    Usage: interact
    Example: interact
    """
    console = code.InteractiveConsole({**EXITS, **debugger.names()})
    if not debugger.is_terminal:
        console.raw_input = partial(_line_of_python, debugger)  # type: ignore[method-assign]
    out = debugger.stdout
    with suppress(SystemExit), redirect_stdout(out), redirect_stderr(out), _python_prompts():
        console.interact(banner="*interactive*", exitmsg="")


def _line_of_python(debugger: Shell, prompt: str = "") -> str:
    line = debugger.read_with(prompt)
    if line == END_OF_INPUT:
        raise EOFError
    return line


@contextmanager
def _python_prompts() -> Iterator[None]:
    """Set the prompts to `>>>` and `...` inside a `with` block, because IPython changes them."""
    before = {name: getattr(sys, name) for name in ("ps1", "ps2") if hasattr(sys, name)}
    sys.ps1, sys.ps2 = ">>> ", "... "
    try:
        yield
    finally:
        for name in ("ps1", "ps2"):
            delattr(sys, name)
        vars(sys).update(before)


# --- alias ----------------------------------------------------------------------------------------


class Aliases(dict[str, str]):
    """The user's aliases: short names as keys, the command lines that replace them as values."""

    def line_for(self, line: str) -> str:
        """Return the line with its alias expanded; a line without an alias is returned unchanged.

        Examples
        --------
        >>> Aliases(q2="p %1; p %2", two="q2 1 2").line_for("two")
        'p 1; p 2'
        """
        seen: set[str] = set()
        while (words := line.split()) and words[0] in self and words[0] not in seen:
            seen.add(words[0])
            line = _filled(self[words[0]], words[1:])
        return line


def _filled(line: str, words: list[str]) -> str:
    """Return an alias's line with the typed words in place of %1, %2, ..., and all of them for %*.

    Examples
    --------
    >>> _filled("p %1 + %2, [%*]", ["a", "b"])
    'p a + b, [a b]'
    """

    def word(found: re.Match[str]) -> str:
        if found[1] == "*":
            return " ".join(words)
        number = int(found[1])
        if number > len(words):
            raise ArgumentError(f"alias: {line!r} needs {number} words, got {len(words)}.")
        return words[number - 1]

    return re.sub(r"%([1-9*])", word, line)


@command("alias", group="session")
def alias(debugger: Shell, words: str) -> None:
    """Give a command line a short name; %1, %2, ... and %* mean the words typed after it.

    Usage: alias [NAME [COMMAND]]
    Example: alias fin p np.isfinite(%1).all()
    """
    aliases = debugger.state(Aliases)
    name, _, line = words.partition(" ")
    if not name:
        for known in sorted(aliases):
            debugger.say(f"{known} = {aliases[known]}")
    elif line.strip():
        aliases[name] = line.strip()
    elif name in aliases:
        debugger.say(f"{name} = {aliases[name]}")
    else:
        raise ArgumentError(f"alias: {name!r} is not an alias. To make it: alias {name} p out.")


@command("unalias", group="session")
def unalias(debugger: Shell, words: str) -> None:
    """Delete an alias.

    Usage: unalias NAME
    Example: unalias fin
    """
    aliases = debugger.state(Aliases)
    if aliases.pop(words.strip(), None) is None:
        listed = ", ".join(sorted(aliases)) or "none"
        raise ArgumentError(f"unalias: {words.strip()!r} is not an alias. Aliases: {listed}.")


@command("pdb", group="session", takes_words=False)
def pdb_(debugger: Shell, words: str) -> None:
    """Open Python's debugger in the engine's paused frame; its `q` or `c` returns to this prompt.

    Usage: pdb
    After a failure it starts in the frame that failed; `u` goes to the callers.
    Example: pdb
    """
    session = debugger.session
    failed = frames_of_failure(session)
    stage = session.recorder.stage if session.recorder is not None else None
    frame = None if stage is None else stage.frame
    is_present = not session.is_over and session.stepper.now == len(session.tape) - 1
    if failed is None and (frame is None or not is_present):
        raise ArgumentError("pdb: nothing runs here. Go to the present: `goto` the last event.")
    python = pdb.Pdb(stdin=debugger.stdin, stdout=debugger.stdout, nosigint=True, readrc=False)
    python.use_rawinput = debugger.reads_by_input
    python.reset()
    # Python's debugger stops nowhere else, because no trace function was set.
    python.interaction(None if failed else frame, failed)


# --- the session ----------------------------------------------------------------------------------


@command("restart", "run", group="session", takes_words=False, moves=True)
def restart(debugger: Shell, words: str) -> None:
    """Run the script again from its beginning; breakpoints are kept.

    Usage: restart
    Example: restart
    """
    if debugger.session.script is None or debugger.session.recorder is None:
        raise ArgumentError("restart: this session has no script. `rc` goes back to the start.")
    raise Restarting


@command("detach", group="session", takes_words=False, moves=True)
def detach(debugger: Shell, words: str) -> bool:
    """Let the program run to its end without stopping.

    Usage: detach
    Example: detach
    """
    if debugger.session.is_over:
        raise ArgumentError("detach: no program is running. `q` ends the debugger.")
    return debugger.move(None)


@command("quit", "q", "exit", group="session", moves=True)
def quit_(debugger: Shell, words: str) -> None:
    """End the program and the debugger.

    Usage: q[uit]
    Example: q
    """
    raise Quitting


# --- help -----------------------------------------------------------------------------------------


FIRST = """\
s, n, r         a step; a step over a call; to the end of the enclosing step
c               run until something stops it:
catch nan          where the first NaN is made
b dense_1          where this layer is called; b loss > 10; b batch 17
p out           print the output here; p dense_1/kernel; any Python
info batches    the run as a table; info weights, info grads, info nodes
goto batch 17   go there, also back; rs and rc are s and c backward
set out = 0     what if: continue with another value
l, w            the source here; where you are in the run
q               quit
help all        every command; help b explains one; an empty line repeats it"""


def _commands_and_all(debugger: Shell, text: str, line: str, begin: int, end: int) -> list[str]:
    return [name for name in (*debugger.commands.names, "all") if name.startswith(text)]


@command("help", "h", group="session", completes=_commands_and_all)
def help_(debugger: Shell, words: str) -> None:
    """List the commands, or explain a command with an example.

    Usage: h[elp] [COMMAND | all]
    Example: help step
    """
    known = debugger.commands
    if not words:
        debugger.say(FIRST)
        return
    if words == "all":
        for title, names in known.listed().items():
            debugger.say_text(f"{title:<10} {' '.join(names)}")
        debugger.say("`help COMMAND` explains one. An empty line repeats the last command.")
        return
    found = known.find(words)
    if found is None:
        near = did_you_mean(words, known.names)
        raise ArgumentError(f"help: unknown command {words!r}. {near}`help` lists them.")
    debugger.say_prose(found.help)
