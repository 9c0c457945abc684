"""A sequence of NumPy calls, collected once and run as one Python function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

FUNCTIONS = {
    "dot": np.dot,
    "matmul": np.matmul,
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "copy": np.copyto,
    "shift_right": np.right_shift,
    "bits_and": np.bitwise_and,
    "sum": np.add.reduce,
    "largest": np.maximum.reduce,
}

ALL_AXES = None
KEEP = True


class Program:
    """Collects NumPy calls; `function` makes a Python function of them.

    A call writes its result into its last array (`maximum` gets it as `out=`). Arrays become
    global names of the function, so that running it looks nothing up and allocates nothing.

    Examples
    --------
    >>> program, a, total = Program(), np.ones(3), np.zeros(())
    >>> program("sum", a, 0, None, total)
    >>> print(program.source("total"))
    def run():
        sum(array_0, 0, None, array_1)
        return total
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.globals: dict[str, Any] = dict(FUNCTIONS)

    def name(self, value: Any) -> str:
        """Return the source text of an operand: the name of an array; other values as literals."""
        if not isinstance(value, np.ndarray):
            return repr(value)
        key = id(value)  # the array stays alive in `globals`
        if key not in self.names:
            self.names[key] = f"array_{len(self.names)}"
            self.globals[self.names[key]] = value
        return self.names[key]

    def __call__(self, function: str, *operands: Any, **options: Any) -> None:
        """Add one call of a NumPy function to the program."""
        words = [self.name(value) for value in operands]
        words += [f"{option}={self.name(value)}" for option, value in options.items()]
        self.lines.append(f"    {function}({', '.join(words)})")

    def source(self, result: str = "None", lines: int | None = None) -> str:
        """Return the source of the function; with `lines`, only of this many first calls."""
        return "\n".join(["def run():", *self.lines[:lines], f"    return {result}"])

    def function(self, result: str = "None", lines: int | None = None) -> Callable[[], Any]:
        """Return a Python function that makes all calls of the program."""
        names = dict(self.globals)
        exec(compile(self.source(result, lines), "<hand-written>", "exec"), names)
        return names["run"]
