"""`kerascope run script.py`: run a Keras script as Python would, with kerascope as its `keras`."""

from __future__ import annotations

from argparse import Namespace

from kerascope.cli.scripts import ScriptRun, checked_script


def run_script(options: Namespace) -> int:
    """Run the script of `kerascope run` and return its exit code."""
    return ScriptRun(checked_script(options.script), options.script_words).run()
