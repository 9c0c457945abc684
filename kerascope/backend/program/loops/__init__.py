"""Loops: ops that contain the schedule of one step. Other packages import only from this file.

- `run.py` runs a loop, by its compiled program or by an interpreter, and checks it;
- `calls.py` binds one step to shapes, and sorts its calls: those that can run before the loop,
  those that can run for several steps at once, and those that remain for each step;
- `plan.py` decides where each array of a loop is stored;
- `program.py` writes the text of a loop and runs it.

The ops `Scan` and `While` (`kerascope/backend/ops/`) run their steps with this package.
"""

from kerascope.backend.program.loops.program import LoopProgram
from kerascope.backend.program.loops.run import (
    compiled_loop,
    number_of_steps,
    perform_loop,
    perform_step,
    run_loop,
    step_specs,
)

__all__ = [
    "LoopProgram",
    "compiled_loop",
    "number_of_steps",
    "perform_loop",
    "perform_step",
    "run_loop",
    "step_specs",
]
