"""`kerascope learn`: exercises beside the chapters, each with a checker that runs what you wrote.

An exercise is five things in a chapter's folder of `tutorials/`::

    exercises/name.py     what the student gets: a docstring and places that hold `...`
    exercises/name.toml   its number, its facts, titles, hints and the task in both languages
    checks/name.py        its checker: functions marked `@check`
    solutions/name.py     a solution
    wrong/name__*.py      answers that must fail; the docstring of each has the lines `en: ...` and
                          `zh: ...`: the very message that it gets

The checker looks at objects, events and gradients of the running program, never at its source.
`exercises.py` finds the exercises and keeps the student's own folder, `running.py` starts the
process in which `child.py` runs the student's file and its checker, `commands.py` is what the
student types. `networks.py` makes random cases for the checkers. A checker imports all that it
needs from here.
"""

from kerascope.learn.networks import (
    close_a_cycle,
    drawn_formulas,
    drawn_networks,
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
    "mixed_networks",
    "nodes_behind",
    "tower",
]
