"""The `__main__` of a process that a running script started by `multiprocessing`.

The script says `if __name__ == "__main__":`, which is false here: its functions and classes are
made, its work is not done again. `keras` is ours in this process too, to its end.
"""

# What the script defines is added to the names of this file.

import os
from pathlib import Path

from kerascope.cli.scripts import SCRIPT_VARIABLE, compiled
from kerascope.compat import keras_imports_for_good

if __name__ == "__mp_main__":
    keras_imports_for_good()
    __file__ = os.environ[SCRIPT_VARIABLE]
    exec(compiled(Path(__file__)), globals())
