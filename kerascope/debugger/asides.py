"""Commands that lead aside: alias, the stdlib debugger, a Python prompt."""

from __future__ import annotations

import code
import pdb
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any

from kerascope.debugger.evaluating import EXITS
from kerascope.debugger.failing import frames_of_failure
from kerascope.debugger.shell import Shell
from kerascope.errors import ArgumentError


class AsideCommands(Shell):
    """Commands that lead aside."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.aliases: dict[str, str] = {}

    def do_interact(self, words: str) -> None:
        """Open a Python prompt over the names at the stop; Ctrl-D or exit() comes back.

        Usage: interact
        Example: interact
        """
        console = code.InteractiveConsole({**EXITS, **self.names()})
        if not self.is_terminal:
            console.raw_input = self._line_of_python  # type: ignore[method-assign]
        out = self.stdout
        with suppress(SystemExit), redirect_stdout(out), redirect_stderr(out), _python_prompts():
            console.interact(banner="*interactive*", exitmsg="")

    def _line_of_python(self, prompt: str = "") -> str:
        before, self.prompt = self.prompt, prompt
        try:
            line = self.read()
        finally:
            self.prompt = before
        if line == "EOF":
            raise EOFError
        return line

    def do_pdb(self, words: str) -> None:
        """Hand the engine's paused frame to Python's own debugger; its `q` or `c` comes back.

        Usage: pdb
        After a failure it begins in the frame that failed; `u` goes to those that called it.
        Example: pdb
        """
        session = self.session
        failed = frames_of_failure(session)
        stage = session.recorder.stage if session.recorder is not None else None
        frame = None if stage is None else stage.frame
        is_present = not session.is_over and session.stepper.now == len(session.tape) - 1
        if failed is None and (frame is None or not is_present):
            raise ArgumentError("pdb: nothing runs here; go to the present: `goto` the last event.")
        debugger = pdb.Pdb(stdin=self.stdin, stdout=self.stdout, nosigint=True, readrc=False)
        debugger.use_rawinput = self.reads_by_input
        debugger.reset()
        # It stops nowhere else: no trace function was set.
        debugger.interaction(None if failed else frame, failed)

    def do_alias(self, words: str) -> None:
        """Give a command line a short name; %1, %2, ... and %* stand for the words behind it.

        Usage: alias [NAME [COMMAND]]
        Example: alias fin p np.isfinite(%1).all()
        """
        name, _, line = words.partition(" ")
        if not name:
            for known in sorted(self.aliases):
                self.say(f"{known} = {self.aliases[known]}")
        elif line.strip():
            self.aliases[name] = line.strip()
        elif name in self.aliases:
            self.say(f"{name} = {self.aliases[name]}")
        else:
            raise ArgumentError(f"alias: {name!r} is none; for example `alias {name} p out`.")

    def do_unalias(self, words: str) -> None:
        """Forget an alias.

        Usage: unalias NAME
        Example: unalias fin
        """
        if self.aliases.pop(words.strip(), None) is None:
            listed = ", ".join(sorted(self.aliases)) or "none"
            raise ArgumentError(f"unalias: {words.strip()!r} is no alias; there are: {listed}.")

    def precmd(self, line: str) -> str:
        """Return the line for which an alias stands."""
        seen: set[str] = set()
        while (words := line.split()) and words[0] in self.aliases and words[0] not in seen:
            seen.add(words[0])
            line = _filled(self.aliases[words[0]], words[1:])
        return line


def _filled(line: str, words: list[str]) -> str:
    """Return a line in which words stand for %1, %2, ... and all of them for %*.

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
            raise ArgumentError(f"alias: {line!r} asks for {number} words; got {len(words)}.")
        return words[number - 1]

    return re.sub(r"%([1-9*])", word, line)


@contextmanager
def _python_prompts() -> Iterator[None]:
    """Let Python's prompts be its own ones: IPython changes them for all."""
    before = {name: getattr(sys, name) for name in ("ps1", "ps2") if hasattr(sys, name)}
    sys.ps1, sys.ps2 = ">>> ", "... "
    try:
        yield
    finally:
        for name in ("ps1", "ps2"):
            delattr(sys, name)
        vars(sys).update(before)
