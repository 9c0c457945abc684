"""The debugger in a notebook: `%load_ext kerascope` defines `%kdb` and `%%kdb`.

The first part parses the options, which are those of `kerascope debug`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from kerascope.debugger import places
from kerascope.debugger.entry import leave, replay
from kerascope.debugger.front import ModelDebugger
from kerascope.debugger.places import shown_file, users_line
from kerascope.debugger.session import Quitting, Restarting, Session
from kerascope.debugger.shell import commands_in
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.conditions import parse_conditions
from kerascope.trace.events import Where
from kerascope.trace.stepper import Reason, Stepper, Stop
from kerascope.trace.tape import Tape, trace

# --- the options of `%kdb` and `%%kdb` ------------------------------------------------------------


LONG = {"-c": "--command", "-x": "--commands-from", "-t": "--tape"}
OPTIONS = ("--command", "--commands-from", "--tape", "--fail-on")
_WORD = re.compile(r"""(--?[\w-]*)(?:=|\s*)("[^"]*"|'[^']*'|[^\s"']\S*)?\s*""")


@dataclass
class Options:
    """The parsed options of `%kdb` or `%%kdb`.

    Attributes
    ----------
    commands : list of str
        Commands to run first.
    fail_on : str or None
        Conditions that make the cell fail.
    tape : str or None
        The name of the variable in the notebook that the tape is assigned to.
    statement : str
        The text after the options.
    """

    commands: list[str] = field(default_factory=list)
    fail_on: str | None = None
    tape: str | None = None
    statement: str = ""

    @property
    def conditions(self) -> set[str]:
        """The names of the conditions in `fail_on`; empty without `--fail-on`."""
        return {c.name for c in parse_conditions(self.fail_on)} if self.fail_on else set()


def parse_options(line: str) -> Options:
    """Parse the line of `%kdb` or `%%kdb`.

    Raises
    ------
    ArgumentError
        An option is unknown, lacks its value, or has a wrong value.

    Examples
    --------
    >>> found = parse_options("-c 'b dense_2' -c c model.fit(x, y)")
    >>> found.commands, found.statement
    (['b dense_2', 'c'], 'model.fit(x, y)')
    """
    options = Options()
    rest = line.strip()
    while rest.startswith("-"):
        found = _WORD.match(rest)
        name, value = (found[1], found[2]) if found else (rest.split()[0], None)
        name = LONG.get(name, name)
        if name not in OPTIONS:
            near = did_you_mean(name, OPTIONS)
            raise ArgumentError(
                f"kdb: unknown option {name!r}. {near}Use -c COMMAND, -x FILE, --fail-on "
                "CONDITIONS or --tape NAME."
            )
        if found is None or not value:
            raise ArgumentError(
                f"kdb: {name} needs a value, in quotes if it has spaces. For example: "
                "-c 'b dense_1'."
            )
        _take(options, name, value[1:-1] if value[0] in "\"'" else value)
        rest = rest[found.end() :]
    options.statement = rest
    return options


def _take(options: Options, name: str, value: str) -> None:
    if name == "--command":
        options.commands.append(value)
    elif name == "--commands-from":
        options.commands += commands_in(value, "kdb: -x")
    elif name == "--tape":
        if not value.isidentifier():
            raise ArgumentError(f"kdb: --tape: expected a name for the tape, got {value!r}.")
        options.tape = value
    else:
        parse_conditions(value)
        options.fail_on = value


# --- the magics -----------------------------------------------------------------------------------


NAME = "kdb"
SWITCHES = ("on", "off")
NOTHING_RECORDED = (
    "kdb: nothing was recorded, so there is nothing to look back at. Run the cell again with %%kdb "
    "in its first line. Or use `%kdb on`: then each cell is recorded, and a failing cell opens "
    "the debugger."
)
HELP = """Step through what models do, forward and backward in time, as pdb steps through lines.

In a cell's first line, `%%kdb` runs the cell under the debugger; it stops before the first event.
Names that the cell assigns stay in the notebook::

    %%kdb
    model.fit(x, y)

    %%kdb -c 'b dense_2' -c c -c 'p out'      (these commands first, then you type)
    %%kdb -c 'catch nan' -c c -c w -c q       (stop at the first NaN, show where it is, quit)
    %%kdb -x commands.txt                     (the commands of a file first)
    %%kdb --fail-on nan                       (no prompt; the cell fails at the first NaN)
    %%kdb -c c -c q --tape tape               (give the tape a name: `tape` then shows a table)

On a line of its own::

    %kdb model.fit(x, y)      debug this statement; the options above may come before it
    %kdb                      look back at the last recording, starting where it failed
    %kdb tape                 look back at this tape
    %kdb on                   record each cell from now on; a failing cell opens the debugger
    %kdb off                  stop recording

`help` at the prompt lists the commands: s n r c move forward, rs rn rr rc move back, b dense_2 sets
a breakpoint, p out prints, w shows where we are, draw draws the model, q quits. `restart` runs the
cell again; new layers then get new names, as when you run a cell twice.
"""


class ConditionMet(BaseException):
    """Raised when a condition of `--fail-on` is met; `except Exception` does not catch it."""


class CellProgram(NamedTuple):
    """The compiled code of a cell.

    If the last statement is an expression, it is `expression`, whose value the notebook shows;
    otherwise `expression` is None. `statements` has the other statements.
    """

    statements: CodeType
    expression: CodeType | None
    file: str
    first_line: int


class Notebook:
    """The magics `%kdb` and `%%kdb` of one notebook.

    Parameters
    ----------
    shell : IPython.core.interactiveshell.InteractiveShell
    """

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.records_cells = False
        self._recorded: Tape | None = None
        self._recording = ExitStack()

    def kdb(self, line: str, cell: str | None = None) -> Any:
        """Run the magic on its line and cell; return the value of the last expression.

        Raises
        ------
        UsageError
            The line is wrong, nothing was recorded, or commands cannot be read.
        """
        __tracebackhide__ = True  # IPython shows the user's own lines then
        try:
            options = parse_options(line)
        except ArgumentError as error:
            raise self._usage(str(error)) from None
        words = options.statement
        if cell is not None:
            if words:
                raise self._usage(
                    f"%%kdb: expected only options in this line, got {words!r}. Write the code "
                    "below it, or use `%kdb STATEMENT` to debug one line."
                )
            return self._debug(cell, options)
        if words in SWITCHES:
            return self._switch(words == "on")
        if not words or isinstance(self.shell.user_ns.get(words), Tape):
            return self._look_back(self.shell.user_ns[words] if words else None, options)
        if words.isidentifier() and words not in self.shell.user_ns:
            names = self.shell.user_ns.items()
            tapes = [name for name, value in names if isinstance(value, Tape)]
            near = did_you_mean(words, [*SWITCHES, *tapes])
            raise self._usage(f"%kdb: there is no name {words!r}. {near}`%kdb?` shows the help.")
        return self._debug(words, options)

    def _usage(self, text: str) -> Exception:
        """Return an error that IPython shows on one line, without a traceback."""
        from IPython.core.error import UsageError

        return UsageError(text)

    # --- running code -----------------------------------------------------------------------------

    def _debug(self, source: str, options: Options) -> Any:
        """Run code under the debugger; run it again after `restart`."""
        __tracebackhide__ = True
        program = self._compiled(source)
        self._leave_recorded()
        debugger = ModelDebugger()
        debugger.cmdqueue = [*options.commands, *(["c"] if options.fail_on else [])]
        before = None
        while True:
            session = self._session(debugger, program, options)
            session.keep_from(before)
            if before is None and options.fail_on:
                session.stepper.catches.add(options.fail_on)
            debugger.session = before = session
            value: list[Any] = []
            try:
                session.run(partial(self._run, program, value))
            except Restarting:
                leave(session)
                continue
            except Quitting:
                self._check_complete(debugger, options)
            except ConditionMet as found:
                raise self._usage(str(found)) from None
            finally:
                leave(session)
                if options.tape is not None:
                    self.shell.user_ns[options.tape] = session.tape
            if session.error is not None:
                raise _from_the_cell_on(session.error, program.file)
            return value[0] if value else None

    def _session(self, debugger: ModelDebugger, program: CellProgram, options: Options) -> Session:
        prompt = _prompt(debugger, options.conditions)
        session = Session(prompt, script=Path(program.file), names=self.shell.user_ns)
        session.started_at = Where(program.file, program.first_line, "<module>")
        session.traceback_of = _last_line_of
        return session

    def _compiled(self, source: str) -> CellProgram:
        """Compile the source of a cell after IPython has translated its own syntax to Python."""
        shell = self.shell
        python = shell.transform_cell(source)
        file = shell.compile.cache(python, shell.displayhook.prompt_count, raw_code=source)
        tree = shell.transform_ast(shell.compile.ast_parse(python, file))
        line = tree.body[0].lineno if tree.body else 1
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = shell.compile(ast.Expression(tree.body.pop().value), file, "eval")
        return CellProgram(shell.compile(tree, file, "exec"), last, file, line)

    def _run(self, program: CellProgram, value: list[Any]) -> None:
        """Run the code of a cell; append the value of its last expression, if any, to `value`."""
        names = self.shell.user_ns
        exec(program.statements, names)
        if program.expression is not None:
            value.append(eval(program.expression, names))

    def _check_complete(self, debugger: ModelDebugger, options: Options) -> None:
        """Print a message if the cell did not run to its end because commands were missing."""
        if not debugger.lacks_input or debugger.session.is_over:
            return
        if not options.commands:
            raise self._usage("kdb: the cell was not run, for lack of commands.")
        debugger.say("*** the rest of the cell is not run. Add `-c detach` to run it.")

    # --- looking back -----------------------------------------------------------------------------

    def _look_back(self, tape: Tape | None, options: Options) -> None:
        if tape is None and Session.current is not None:
            tape = Session.current.tape
        if tape is None or not len(tape):
            raise self._usage(NOTHING_RECORDED)
        replay(tape, at_failure=True, commands=options.commands)

    def _switch(self, is_on: bool) -> None:
        self.records_cells = is_on
        print(
            "kdb: each cell is recorded from now on; a failing cell opens the debugger"
            if is_on
            else "kdb: cells are not recorded any more"
        )

    def begin_cell(self, info: Any = None) -> None:
        """Start to record a cell if `%kdb on` is active; otherwise do nothing."""
        if self.records_cells:
            self._recorded = self._recording.enter_context(trace())

    def end_cell(self, result: Any = None) -> None:
        """End the recording of a cell and any `set_trace` session.

        If the cell failed, open the debugger where it failed.
        """
        if Session.current is not None:
            leave(Session.current)
        tape = self._leave_recorded()
        if tape is None or not len(tape):
            return  # the cell used no model: keep the recording before it
        Session.current = Session(lambda stop: None, tape=tape)
        if isinstance(getattr(result, "error_in_exec", None), Exception):
            replay(tape, at_failure=True)

    def _leave_recorded(self) -> Tape | None:
        """Stop recording this cell; return its tape, or None if it was not recorded."""
        tape, self._recorded = self._recorded, None
        with suppress(ValueError):  # the context of the cell has ended
            self._recording.close()
        return tape

    def name_of_cell(self, file: str) -> str | None:
        """Return the name of the cell in a file, such as "In[3]"; None for other files."""
        found: tuple[str, str] | None = self.shell.compile.format_code_name(file)
        return None if found is None else found[1]


def _prompt(debugger: ModelDebugger, conditions: set[str]) -> Callable[[Stop], Any]:
    """Return the function that opens the prompt at a stop.

    If the stop meets a condition of `--fail-on`, the function raises `ConditionMet` instead. With
    such conditions, the prompt does not open at the end of the cell.
    """

    def prompt(stop: Stop) -> Callable[[Stepper], Stop | None] | None:
        for finding in stop.findings:
            if finding.condition in conditions:
                debugger.show(stop)
                line = users_line(stop.event.where) if stop.event is not None else ""
                found = f"kdb --fail-on {finding.condition}: {finding.name}: {finding.text}"
                raise ConditionMet(f"{found}\n{line}".rstrip())
        if conditions and stop.reason is Reason.END:
            return None
        return debugger.ask(stop)

    return prompt


def _from_the_cell_on(error: BaseException, file: str) -> BaseException:
    """Return an error with a traceback that starts in the cell, not in the debugger."""
    entry = error.__traceback__
    while entry is not None and entry.tb_frame.f_code.co_filename != file:
        entry = entry.tb_next
    return error if entry is None else error.with_traceback(entry)


def _last_line_of(error: BaseException) -> str:
    """Return the error as one line of text that names the line in the cell.

    The notebook itself shows the traceback.
    """
    line, entry = "", error.__traceback__
    while entry is not None:
        file = entry.tb_frame.f_code.co_filename
        shown = shown_file(file)
        line = f"{shown}:{entry.tb_lineno}: " if shown.startswith("In[") else line
        entry = entry.tb_next
    return f"{line}{type(error).__name__}: {error}"


# --- the extension --------------------------------------------------------------------------------

_loaded: list[Notebook] = []


def _say_quit(shell: Any, kind: Any, error: Any, entry: Any, tb_offset: Any = None) -> list[str]:
    """Print a line in place of IPython's traceback when `q` ends a `set_trace()` session."""
    print("kdb: the debugger was quit; the rest of the cell does not run.", file=sys.stderr)
    return []


def load_ipython_extension(shell: Any) -> None:
    """Register `%kdb` and `%%kdb` in a notebook, for `%load_ext kerascope`."""
    from IPython.core.magic import no_var_expand

    unload_ipython_extension(shell)
    notebook = Notebook(shell)

    def kdb(line: str, cell: str | None = None) -> Any:
        __tracebackhide__ = True
        return notebook.kdb(line, cell)

    kdb.__doc__ = HELP
    shell.register_magic_function(no_var_expand(kdb), magic_kind="line_cell", magic_name=NAME)
    shell.events.register("pre_run_cell", notebook.begin_cell)
    shell.events.register("post_run_cell", notebook.end_cell)
    if not shell.custom_exceptions:  # no other extension has set a handler
        shell.set_custom_exc((Quitting,), _say_quit)
    places.CELLS.append(notebook.name_of_cell)
    _loaded.append(notebook)


def unload_ipython_extension(shell: Any) -> None:
    """Remove `%kdb` and `%%kdb` from a notebook, for `%unload_ext kerascope`."""
    for notebook in [loaded for loaded in _loaded if loaded.shell is shell]:
        for kind in ("line", "cell"):
            shell.magics_manager.magics[kind].pop(NAME, None)
        shell.events.unregister("pre_run_cell", notebook.begin_cell)
        shell.events.unregister("post_run_cell", notebook.end_cell)
        if shell.custom_exceptions == (Quitting,):
            shell.set_custom_exc((), None)
        places.CELLS.remove(notebook.name_of_cell)
        _loaded.remove(notebook)
