"""The fast road of `K.function`: one schedule becomes straight-line NumPy code.

A function that nobody watches, and that is called again and again with arrays of the same shapes,
is written down as a Python function: one NumPy call for each op, into memory that is planned once.

- `dispatch.py` has a function's programs, one for each set of shapes that comes again, and steps
  through the schedule meanwhile; `program.py` runs one of them;
- `bound.py` notes the shape of every array in one plain run; with `rules.py` it leaves out what
  these shapes make needless;
- `foreign.py` says what is taken for granted of an op that is not ours;
- `plan.py` says what is left to do: `flat.py` lays the weights of an optimizer one after the other,
  to update them together; `stacks.py` finds what many equal layers do alike, to do it in one call;
- `memory.py` plans the arrays, what dies makes room for what comes, and checks the plan;
- `source.py` writes the text, with what `emit.py` says of each line and `commit.py` of the end,
  where new values are written; `draft.py` brings all this together;
- `verified.py` compares a program with its steps, at each call, for who asks for it; `checks.py`
  is what it shares with the checks of loops;
- `loops/` does all that once more for the steps of a loop, and runs loops;
- `profiling.py` measures a program line by line.

What it computes is the same, bit for bit, as what stepping through the schedule computes.

Lesson: chapter 14.
"""
