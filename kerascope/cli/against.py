"""`kerascope replay --against script.py t.jsonl`: whether a script computes what was recorded."""

from __future__ import annotations

import shutil
import sys
from argparse import Namespace
from contextlib import redirect_stdout
from typing import Any

from kerascope.cli.scripts import ScriptRun, checked_file, checked_script, print_traceback
from kerascope.cli.usage import given
from kerascope.debugger.comparing import first_difference
from kerascope.debugger.files import tape_of_file
from kerascope.debugger.fitting import Page
from kerascope.stage import observing
from kerascope.trace.events import Event
from kerascope.trace.recorder import Recorder
from kerascope.trace.tape_store import Tape

DONE, FAILED, DIVERGED = 0, 1, 4


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
