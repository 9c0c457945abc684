"""`kerascope trace script.py`: run a script and print what happens in it, while it happens."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from importlib import import_module
from typing import Any

from kerascope.cli.scripts import ScriptRun, checked_script
from kerascope.stage import observing
from kerascope.trace.records import Record
from kerascope.trace.story import Story

PRINTERS = "kerascope.viz.story"


def run_trace(options: Namespace) -> int:
    """Run the script of `kerascope trace` and return its exit code."""
    path = checked_script(options.script)
    show = import_module(PRINTERS).printer(options.format, sys.stdout)
    told = _Told(show)
    story = Story(told, options.level, options.batches)
    script = ScriptRun(path, options.script_words)
    elsewhere: AbstractContextManager[Any] = nullcontext()
    if options.format != "text":
        elsewhere = redirect_stdout(sys.stderr)
    with elsewhere, observing(story):
        code = script.run()
    story.close()
    if not told.anything and script.error is None:
        sys.stdout.flush()
        print(
            f"kerascope: '{path}' built no model: there is nothing to walk through. Expected a "
            f"script that calls layers.",
            file=sys.stderr,
        )
    return code


class _Told:
    """Passes records on, and knows whether there were any."""

    def __init__(self, show: Callable[[Record], Any]) -> None:
        self.show = show
        self.anything = False

    def __call__(self, record: Record) -> None:
        self.anything = True
        self.show(record)
