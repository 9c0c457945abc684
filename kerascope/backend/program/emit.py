"""The text of a program's lines: a NumPy call into planned memory, a view, or a `perform` call.

This module also names the arrays, after their tensors, makes the constants, and lets debuggers and
tracebacks find the text.
"""

from __future__ import annotations

import ast
import keyword
import linecache
import math
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.arrays import Spec, room
from kerascope.backend.graph import Op
from kerascope.backend.ops.broadcasting import Elementwise
from kerascope.backend.ops.shaping import Transpose
from kerascope.backend.program.bound import Bound, Line, is_dense, is_in_order
from kerascope.backend.program.custom_ops import is_builtin

# --- how a line is written ------------------------------------------------------------------------


class Kind(Enum):
    """How the result of a program's line gets its memory: planned, as a view, or from the op."""

    CALL = "computed into planned memory"
    VIEW = "a view of its first input"
    PERFORM = "returned by the op"


class Writing(NamedTuple):
    """How a line of a program is written.

    Attributes
    ----------
    kind : Kind
        How the result gets its memory.
    text : str
        A template of Python, with {0}, {1}, ... for the inputs and {out} for the result.
    kernel : callable or None
        The function that `kernel` in the text refers to.
    can_overwrite : bool
        Whether the result may overwrite an input of the same shape.
    """

    kind: Kind
    text: str
    kernel: Callable[..., object] | None = None
    can_overwrite: bool = False


def writing_of(bound: Bound, line: Line) -> Writing:
    """Return how a line is written: into planned memory, as a view, or as a `perform` call."""
    listed = ", ".join(f"{{{i}}}" for i in range(len(line.inputs)))
    perform = line.op.perform if is_builtin(line.op) else _on_copies(line.op)
    plain = Writing(Kind.PERFORM, f"{{kernel}}({listed})", perform)
    facts = [bound.facts.get(slot) for slot in line.outputs]
    if line.op.is_view:
        return plain._replace(kind=Kind.VIEW, text=_text_of_view(line.op) or plain.text)
    if any(slot not in bound.facts for slot in line.inputs) or not all(facts):
        return plain
    known = [fact for fact in facts if fact is not None]
    if any(fact.shares or not is_dense(fact) for fact in known):
        return plain
    if line.op.ufunc is not None:
        return Writing(Kind.CALL, call_of(line.op.ufunc, listed, "{out}"), can_overwrite=True)
    if not all(map(is_in_order, known)):
        return plain
    inputs: list[Spec] = [bound.facts[slot].spec for slot in line.inputs]
    kernel = line.op.kernel(inputs, [fact.spec for fact in known])
    if kernel is None:
        return plain
    if isinstance(kernel, str):
        return Writing(Kind.CALL, kernel, can_overwrite=_reads_once(line.op, kernel))
    return Writing(Kind.CALL, f"{{kernel}}({{out}}, {listed})", kernel)


def _reads_once(op: Op, text: str) -> bool:
    """Return whether a kernel's text reads its only input once, element by element.

    If so, the result may overwrite the input.
    """
    return isinstance(op, Elementwise) and text.count("{0}") == 1 and "{1}" not in text


def _text_of_view(op: Op) -> str | None:
    if not isinstance(op, Transpose):
        return None
    is_reversed = op.pattern[::-1] == tuple(range(len(op.pattern)))
    return "{0}.T" if is_reversed else f"{{0}}.transpose({op.pattern})"


def _on_copies(op: Op) -> Callable[..., object]:
    """Return a function that calls a custom op's `perform` on copies, because it may keep them."""

    def perform(*arrays: Any) -> Any:
        return op.perform(*map(copied, arrays))

    return perform


def copied(array: Any) -> Any:
    """Copy an array with its strides, because the rounding of NumPy depends on the layout.

    Examples
    --------
    >>> copied(np.arange(3.0)[::-1]).strides
    (-8,)
    """
    if array is None:  # the input that a lazy op does not use
        return None
    copy = np.array(array)
    if not copy.size or copy.strides == np.asarray(array).strides:
        return copy
    reaches = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    first, last = sum(min(x, 0) for x in reaches), sum(max(x, 0) for x in reaches)
    room = np.empty(last - first + array.itemsize, np.uint8)
    copy = np.ndarray(array.shape, array.dtype, room.data, -first, array.strides)
    np.copyto(copy, array)
    return copy


def call_of(ufunc: np.ufunc, operands: str, out: str) -> str:
    """Return the text of a ufunc's call on `operands` that computes into `out`.

    Examples
    --------
    >>> call_of(np.add, "x, y", "z"), call_of(np.maximum, "x, y", "z")
    ('np.add(x, y, z)', 'np.maximum(x, y, out=z)')
    """
    # NumPy requires `out=` for these two: a third operand was once allowed.
    word = "out=" if ufunc in (np.maximum, np.minimum) else ""
    return f"np.{ufunc.__name__}({operands}, {word}{out})"


# --- names of arrays ------------------------------------------------------------------------------


TAKEN = ("np", "given", "fill", "write", "new_values", "outputs", "__debug__")


class Names:
    """Gives a unique name to every slot in the text of a program.

    Parameters
    ----------
    taken : iterable of str
        Names that are already in use.
    **scope
        Other objects that the text refers to, by name.

    Attributes
    ----------
    scope : dict of str to object
        The objects that the names in the text refer to.

    Examples
    --------
    >>> names = Names()
    >>> names.add(3, "dense_1/dot"), names.add(4, "dense_1/dot"), names.add(5, "2x")
    ('dense_1_dot', 'dense_1_dot_2', '_2x')
    """

    def __init__(self, taken: Iterable[str] = TAKEN, **scope: Any) -> None:
        self.scope: dict[str, Any] = {"np": np, **scope}
        self._of_slots: dict[int, str] = {}
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def __getitem__(self, slot: int) -> str:
        return self._of_slots[slot]

    def __contains__(self, slot: int) -> bool:
        return slot in self._of_slots

    def add(self, slot: int, wanted: str) -> str:
        """Return the name of a slot; a slot without a name gets an unused one like `wanted`."""
        if slot not in self._of_slots:
            self._of_slots[slot] = self.free(wanted)
        return self._of_slots[slot]

    def set(self, slot: int, name: str) -> None:
        """Let a slot use an existing name, which refers to the same array."""
        self._of_slots[slot] = name

    def given(self, wanted: str, thing: Any) -> str:
        """Return an unused name similar to `wanted`, and let the name refer to `thing`."""
        name = self.free(wanted)
        self.scope[name] = thing
        return name

    def free(self, wanted: str) -> str:
        """Reserve an unused name similar to `wanted`, and return it."""
        base = re.sub(r"\W", "_", unicodedata.normalize("NFKC", wanted)) or "x"
        if base[0].isdigit() or keyword.iskeyword(base):
            base = f"_{base}"
        if not base.isidentifier():
            base = re.sub(r"\W", "_", base, flags=re.ASCII)
        name, number = base, self._counts.get(base, 1)
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._counts[base] = number
        self._taken.add(name)
        return sys.intern(name)  # shared with the compiled code


# --- numbers in the text, as arrays that are made once --------------------------------------------
#
# NumPy converts each Python number to an array at every call. So a kernel's text contains
# "{number:0.5}" for a number of the result's dtype, "{ones:32}" for a vector of 32 ones, and
# "{full:0.5}" for a number that may be a whole array of the result's shape. In the program these
# are replaced by names of arrays.


FEWEST_FULL, MOST_FULL = 1 << 8, 1 << 15  # faster from here on; beyond, too much memory


def is_better_full(ufunc: np.ufunc | None, size: int) -> bool:
    """Return whether a ufunc is faster with an array full of a number than with the number itself.

    maximum and minimum take half as long on two arrays as on an array and a number.

    Parameters
    ----------
    ufunc : np.ufunc or None
        None for an op without a ufunc.
    size : int
        The number of elements of the result.
    """
    return ufunc in (np.maximum, np.minimum) and FEWEST_FULL <= size <= MOST_FULL


class _Place:
    """The value of a field in an op's template; formatting it returns a constant array's name."""

    def __init__(
        self, literals: Literals, kind: str, dtype: np.dtype, shape: tuple[int, ...]
    ) -> None:
        self._literals = literals
        self._kind = kind
        self._dtype = dtype
        self._shape = shape

    def __format__(self, text: str) -> str:
        return self._literals.name(self._kind, text, self._dtype, self._shape)


class Literals:
    """Names the constant arrays of a program.

    Parameters
    ----------
    names : Names
        The names of the program.

    Examples
    --------
    >>> names = Names()
    >>> literals = Literals(names)
    >>> "np.maximum(x, {number:0.5}, out=x)".format(**literals.words(np.dtype("float32")))
    'np.maximum(x, c_0_5, out=x)'
    >>> names.scope["c_0_5"]
    array(0.5, dtype=float32)
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._known: dict[Any, str] = {}

    def words(self, dtype: np.dtype, shape: tuple[int, ...] = ()) -> dict[str, Any]:
        """Return the values for the fields `number`, `full` and `ones` of a kernel's template."""
        return {kind: _Place(self, kind, dtype, shape) for kind in ("number", "full", "ones")}

    def name(self, kind: str, text: str, dtype: np.dtype, shape: tuple[int, ...] = ()) -> str:
        """Return the name of the array that a placeholder such as `{number:0.5}` needs."""
        if kind == "ones":
            return self.name_of(np.ones(int(text), dtype), f"ones_{text}", (text, dtype))
        number = np.array(float(text), dtype)
        if kind == "full" and is_better_full(np.maximum, math.prod(shape)):
            return self.name_of_full(number, shape)
        return self.name_of(number)

    def name_of_full(self, number: np.ndarray, shape: tuple[int, ...]) -> str:
        """Return the name of a constant array of this shape that is filled with a number."""
        wanted = "_".join([number_name(number), "x".join(map(str, shape))])
        key = ("full", number.tobytes(), number.dtype, shape)
        if key in self._known:
            return self._known[key]
        array = room(Spec(shape, number.dtype))
        array[...] = number
        return self.name_of(array, wanted, key)

    def name_of(self, array: np.ndarray, wanted: str | None = None, key: Any = None) -> str:
        """Return the name of a constant array; equal small arrays share a name."""
        if key is None:
            is_small = array.nbytes <= 64
            key = (array.dtype, array.shape, array.tobytes()) if is_small else id(array)
        if key not in self._known:
            self._known[key] = self._names.given(wanted or number_name(array), array)
        return self._known[key]


def number_name(array: np.ndarray) -> str:
    """Return a name for a constant array: its value if it is a scalar, otherwise its shape.

    Examples
    --------
    >>> number_name(np.array(-0.5)), number_name(np.zeros((2, 3))), number_name(np.array(1e-7))
    ('c_minus_0_5', 'c_2x3', 'c_1e_minus_7')
    """
    if array.ndim:
        return "c_" + "x".join(map(str, array.shape))
    text = str(array.item()) if array.dtype.kind != "f" else _shortest(array)
    return "c_" + text.replace("+", "").replace("-", "minus_").replace(".", "_")


def _shortest(array: np.ndarray) -> str:
    """Return the shortest decimal text that no other number of the same dtype has."""
    size = abs(float(array))
    if size == 0 or 1e-4 <= size < 1e6:
        return np.format_float_positional(array.flat[0], trim="-")
    text = np.format_float_scientific(array.flat[0], trim="-", exp_digits=1)
    digits, _, power = text.partition("e")
    return f"{digits}e_{power}" if power else digits


# --- texts for debuggers and tracebacks: `linecache` ----------------------------------------------
#
# An entry without a modification time is never compared with a file.


_gone: list[str] = []


def show(file: str, text: str, lines: Sequence[str]) -> None:
    """Store the text of a program in linecache, and remove entries of deleted programs."""
    while _gone:
        linecache.cache.pop(_gone.pop(), None)
    shown: Any = lines  # any sequence of lines works, not just a list
    linecache.cache[file] = (len(text), None, shown, file)


def function_of(text: str, name: str | None = None) -> ast.FunctionDef:
    """Return the syntax tree of a function of a program text, by name; by default the first one."""
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return next(node for node in functions if name in (None, node.name))


def compiled(function: ast.FunctionDef, what: str, scope: dict[str, Any]) -> Callable[..., Any]:
    """Compile a function from its syntax tree; tracebacks show `what` instead of a file name."""
    tree = ast.fix_missing_locations(ast.Module([function], []))
    exec(compile(tree, f"<kerascope {function.name}, {what}>", "exec"), scope)
    return scope[function.name]


def hide(file: str) -> None:
    """Make the text of a deleted program empty.

    Garbage collection may happen while other code iterates over linecache's entries, as
    `linecache.checkcache()` does. So the entry stays, empty, until another text is shown.
    """
    if file in linecache.cache:
        linecache.cache[file] = (0, None, [], file)
        _gone.append(file)
