"""`kerascope debug script.py` and `kerascope replay t.jsonl`: the model debugger.

`debug` runs a script in the debugger, as `python -m pdb` does. `replay` opens a tape that the
debugger's command `record` wrote. With `--step-all`, `--format` and similar options they run
unattended, without a prompt. `replay --against script.py` runs a script again and compares it with
the tape.
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

# --- checking the options -------------------------------------------------------------------------


def wanted_by(options: Namespace, file: str, commands: list[str], fail_on: str | None) -> Goal:
    """Check the options and return the session's `Goal`; its `form` is "" if there is a prompt.

    Parameters
    ----------
    options : Namespace
        The parsed options, with `step_all`, `until` and `format`.
    file : str
        The script or the tape.
    commands : list of str
        The debugger commands of `-c` and `-x`.
    fail_on : str or None
        The conditions of `--fail-on`.

    Raises
    ------
    UsageError
        An option is not valid, or two options exclude each other.
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
            "--step-all and --format svg exclude each other, because a picture has no stops. Leave "
            "out --step-all. --until sets the event at which the picture is drawn."
        )
    for line in commands:
        if COMMANDS.moves(line.strip().partition(" ")[0]):
            given = "--until and --fail-on" if is_plain else "--step-all or --format"
            raise UsageError(
                f"-c {line!r}: {given} runs the program without a prompt, so commands must not "
                f"move it. Leave it out, and use --until to set the end."
            )
    return wanted._replace(form=form)


def _conditions(text: str | None) -> set[str]:
    if text is None:
        return set()
    try:
        return {condition.name for condition in parse_conditions(text)}
    except ArgumentError as error:
        raise UsageError(f"--fail-on: {str(error).removeprefix('catch: ')}") from None


def _grain(grain: str | None, file: str) -> str | None:
    """Return the grain of `--step-all`; None if the option was not given."""
    if grain and grain not in GRAINS:
        near = did_you_mean(grain, GRAINS)
        raise UsageError(f"Unknown --step-all={grain}. {near}Use one of: {', '.join(GRAINS)}.")
    if grain is not None and file in GRAINS and not Path(file).is_file():
        raise UsageError(f"File {file!r} does not exist. Did you mean --step-all={file}?")
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
        raise UsageError(f"Unknown --format {form}. {near}Use one of: {', '.join(FORMATS)}.")
    return form


# --- the full screen, `--tui` ---------------------------------------------------------------------


SCREEN = "kerascope.debugger.tui.screen"


def check_full_screen(wanted: Goal, against: str | None = None) -> None:
    """Check, before anything runs, whether the full screen of `--tui` can be used.

    Raises
    ------
    UsageError
        Another option runs without a prompt, Textual is not installed, or input or output is not a
        terminal.
    """
    if wanted.form or wanted.conditions or against is not None:
        raise UsageError(
            "--tui waits for keys, but --step-all, --format, --fail-on and --against run without "
            "a prompt. Leave one out. `catch nan` works on the full screen too."
        )
    if find_spec("textual") is None:
        raise UsageError(
            "--tui needs Textual. Install it: pip install 'kerascope[tui]'. "
            "Without --tui the debugger runs without it."
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("--tui needs a terminal for input and output. Leave it out here.")


def on_full_screen(debug: Callable[[Any], int]) -> int:
    """Debug on the full screen and return the exit code.

    Parameters
    ----------
    debug : callable
        Takes the debugger and returns the exit code. `debug` runs in its own thread. An exception
        of `debug` is raised by this function.

    Notes
    -----
    Textual takes half a second to import, so it is imported only here.
    """
    return import_module(SCREEN).on_screen(debug)


# --- kerascope debug ------------------------------------------------------------------------------


RC_FILE = ".kscoperc"


class ConditionFound(BaseException):
    """Raised when a condition of `--fail-on` is met. The script's `except` does not catch it."""


class ReaderGone(BaseException):
    """Raised when the output's pipe is closed. The script's `except` does not catch it."""


def run_debug(options: Namespace) -> int:
    """Debug the script of `kerascope debug` and return the exit code.

    Raises
    ------
    UsageError
        The script or the file of commands does not exist, or the options are not valid.
    """
    commands = [*_lines_of(options.commands_file), *options.commands]
    wanted = wanted_by(options, options.script, commands, options.fail_on)
    script_of(options)  # raise if the script does not exist
    if options.tui:
        check_full_screen(wanted)
    if wanted.form:
        return _run_unattended(options, wanted)
    run = partial(_run_with_prompt, options, wanted, [*_lines_of_rc(), *commands])
    return on_full_screen(run) if options.tui else run(ModelDebugger())


def _session(prompt: Prompt, script: ScriptRun, options: Namespace) -> Session:
    session = Session(prompt, script=script.path, names=script.names)
    session.traceback_of = partial(traceback_text, path=script.path)
    session.hint = partial(hint_of_tape, script.path)
    if options.fail_on:
        session.stepper.catches.add(options.fail_on)
    return session


# --- with a prompt --------------------------------------------------------------------------------


def _run_with_prompt(
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
        except ConditionFound:
            return FOUND
        except ReaderGone:
            raise BrokenPipeError from None
        else:
            code = _code_at_the_end(session)
            return code or _code_if_not_watched(session, wanted, script.path)


def _code_if_not_watched(session: Session, wanted: Goal, path: Path) -> int:
    """Return 1 and print why if `--fail-on` could watch no model; otherwise return 0.

    No model can be watched if the script uses another library, or trains its models in other
    threads.
    """
    hint, trained = hint_of_live(path), session.unseen.words(session.recorder)
    if not wanted.conditions or not (trained or (hint and not len(session.tape))):
        return DONE
    why = f": {trained}" if trained else f": no model of kerascope ran.{hint}"
    print(f"kerascope: --fail-on checked nothing{why}", file=sys.stderr)
    return FAILED


def _code_at_the_end(session: Session) -> int:
    """Return the exit code of the ended program. Print its exception if it was not shown before."""
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
    """Return the function that moves the stepper on from a stop, or None to end the session.

    If the stop meets a condition of `--fail-on`, raise `ConditionFound`. With `--fail-on`, there is
    no prompt at the end of the program.
    """
    until = wanted.until
    if until is not None and stop.reason is Reason.BEGIN and not len(debugger.session.tape):
        return until.go
    if wanted.conditions and stop.reason is Reason.SET_TRACE:
        return Stepper.continue_
    if any(finding.condition in wanted.conditions for finding in stop.findings):
        debugger.show(stop)
        raise ConditionFound
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


# --- without a prompt -----------------------------------------------------------------------------


def _run_unattended(options: Namespace, wanted: Goal) -> int:
    """Run the script without a prompt, and write the result: the printed stops, or a file.

    The script is ended as soon as the result is complete.
    """
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
    """Write the result of an unattended session and return its exit code."""
    unattended.write()
    if unattended.code == INTERRUPTED:
        raise KeyboardInterrupt
    return unattended.code


# --- files of commands ----------------------------------------------------------------------------


def _lines_of_rc() -> list[str]:
    """Return the lines of `.kscoperc` in the home and, if KSCOPE_RC=1, in the working directory.

    Without KSCOPE_RC=1 the file in the working directory is not read, so that a downloaded folder
    cannot run commands.
    """
    folders = [Path.home()]
    if os.environ.get("KSCOPE_RC") == "1" and Path.cwd() != Path.home():
        folders.append(Path.cwd())
    files = [folder / RC_FILE for folder in folders]
    return [line for file in files if file.is_file() for line in _lines_of(str(file))]


def _lines_of(file: str | None) -> list[str]:
    with given():
        return [] if file is None else commands_in(file, "-x")


# --- kerascope replay --against: compare a new run with the tape ----------------------------------


DIVERGED = 4


class LongEnough(BaseException):
    """Raised to end the repeated script when it has made as many events as the tape has.

    The script's `except Exception` does not catch it.
    """


def run_against(options: Namespace) -> int:
    """Run a script again, compare it with a tape, and return the exit code.

    Raises
    ------
    UsageError
        The script or the tape does not exist, or the tape is damaged. The error names the line.
    """
    path = checked_script(options.against)
    before = recorded(options.file)
    script = ScriptRun(path, options.script_words, for_good=options.for_good)
    events, error = _run(script, before)
    if error is not None:
        print_traceback(error, path)
    found = first_difference(list(before), events)
    if found:
        page = Page(shutil.get_terminal_size().columns, for_person=sys.stdout.isatty())
        print("\n".join(page.wrapped(found)))
        return DIVERGED
    print(f"{options.against} computes the same as the tape: {len(before)} events are equal.")
    return DONE if error is None or _ends_with_error(before) else FAILED


def recorded(name: str) -> Tape:
    """Return the tape that the debugger's command `record` wrote into a file.

    Raises
    ------
    UsageError
        The file does not exist, or it is damaged or not a tape.
    """
    path = checked_file(name, "a tape (.jsonl)")
    with given("The debugger's command `record FILE` writes one."):
        return tape_of_file(path)


def _run(script: ScriptRun, recorded: Tape) -> tuple[list[Event], BaseException | None]:
    """Run the script for as many events as the tape has.

    Return the events of this run, and the exception that ended the script or None.
    """
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


def _ends_with_error(tape: Tape) -> bool:
    return any(delta.name == "error" for delta in tape[len(tape) - 1].deltas)


# --- kerascope replay -----------------------------------------------------------------------------


def run_replay(options: Namespace) -> int:
    """Open the debugger at the first event of a tape and return the exit code.

    Raises
    ------
    UsageError
        The options are not valid, or the file does not exist or is not a valid tape.
    """
    wanted = wanted_by(options, options.file, options.commands, None)
    if options.tui:
        check_full_screen(wanted, options.against)
    if options.against is not None:
        _refuse_others(options)
        return run_against(options)
    if options.script_words:
        words = " ".join(options.script_words)
        raise UsageError(f"Unrecognized arguments: {words}. Only --against passes arguments.")
    tape = recorded(options.file)
    if wanted.form:
        return _replay_unattended(tape, wanted)
    run = partial(_replay_with_prompt, tape, wanted, options.commands)
    return on_full_screen(run) if options.tui else run(ModelDebugger())


def _refuse_others(options: Namespace) -> None:
    given = {"-c": options.commands, "--until": options.until, "--format": options.format}
    names = [name for name, value in given.items() if value]
    names += ["--step-all"] if options.step_all is not None else []
    if names:
        raise UsageError(
            f"--against and {', '.join(names)} exclude each other, because --against compares "
            f"without a prompt. Leave out --against to look at the tape itself."
        )


def _replay_with_prompt(
    tape: Tape, wanted: Goal, commands: list[str], debugger: ModelDebugger
) -> int:
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
