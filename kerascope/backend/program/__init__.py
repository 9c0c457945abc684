"""The fast path of `K.function`: a schedule compiled to straight-line NumPy code.

A function that is called again with arrays of the same shapes is compiled to a Python function, if
it has no observers: one NumPy call for each op, with memory that is planned once.

- `dispatch.py` has the programs of a function, one for each set of shapes, and interprets the
  schedule until a program is made; `program.py` runs a program;
- `bound.py` records the shape of every array in one interpreted run; the rules in `rules.py` then
  remove ops that are not needed for these shapes;
- `custom_ops.py` defines which properties of an op from outside kerascope are trusted;
- `plan.py` decides what is computed: `flat.py` stores the weights of an optimizer one after the
  other, to update them together; `stacks.py` combines equal computations of many layers into one;
- `memory.py` plans the arrays, reuses memory that is no longer read, and checks the plan;
- `source.py` writes the program text, with a line from `emit.py` for each op, and at the end
  `commit.py` writes the new values; `draft.py` combines these parts;
- `verified.py` compares a program with the interpreted steps at each call, on request; `checks.py`
  contains the functions that it shares with the checks of loops;
- `loops/` does the same for the steps of a loop, and runs loops;
- `profiling.py` measures a program line by line.

The results are bit for bit those of the interpreted schedule.

Lesson: chapter 14.
"""
