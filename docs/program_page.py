"""Write program.md: the train step of the documents' example as a graph and as a program.

`python3 dev.py gallery` runs it. What it writes is the same on every machine; a test compares.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import kerascope as ks
from kerascope import backend as K

HERE = Path(__file__).resolve().parent
PAGE, PICTURE = HERE / "program.md", HERE / "program.svg"
CALLS = 3  # the program is written when arrays of the same shapes come again

TEXT = """\
# The train step of the documents' example: as a graph, and as a program

The example trains 20 numbers to one, through two layers of 64. Its train step is a graph: the
forward pass down the left, the loss, the gradients up the right, and between them each weight
with its gradient, its slots and its new value.

![The training graph of the example](program.svg)

With observers, `K.function` computes such a graph op by op. Without them, when arrays of the same
shapes come again, it compiles the graph to a program: each op is one NumPy call, with memory that
is planned once. This is the program, as `model.train_function.source` returns it:

```py
{source}```

How to read it next to the picture:

- Every line computes one op; the names are those of the tensors. Names that begin with `d_` belong
  to the reverse sweep: `d_dense_1_dot` is the product that computes the gradient of `dense_1`'s
  kernel.
- The last operand of a call is the array for the result. Many names refer to the same memory:
  `explain()` says which. Memory that is not read again is reused.
- `new_values` contains the writes. Its loop is RMSprop: all {weights} weights are stored one after
  the other in one array, their gradients in a second, their accumulators in a third, and {calls}
  calls update them all. The function runs once, when the program is made, and only records its
  calls. `write()` makes them in one call into C, which nothing can interrupt: no error, no Ctrl-C,
  no other thread. So at any moment all variables belong to the same step.
- {missing} of the {steps} steps of the graph are not in the program. `explain()` gives the reason
  for each:

```text
{reasons}
```

Step through the graph with `kerascope debug`, or through the program with pdb: the numbers are the
same, bit for bit.
"""


def trained() -> ks.Model:
    """Return the example's model after a few steps."""
    K.clear_session()
    np.random.seed(0)  # noqa: NPY002 - as in the example
    inputs = ks.layers.Input(shape=(20,))
    x = ks.layers.Dense(64, activation="relu")(inputs)
    x = ks.layers.Dense(64, activation="relu")(x)
    model = ks.Model(inputs, ks.layers.Dense(1, activation="softmax")(x), name="example")
    model.compile("rmsprop", "binary_crossentropy", metrics=["accuracy"])
    for _ in range(CALLS):
        model.train_on_batch(np.zeros((32, 20)), np.zeros((32, 1)))
    return model


def page(model: ks.Model) -> str:
    """Return the text of the page."""
    function = model.train_function
    rows = function.explain().rows
    left_out = [row for row in rows if row.line is None and row.written_as.startswith("(")]
    reasons: dict[str, list[str]] = {}
    for row in left_out:
        reasons.setdefault(row.written_as.strip("()"), []).append(row.step)
    lines = [f"{len(steps):>3}  {reason}: {steps[0]}" for reason, steps in reasons.items()]
    source = function.source
    loop = source[source.index("    for ") :]
    return TEXT.format(
        source=source,
        weights=len(model.weights),
        calls=sum(line.startswith("        np.") for line in loop.splitlines()),
        missing=len(left_out),
        steps=len(rows),
        reasons="\n".join(lines),
    )


def main() -> None:
    """Write the page and its picture."""
    model = trained()
    PICTURE.write_text(ks.draw(model, level="training").svg, encoding="utf-8")
    PAGE.write_text(page(model), encoding="utf-8")
    print(f"wrote {PAGE.name} and {PICTURE.name}")


if __name__ == "__main__":
    main()
