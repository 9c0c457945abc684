"""The command line: `kerascope run`, `kerascope debug`, `kerascope draw` and its other commands.

`commands.py` has the table of them, `options.py` what can be typed after each. `scripts.py` runs
and traces a person's script, `debugging.py`, `profiling.py` and `pictures.py` do more with it,
`learning.py` is the course's; `models.py` finds the model that an argument means. `usage.py` says
what is wrong usage: exit code 2; 1 is a script or work that failed.
"""

from kerascope.cli.commands import main

__all__ = ["main"]
