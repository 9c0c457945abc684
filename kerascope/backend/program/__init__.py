"""The fast road of `K.function`: one schedule becomes straight-line NumPy code.

A function that nobody watches, and that is called again and again with arrays of the same shapes,
is written down as a Python function: one NumPy call for each op, into memory that is planned once.

- `trial.py` performs the schedule once and notes the shape of every array;
- `foreign.py` says what is taken for granted of an op that is not ours;
- `bound.py` and `rules.py` leave out what these shapes make needless;
- `kernels.py` says how each op that is left is written;
- `flat.py` lays the weights of an optimizer one after the other, to update them together;
- `stacks.py` finds what many equal layers do alike, to do it in one call; `stretched.py` their
  biases; `order.py` moves what memory gains by;
- `memory.py` plans the arrays: what dies makes room for what comes; `checked.py` checks the plan;
- `source.py` writes the text, `draft.py` brings all this together, and `program.py` runs it;
- `verified.py` compares a program with its steps, at each call, for who asks for it;
- `loop.py` and its neighbours do all that once more for what is inside of a loop.

What it computes is the same, bit for bit, as what stepping through the schedule computes.

Lesson: chapter 14.
"""
