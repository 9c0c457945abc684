"""The command line: `kerascope run`, `kerascope trace`, `kerascope draw`, `kerascope summary`.

`parser.py` says what can be typed, `running.py`, `tracing.py` and `pictures.py` do it, `scripts.py`
runs a person's script, `models.py` finds the model that an argument means. Exit codes: 0 done, 1
the script or the work failed, 2 wrong usage, 130 interrupted.
"""

from kerascope.cli.commands import main

__all__ = ["main"]
