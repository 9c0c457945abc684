"""`kerascope trace script.py`: run a script and print what happens in it, while it happens."""

from __future__ import annotations

import sys
from argparse import Namespace
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from importlib import import_module
from typing import Any

from kerascope.cli.scripts import ScriptRun, checked_script
from kerascope.stage import observing
from kerascope.trace.story import Story

PRINTERS = "kerascope.viz.story"


def run_trace(options: Namespace) -> int:
    """Run the script of `kerascope trace` and return its exit code."""
    path = checked_script(options.script)
    show = import_module(PRINTERS).printer(options.format, sys.stdout)
    story = Story(show, options.level, options.batches)
    script = ScriptRun(path, options.script_words)
    elsewhere: AbstractContextManager[Any] = nullcontext()
    if options.format != "text":
        elsewhere = redirect_stdout(sys.stderr)
    with elsewhere, observing(story):
        code = script.run()
    story.close()
    return code
