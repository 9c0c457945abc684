"""Breakpoints at lines of the user's code, including lines in callbacks.

A line that makes ops or layers stops at their events (`trace/selectors.py`). A line in a callback's
method, or in a function that the method calls, makes no op or layer: it is Python that runs while
`fit` notifies its callbacks. If a breakpoint is in the file of a callback, the callback's methods
therefore run under Python's own debugger, which stops at the line; its `c` continues, its `q` ends
the program. Other callbacks run as usual.
"""

from __future__ import annotations

import bdb
import functools
import linecache
import pdb
import sys
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType, TracebackType
from typing import Any

from kerascope.callbacks.base import HOOKS
from kerascope.debugger.places import path_of
from kerascope.debugger.session import Quitting, Session
from kerascope.debugger.shell import Shell
from kerascope.errors import ArgumentError
from kerascope.trace.breakpoints import Breakpoint
from kerascope.trace.selectors import is_file
from kerascope.user_frames import USER, owner_of_file

# --- lines with code and lines with ops -----------------------------------------------------------


NEAR = 2  # lines that a message names on either side


def check_line(file: str, line: int, command: str) -> None:
    """Raise if no code is on a line; the message names the nearest lines with code.

    Raises
    ------
    ArgumentError
        The line is blank, a comment or has no code of its own.
    """
    path = path_of(file)
    code = lines_with_code(path)
    text = linecache.getline(path, line)
    if line in code or (not code and text.partition("#")[0].strip()):
        return
    problem = "is blank or missing" if not text.partition("#")[0].strip() else "has no code"
    near = words_of_lines(nearest(code, line), "with code")
    raise ArgumentError(f"{command}: line {line} {problem}. {near}".rstrip())


def nearest(lines: Iterable[int], line: int) -> list[int]:
    """Return the lines nearest to `line`: up to two before it and two after it.

    Examples
    --------
    >>> nearest([1, 2, 3, 8, 9, 12], 5)
    [2, 3, 8, 9]
    """
    ordered = sorted(set(lines))
    below = [x for x in ordered if x < line][-NEAR:]
    return below + [x for x in ordered if x > line][:NEAR]


def words_of_lines(lines: list[int], what: str) -> str:
    """Return a sentence such as "The nearest lines with ops: 10, 12."; "" without lines."""
    return f"The nearest lines {what}: {', '.join(map(str, lines))}." if lines else ""


def lines_with_code(path: str) -> frozenset[int]:
    """Return the line numbers of a file that have code; empty if the file cannot be read."""
    try:
        code = compile("".join(linecache.getlines(path)), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(line for each in _codes_in(code) for line in _lines_of(each))


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object, then the code objects of the functions and classes inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes_in(constant)


def _lines_of(code: CodeType) -> set[int]:
    return {line for *_, line in code.co_lines() if line}


def lines_with_ops(session: Session, file: str) -> list[int]:
    """Return the numbers of the lines of a file that have made layers or ops up to now."""
    if session.recorder is None:
        places = [event.where for event in session.tape[:]]
    else:
        memory = session.recorder.memory
        places = [step.where for plan in memory.plans.values() for step in plan.steps]
        built = (session.tape.filter(kind=kind) for kind in ("layer.init", "op.create"))
        places += [event.where for events in built for event in events]
    found: set[int] = set()
    for where in places:
        lines = [(where.user_file, where.user_line), *(x[:2] for x in _made_by(where))]
        found.update(line for path, line in lines if line and is_file(path, file))
    return sorted(found)


def _made_by(where: Any) -> Any:
    return () if where.made is None else where.made.made_by


# --- lines in callbacks ---------------------------------------------------------------------------


class CallbackBreakpoints:
    """Runs the methods of callbacks under pdb while breakpoints are set in their files.

    Parameters
    ----------
    shell : Shell
        The shell whose input and output pdb uses.
    """

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._wrapped: set[tuple[int, str]] = set()

    def wrap_methods(self, callbacks: Any) -> None:
        """Wrap the methods of callbacks that are in a file with a breakpoint, when `fit` begins.

        Only methods that the user wrote are wrapped. The original methods are restored when the
        session ends.
        """
        files = {file for _, file, _ in self._breaks()}
        for callback in callbacks or () if files else ():
            for hook in HOOKS:
                function = getattr(getattr(callback, hook, None), "__func__", None)
                owner = next((c for c in type(callback).__mro__ if hook in vars(c)), None)
                if hook in vars(callback):
                    owner, function = callback, vars(callback)[hook]
                code = getattr(function, "__code__", None)
                if code is None or owner is None or owner_of_file(code.co_filename) != USER:
                    continue
                if any(is_file(code.co_filename, file) for file in files):
                    self._wrap(owner, hook, function)

    def _wrap(self, owner: Any, hook: str, function: Any) -> None:
        if hasattr(function, "_runs_under_pdb"):
            return

        @functools.wraps(function)
        def stopping(*args: Any, **kwargs: Any) -> Any:
            places = self._breaks()
            if not places or self._shell.session.is_detached:
                return function(*args, **kwargs)
            return _CallbackPdb(self._shell, places).called(function, *args, **kwargs)

        stopping._runs_under_pdb = True  # type: ignore[attr-defined]
        setattr(owner, hook, stopping)
        self._shell.session.watching.callback(setattr, owner, hook, function)

    def _breaks(self) -> list[tuple[Breakpoint, str, int]]:
        """Return (breakpoint, file, line number) for each enabled breakpoint at a line."""
        return [
            (one, one.selector.pattern, one.selector.number)
            for one in self._shell.session.stepper.breakpoints
            if one.enabled and one.selector.what == "line" and not one.selector.at_end
        ]


SHOW_PLACE = "_pdbcmd_print_frame_status"


class _CallbackPdb(pdb.Pdb):
    """Python's debugger, which runs one function with the breakpoints of the model debugger."""

    def __init__(self, shell: Shell, places: list[tuple[Breakpoint, str, int]]) -> None:
        super().__init__(stdin=shell.stdin, stdout=shell.stdout, nosigint=True, readrc=False)
        self.use_rawinput = shell.reads_by_input
        self.cmdqueue = shell.cmdqueue  # queued commands go to the next prompt
        self._shell = shell
        self._places = places

    def called(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """Call a function under pdb, and return its result.

        Raises
        ------
        Quitting
            The user has quit pdb.
        """
        before = sys.gettrace()
        self.reset()
        self.botframe = sys._getframe()
        self.set_continue()
        sys.settrace(self.trace_dispatch)
        try:
            return function(*args, **kwargs)
        except bdb.BdbQuit:
            raise Quitting from None
        finally:
            sys.settrace(before)

    # `bdb` calls these: whether the file of a frame, or its current line, has a breakpoint.

    def break_anywhere(self, frame: FrameType) -> bool:
        """Return whether the file of a frame has an enabled breakpoint."""
        return any(is_file(frame.f_code.co_filename, file) for _, file, _ in self._places)

    def break_here(self, frame: FrameType) -> bool:
        """Return whether the current line of a frame has a breakpoint that stops now.

        Count the hit, and delete a temporary breakpoint.
        """
        for one, file, line in self._places:
            if line != frame.f_lineno or not is_file(frame.f_code.co_filename, file):
                continue
            if not one.enabled or not self._holds(one, frame):
                continue
            one.hits += 1
            if one.ignore:
                one.ignore -= 1
                continue
            text = f"breakpoint {one.number} hit: {one.selector.text}, in Python's own debugger"
            self.message(text)
            if one.temporary:
                one.enabled = False
                self._shell.session.stepper.breakpoints.clear(one.number)
            return True
        return False

    def _holds(self, one: Breakpoint, frame: FrameType) -> bool:
        if one.condition is None:
            return True
        try:
            return bool(one.condition.value({**frame.f_globals, **frame.f_locals}))
        except Exception as error:
            self.message(f"*** condition: {type(error).__name__}: {error}")
            return True

    def set_continue(self) -> None:
        """Continue to the next breakpoint, or to the end of the method."""
        self.stopframe, self.stoplineno = self.botframe, -1
        self.returnframe, self.quitting = None, False

    def precmd(self, line: str) -> str:
        """Echo piped commands, as the model debugger does."""
        if not self._shell.reads_by_input:
            self.message(line)
        return super().precmd(line)

    def _cmdloop(self) -> None:
        """Show the current line before the first command runs, even if commands are queued.

        pdb of Python 3.13 and later would show the line only after the queued commands.
        """
        if self.cmdqueue and self.cmdqueue[-1] == SHOW_PLACE:
            self.cmdqueue.pop()
            getattr(self, SHOW_PLACE)(None)
        super()._cmdloop()  # type: ignore[misc]

    def interaction(self, frame: FrameType | None, traceback: TracebackType | None = None) -> None:
        """Prompt for commands; nothing that they run is recorded."""
        session = self._shell.session
        if self._shell.is_unattended:
            return  # the breakpoint's hit was already printed
        session.settle()
        with session.paused():
            super().interaction(frame, traceback)


def callback_method_at(file: str, line: int) -> str:
    """Return the hook that contains a line, as "Halve.on_epoch_end"; "" outside of hooks."""
    try:
        tree = compile("".join(linecache.getlines(path_of(file))), file, "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    for code in _codes_in(tree):
        if code.co_name in HOOKS and line in _lines_of(code) and line != code.co_firstlineno:
            return code.co_qualname
    return ""
