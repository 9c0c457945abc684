"""Comparisons, element by element: their results are booleans, through which no gradient flows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kerascope.backend.graph import OPERATORS, as_tensor
from kerascope.backend.ops.broadcasting import Elementwise, promoted
from kerascope.backend.types import Tensor, TensorLike
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
    """A function of two tensors (broadcast against each other) whose result is true or false."""

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
    """Return where both tensors are true."""
    return LogicalAnd()(*promoted(x, y))


class LogicalOr(Comparison):
    """`x or y`; a number counts as true unless it is 0."""

    ufunc = np.logical_or


def logical_or(x: TensorLike, y: TensorLike) -> Tensor:
    """Return where at least one of two tensors is true."""
    return LogicalOr()(*promoted(x, y))


class LogicalNot(Comparison):
    """`not x`."""

    ufunc = np.logical_not


def logical_not(x: TensorLike) -> Tensor:
    """Return where a tensor is false."""
    return LogicalNot()(x)


def _of_truths(sign: str, function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def operator(*operands: TensorLike) -> Tensor:
        tensors = [as_tensor(x) for x in operands]
        for x in tensors:
            if x.dtype != "bool":
                raise DtypeError(
                    f"tensor '{x.name}': {sign} is of bools here, and its type is {x.dtype}. For "
                    f"truths compare it first, as in x > 0; for bits there is keras.ops.bitwise_*.",
                    subject=x,
                )
        return function(*tensors)

    return operator


OPERATORS.update(gt=greater, ge=greater_equal, lt=less, le=less_equal, eq=equal, ne=not_equal)
OPERATORS.update(
    {
        "and": _of_truths("&", logical_and),
        "or": _of_truths("|", logical_or),
        "xor": _of_truths("^", not_equal),
        "invert": _of_truths("~", logical_not),
    }
)
