"""`kerascope learn`: exercises for the chapters, each with a checker that runs your answer.

An exercise is five things in a chapter's folder of `tutorials/`::

    exercises/name.py     the stub that the student gets: a docstring, and `...` to replace
    exercises/name.toml   its number, its fact numbers, and in both languages hints and the task
    checks/name.py        its checker: functions marked `@check`
    solutions/name.py     a solution
    wrong/name__*.py      wrong answers; the docstring of each quotes, in the lines `en: ...` and
                          `zh: ...`, the exact message that it must get

With the key `part` in its TOML file, an exercise is a part of the student's own engine, and the
answer is a module of the package `my_engine` (`engine.py`).

The checker looks at objects, events and gradients of the running program, never at its source.
`exercises.py` finds the exercises and manages the student's folder. `running.py` starts the
process in which `child.py` runs the student's file and its checker. `commands.py` contains the
commands that the student types. `networks.py` makes random test cases. Checkers import everything
they need from this package.
"""

from kerascope.learn.networks import (
    close_a_cycle,
    drawn_formulas,
    drawn_networks,
    mirrored,
    mixed_networks,
    nodes_behind,
    tower,
)
from kerascope.learn.student import Student, check
from kerascope.learn.verdicts import Text, Unmet

__all__ = [
    "Student",
    "Text",
    "Unmet",
    "check",
    "close_a_cycle",
    "drawn_formulas",
    "drawn_networks",
    "mirrored",
    "mixed_networks",
    "nodes_behind",
    "tower",
]
