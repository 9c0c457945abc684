"""Comparisons, element by element. Their results are bool tensors without a gradient."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from kerascope.backend.graph import as_tensor, graph_mode, is_eager
from kerascope.backend.operators import OPERATORS
from kerascope.backend.ops.broadcasting import Elementwise, promoted
from kerascope.backend.scopes import current_scope
from kerascope.backend.types import Tensor, TensorLike
from kerascope.backend.variables import Variable
from kerascope.errors import DtypeError

__all__ = [
    "equal",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "not_equal",
]


class Comparison(Elementwise):
    """An elementwise op with a bool result, such as a comparison or a logical operation."""

    def infer_dtype(self, *inputs: Tensor) -> str:
        return "bool"


class Equal(Comparison):
    """`x == y`."""

    ufunc = np.equal


def equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Return where two tensors are equal: a bool tensor of their broadcast shape."""
    return Equal()(*promoted(x, y))


class NotEqual(Comparison):
    """`x != y`."""

    ufunc = np.not_equal


def not_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Return where two tensors differ: a bool tensor of their broadcast shape."""
    return NotEqual()(*promoted(x, y))


class Greater(Comparison):
    """`x > y`."""

    ufunc = np.greater


def greater(x: TensorLike, y: TensorLike) -> Tensor:
    """Return where x > y: a bool tensor of their broadcast shape."""
    return Greater()(*promoted(x, y))


class GreaterEqual(Comparison):
    """`x >= y`."""

    ufunc = np.greater_equal


def greater_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Return where x >= y: a bool tensor of their broadcast shape."""
    return GreaterEqual()(*promoted(x, y))


class Less(Comparison):
    """`x < y`."""

    ufunc = np.less


def less(x: TensorLike, y: TensorLike) -> Tensor:
    """Return where x < y: a bool tensor of their broadcast shape."""
    return Less()(*promoted(x, y))


class LessEqual(Comparison):
    """`x <= y`."""

    ufunc = np.less_equal


def less_equal(x: TensorLike, y: TensorLike) -> Tensor:
    """Return where x <= y: a bool tensor of their broadcast shape."""
    return LessEqual()(*promoted(x, y))


class LogicalAnd(Comparison):
    """`x and y`; a number counts as true unless it is 0."""

    ufunc = np.logical_and


def logical_and(x: TensorLike, y: TensorLike) -> Tensor:
    """Return where both tensors are true (not 0): a bool tensor of their broadcast shape."""
    return LogicalAnd()(*promoted(x, y))


class LogicalOr(Comparison):
    """`x or y`; a number counts as true unless it is 0."""

    ufunc = np.logical_or


def logical_or(x: TensorLike, y: TensorLike) -> Tensor:
    """Return where at least one of two tensors is true: a bool tensor of their broadcast shape."""
    return LogicalOr()(*promoted(x, y))


class LogicalNot(Comparison):
    """`not x`."""

    ufunc = np.logical_not


def logical_not(x: TensorLike) -> Tensor:
    """Return where a tensor is false (0): a bool tensor of its shape."""
    return LogicalNot()(x)


def _of_truths(sign: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def operator(*operands: TensorLike) -> Tensor:
        tensors = [as_tensor(x) for x in operands]
        for x in tensors:
            if x.dtype != "bool":
                raise DtypeError(
                    f"tensor '{x.name}': {sign} expected dtype bool, got {x.dtype}. Compare it "
                    f"first, as in x > 0; for bits use keras.ops.bitwise_*.",
                    subject=x,
                )
        return function(*tensors)

    return operator


# --- `==` of tensors ------------------------------------------------------------------------------


def _equality(name: str, x: Tensor, y: object) -> Any:
    if not isinstance(y, (Tensor, np.ndarray, np.generic, int, float)):
        return NotImplemented  # a tensor is never equal to a string or to None
    return OPERATORS[name](x, y) if is_eager() else Equality(name, x, y)


class Equality(Tensor):
    """The result of `x == y` or `x != y`, whose op is added to the graph when it is first used.

    When Python searches a list of tensors, it evaluates `==` as well, but uses only the truth value
    of the result: whether `x` and `y` are the same tensor. Then no op is added to the graph.
    """

    __slots__ = ("operator", "sides")

    def __init__(self, operator: str, x: Tensor, y: Any) -> None:
        self.operator, self.sides = operator, (x, y)

    def __getattr__(self, name: str) -> Any:
        if name not in Tensor.__slots__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with graph_mode():
            made: Tensor = OPERATORS[self.operator](*self.sides)
        for slot in set(Tensor.__slots__) - {"__weakref__"}:
            setattr(self, slot, getattr(made, slot))
        if made.owner is not None:
            made.owner.outputs[0] = self
        return getattr(self, name)

    def __bool__(self) -> bool:
        x, y = self.sides
        if isinstance(y, Tensor):
            return (x is y) == (self.operator == "eq")
        return bool(np.asarray(self)) if self._is_known else super().__bool__()

    @property
    def _is_known(self) -> bool:
        """Whether the result of the comparison can be computed at once.

        That is so if `x` is a variable, `y` is a variable or no tensor, and no graph is built.
        """
        x, y = self.sides
        known = isinstance(x, Variable) and (isinstance(y, Variable) or not isinstance(y, Tensor))
        return known and not current_scope().makes_graph

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if not self._is_known:
            return super().__array__(dtype, copy)
        compare = np.equal if self.operator == "eq" else np.not_equal
        return np.asarray(compare(*map(np.asarray, self.sides)), dtype)


OPERATORS.update({"==": partial(_equality, "eq"), "!=": partial(_equality, "ne")})
OPERATORS.update(gt=greater, ge=greater_equal, lt=less, le=less_equal, eq=equal, ne=not_equal)
OPERATORS.update(
    {
        "and": _of_truths("&", logical_and),
        "or": _of_truths("|", logical_or),
        "xor": _of_truths("^", not_equal),
        "invert": _of_truths("~", logical_not),
    }
)
