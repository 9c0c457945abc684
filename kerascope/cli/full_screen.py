"""`--tui`: whether the full-screen front can be had here, and starting it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from kerascope.cli.debug_orders import Orders
from kerascope.cli.usage import UsageError

SCREEN = "kerascope.debugger.tui.screen"


def check_full_screen(orders: Orders, against: str | None = None) -> None:
    """Check, before anything runs, that `--tui` can be had with the other options and here.

    Raises
    ------
    UsageError
        With the other options nobody is asked, Textual is not installed, or no person sits at a
        terminal.
    """
    if orders.wanted is not None or orders.conditions or against is not None:
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
