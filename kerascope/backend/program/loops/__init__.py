"""Loops: an op whose inside is again a schedule, that of one step. This is their only door.

- `run.py` runs a loop: by the program that was written for it, or interpreted; and checks it;
- `calls.py` binds one step to shapes, and sorts its calls: what can be done before the loop, what
  for several steps at once, and what is left for each step;
- `plan.py` decides where each array of a loop is;
- `program.py` writes the text and runs it.

The ops `Scan` and `While` (`kerascope/backend/ops/`) run their steps by this package.
"""

from kerascope.backend.program.loops.program import LoopProgram
from kerascope.backend.program.loops.run import (
    number_of_steps,
    perform_loop,
    perform_step,
    run_loop,
    step_specs,
    written_loop,
)

__all__ = [
    "LoopProgram",
    "number_of_steps",
    "perform_loop",
    "perform_step",
    "run_loop",
    "step_specs",
    "written_loop",
]
