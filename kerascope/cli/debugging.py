"""`kerascope debug script.py` and `kerascope replay t.jsonl`: the model debugger.

The one runs a script in it, as `python -m pdb` does; the other stands on a tape that its `record`
wrote. With `--step-all`, `--until` and their like nobody is asked. `replay --against script.py`
says whether a script computes what was recorded.
"""

from __future__ import annotations

import linecache
import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kerascope import backend
from kerascope.cli.scripts import (
    ScriptRun,
    checked_file,
    checked_script,
    exit_code_of,
    hint_of_live,
    hint_of_tape,
    output_aside,
    print_traceback,
    script_of,
    traceback_text,
)
from kerascope.cli.usage import UsageError, given
from kerascope.debugger.entry import handling_breakpoints
from kerascope.debugger.files import first_difference
from kerascope.debugger.front import COMMANDS, ModelDebugger
from kerascope.debugger.other import tape_of_file
from kerascope.debugger.rendering import Page
from kerascope.debugger.session import Quitting, Restarting, Session
from kerascope.debugger.shell import commands_in
from kerascope.debugger.unattended import (
    DONE,
    FAILED,
    FORMATS,
    FOUND,
    INTERRUPTED,
    LAST_STOP,
    USAGE,
    Goal,
    ResultComplete,
    Unattended,
    Until,
)
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.stage import observing
from kerascope.trace.conditions import parse_conditions
from kerascope.trace.events import GRAINS, Event
from kerascope.trace.recorder import Recorder
from kerascope.trace.stepper import Order, Prompt, Reason, Stepper, Stop, ask
from kerascope.trace.tape_store import Tape

# --- what the options ask for together, checked ---------------------------------------------------


def wanted_by(options: Namespace, file: str, commands: list[str], fail_on: str | None) -> Goal:
    """Return what the options ask for; without a form if somebody is asked.

    Parameters
    ----------
    options : Namespace
        With `step_all`, `until` and `format`.
    file : str
        The script or the tape.
    commands : list of str
        Of `-c` and `-x`.
    fail_on : str or None

    Raises
    ------
    UsageError
        They make no sense, alone or together.
    """
    conditions = _conditions(fail_on)
    grain = _grain(options.step_all, file)
    until = _until(options.until)
    is_plain = options.format is None and options.step_all is None
    wanted = Goal("", grain, until, conditions, commands, Path(file).name)
    if is_plain and not (until and conditions):
        return wanted
    form = LAST_STOP if is_plain else _form(options.format)
    if form == "svg" and options.step_all is not None:
        raise UsageError(
            "--step-all and --format svg do not go together: a picture has no stops. Leave out "
            "--step-all; --until says when the picture is drawn."
        )
    for line in commands:
        if COMMANDS.moves(line.strip().partition(" ")[0]):
            given = "--until and --fail-on" if is_plain else "--step-all or --format"
            raise UsageError(
                f"-c {line!r}: with {given} nobody is asked, and it moves by itself. Leave it out; "
                f"--until says where it ends."
            )
    return wanted._replace(form=form)


def _conditions(text: str | None) -> set[str]:
    if text is None:
        return set()
    try:
        return {condition.name for condition in parse_conditions(text)}
    except ArgumentError as error:
        raise UsageError(f"--fail-on: {error}") from None


def _grain(grain: str | None, file: str) -> str | None:
    """Return the grain of `--step-all`; None for the usual one."""
    if grain and grain not in GRAINS:
        near = did_you_mean(grain, GRAINS)
        raise UsageError(f"--step-all={grain}: {near}Expected one of {', '.join(GRAINS)}.")
    if grain is not None and file in GRAINS and not Path(file).is_file():
        raise UsageError(f"there is no file {file!r}. Did you mean --step-all={file}?")
    if grain == "":
        return "node"
    return grain


def _until(text: str | None) -> Until | None:
    if text is None:
        return None
    try:
        return Until(text)
    except ArgumentError as error:
        said = str(error).removeprefix("tbreak: ")
        raise UsageError(f"--until: {said}") from None


def _form(form: str | None) -> str:
    if form is None:
        return "text"
    if form not in FORMATS:
        near = did_you_mean(form, FORMATS)
        raise UsageError(f"--format {form}: {near}Expected one of {', '.join(FORMATS)}.")
    return form


# --- the full screen, `--tui` ---------------------------------------------------------------------


SCREEN = "kerascope.debugger.tui.screen"


def check_full_screen(wanted: Goal, against: str | None = None) -> None:
    """Check, before anything runs, that `--tui` can be had with the other options and here.

    Raises
    ------
    UsageError
        With the other options nobody is asked, Textual is not installed, or no person sits at a
        terminal.
    """
    if wanted.form or wanted.conditions or against is not None:
        raise UsageError(
            "--tui waits for keys; with --step-all, --format, --fail-on or --against nobody is "
            "asked. Leave one out; `catch nan` stops on the screen too."
        )
    if find_spec("textual") is None:
        raise UsageError(
            "--tui needs Textual. Install it: pip install 'kerascope[tui]'. "
            "Without --tui the debugger needs nothing."
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("--tui needs a terminal; leave it out where input or output is none.")


def on_full_screen(debug: Callable[[Any], int]) -> int:
    """Debug on the full screen and return the exit code.

    Parameters
    ----------
    debug : callable
        Is given the debugger; runs in a thread of its own. What it raises is raised.

    Notes
    -----
    Textual takes half a second to import, so it is not imported before.
    """
    code: int = import_module(SCREEN).on_screen(debug)
    return code


# --- kerascope debug ------------------------------------------------------------------------------


RC_FILE = ".kscoperc"


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
    wanted = wanted_by(options, options.script, commands, options.fail_on)
    script_of(options)  # there is one
    if options.tui:
        check_full_screen(wanted)
    if wanted.form:
        return _run_unattended(options, wanted)
    run = partial(_run_asking, options, wanted, [*_lines_of_rc(), *commands])
    return on_full_screen(run) if options.tui else run(ModelDebugger())


def _session(prompt: Prompt, script: ScriptRun, options: Namespace) -> Session:
    session = Session(prompt, script=script.path, names=script.names)
    session.traceback_of = partial(traceback_text, path=script.path)
    session.hint = partial(hint_of_tape, script.path)
    if options.fail_on:
        session.stepper.catches.add(options.fail_on)
    return session


# --- somebody is asked ----------------------------------------------------------------------------


def _run_asking(
    options: Namespace, wanted: Goal, commands: list[str], debugger: ModelDebugger
) -> int:
    debugger.cmdqueue = [*commands, "c"] if wanted.conditions else commands
    before: Session | None = None
    while True:
        script = script_of(options)
        session = _session(partial(_ask, debugger, wanted), script, options)
        session.keep_from(before)
        debugger.session = before = session
        try:
            with handling_breakpoints():
                session.run(script.execute)
        except Restarting:
            backend.clear_session()  # so that the layers get the same names again
            linecache.checkcache()  # the script may have been edited meanwhile
            wanted = wanted._replace(until=None)
        except Quitting:
            missed = wanted.until is not None and wanted.until.was_missed
            return USAGE if missed and not session.has_failed else _code_at_the_end(session)
        except Found:
            return FOUND
        except ReaderGone:
            raise BrokenPipeError from None
        else:
            code = _code_at_the_end(session)
            return code or _code_if_nobody_looked(session, wanted, script.path)


def _code_if_nobody_looked(session: Session, wanted: Goal, path: Path) -> int:
    """Return a code that is not 0 if nobody heard the library in which something may be found."""
    hint, trained = hint_of_live(path), session.unseen.words(session.recorder)
    if not wanted.conditions or not (trained or (hint and not len(session.tape))):
        return DONE
    why = f": {trained}" if trained else f": no model of kerascope ran.{hint}"
    print(f"kerascope: nothing was looked for{why}", file=sys.stderr)
    return FAILED


def _code_at_the_end(session: Session) -> int:
    """Return the exit code of a program; what it failed with is told, if it was not yet."""
    failure = session.failure_to_show()
    if failure is not None:
        print(failure.text, end="", file=sys.stderr)
    if session.has_exited and isinstance(session.error, SystemExit):
        return exit_code_of(session.error)
    return FAILED if session.has_failed else DONE


def _ask(debugger: ModelDebugger, wanted: Goal, stop: Stop) -> Order | None:
    try:
        return _asked(debugger, wanted, stop)
    except BrokenPipeError:
        raise ReaderGone from None


def _asked(debugger: ModelDebugger, wanted: Goal, stop: Stop) -> Order | None:
    """Ask the debugger; with `--fail-on`, end at what it names, and ask no more at the end."""
    until = wanted.until
    if until is not None and stop.reason is Reason.BEGIN and not len(debugger.session.tape):
        return until.go
    if wanted.conditions and stop.reason is Reason.SET_TRACE:
        return Stepper.continue_
    if any(finding.condition in wanted.conditions for finding in stop.findings):
        debugger.show(stop)
        raise Found
    if stop.reason is Reason.END:
        missed = "" if until is None else until.why_missed(debugger.session)
        if missed:
            debugger.say_text(f"*** {missed}")
        if wanted.conditions:
            failure = debugger.session.failure_to_show()
            if failure is not None:
                debugger.say_traceback(failure.text.rstrip())
            return None
    return debugger.ask(stop)


# --- nobody is asked ------------------------------------------------------------------------------


def _run_unattended(options: Namespace, wanted: Goal) -> int:
    """Run the script to its end, or to that of what is wanted, and write that."""
    unattended = Unattended(wanted)
    script = script_of(options)
    session = _session(unattended.ask, script, options)
    unattended.debugger.session = session
    code = DONE
    with output_aside(unattended.is_for_programs), handling_breakpoints(), suppress(ResultComplete):
        session.run(script.execute)
        code = _code_at_the_end(session)
    return _written(unattended) or code


def _written(unattended: Unattended) -> int:
    """Write what is wanted; return the exit code that it asks for."""
    unattended.write()
    if unattended.code == INTERRUPTED:
        raise KeyboardInterrupt
    return unattended.code


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
    with given():
        return [] if file is None else commands_in(file, "-x")


# --- kerascope replay --against: whether a script computes what was recorded ----------------------


DIVERGED = 4


class LongEnough(BaseException):
    """The script has told as many events as were recorded; it goes through the script."""


def run_against(options: Namespace) -> int:
    """Run a script again, compare it with a tape, and return the exit code.

    Raises
    ------
    UsageError
        There is no such script, or no such tape, or it is damaged; the error tells the line.
    """
    path = checked_script(options.against)
    before = recorded(options.file)
    script = ScriptRun(path, options.script_words, for_good=options.for_good)
    told, error = _run(script, before)
    if error is not None:
        print_traceback(error, path)
    found = first_difference(list(before), told)
    if found:
        page = Page(shutil.get_terminal_size().columns, for_person=sys.stdout.isatty())
        print("\n".join(page.wrapped(found)))
        return DIVERGED
    print(f"{options.against} computes what was recorded: {len(before)} events are the same.")
    return DONE if error is None or _tells_of_an_error(before) else FAILED


def recorded(name: str) -> Tape:
    """Return the tape in a file.

    Raises
    ------
    UsageError
        There is none, or it is damaged.
    """
    path = checked_file(name, "a tape, as `record t.jsonl` writes it")
    with given("In `kerascope debug`, `record FILE` writes one."):
        return tape_of_file(path)


def _run(script: ScriptRun, recorded: Tape) -> tuple[list[Event], BaseException | None]:
    """Run the script, as far as the tape goes; return its events and what it raised."""
    last = len(recorded)
    recorder = Recorder()

    def listen(event: Event) -> None:
        if event.t >= last:
            raise LongEnough

    recorder.listeners.append(listen)
    error: BaseException | None = None
    try:
        with redirect_stdout(sys.stderr), observing(recorder):
            script.execute()
    except (LongEnough, SystemExit):
        pass
    except Exception as raised:
        error = raised
    recorder.listeners.clear()
    recorder.close()
    return list(recorder.tape[:last]), error


def _tells_of_an_error(tape: Tape) -> bool:
    last: Any = tape[len(tape) - 1]
    return any(delta.name == "error" for delta in last.deltas)


# --- kerascope replay -----------------------------------------------------------------------------


def run_replay(options: Namespace) -> int:
    """Open the debugger at the first event of a tape and return the exit code.

    Raises
    ------
    UsageError
        The options make no sense, or there is no such file, or it is no tape or a damaged one.
    """
    wanted = wanted_by(options, options.file, options.commands, None)
    if options.tui:
        check_full_screen(wanted, options.against)
    if options.against is not None:
        _refuse_others(options)
        return run_against(options)
    if options.script_words:
        words = " ".join(options.script_words)
        raise UsageError(f"unrecognized arguments: {words}. Only a script of --against gets them.")
    tape = recorded(options.file)
    if wanted.form:
        return _replay_unattended(tape, wanted)
    run = partial(_replay_asking, tape, wanted, options.commands)
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


def _replay_asking(tape: Tape, wanted: Goal, commands: list[str], debugger: ModelDebugger) -> int:
    debugger.cmdqueue = list(commands)
    session = debugger.session = Session(debugger.ask, tape=tape)
    stepper = session.stepper
    stop = stepper.goto(0) if wanted.until is None else wanted.until.go(stepper)
    missed = "" if wanted.until is None else wanted.until.why_missed(session)
    if missed:
        debugger.say_text(f"*** {missed}")
    with suppress(Quitting):
        ask(stepper, stop, debugger.ask)
    return DONE


def _replay_unattended(tape: Tape, wanted: Goal) -> int:
    unattended = Unattended(wanted)
    session = Session(unattended.ask, tape=tape)
    unattended.debugger.session = session
    with suppress(ResultComplete):
        ask(session.stepper, Stop(-1, Reason.BEGIN, None), unattended.ask)
    return _written(unattended)
