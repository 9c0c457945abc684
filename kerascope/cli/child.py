"""The `__main__` module of a process that a running script started with `multiprocessing`.

In this process, the condition `if __name__ == "__main__":` of the script is false. So its functions
and classes are defined, but its work does not run again. `import keras` imports kerascope, until
the process ends.
"""

# The script's names are added to the globals of this module.

import os
from pathlib import Path

from kerascope.cli.scripts import SCRIPT_VARIABLE, compiled
from kerascope.compat import keras_imports_for_good

if __name__ == "__mp_main__":
    keras_imports_for_good()
    __file__ = os.environ[SCRIPT_VARIABLE]
    exec(compiled(Path(__file__)), globals())
