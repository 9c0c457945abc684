"""`kerascope run script.py`: run a Keras script as Python would, with kerascope as its `keras`."""

from __future__ import annotations

from argparse import Namespace

from kerascope.cli.scripts import ScriptRun, checked_script


def run_script(options: Namespace) -> int:
    """Run the script of `kerascope run` and return its exit code."""
    path = checked_script(options.script)
    return ScriptRun(path, options.script_words, for_good=options.for_good).run()
