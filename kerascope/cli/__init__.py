"""The command line: `kerascope run`, `kerascope trace`, `kerascope draw`, `kerascope summary`.

`parser.py` says what can be typed, `running.py`, `tracing.py` and `pictures.py` do it, `scripts.py`
runs a person's script, `models.py` finds the model that an argument means, `usage.py` says what is
wrong usage: exit code 2; 1 is a script or work that failed.
"""

from kerascope.cli.commands import main

__all__ = ["main"]
