"""The command line: `kerascope run`, `kerascope debug`, `kerascope draw` and its other commands.

`commands.py` contains the table of commands, and `options.py` their options and help texts.
`scripts.py` runs and traces a script. `debugging.py`, `profiling.py`, `playing.py` and
`pictures.py` debug, profile, play and draw it. `models.py` finds the model that an argument refers
to. `learning.py` serves the course. `usage.py` defines wrong usage (exit code 2), as opposed to a
script or work that failed (exit code 1).
"""

from kerascope.cli.commands import main

__all__ = ["main"]
