"""Python's operators on tensors: `x ** 2` calls `K.pow(x, 2)`, `np.ones(3) * x` calls `K.mul`.

The functions are in the table `OPERATORS`, which the files of `ops/` fill, so `Tensor` does not
import the ops. NumPy's ufuncs use the same table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kerascope.errors import DtypeError

# The name of an operator in Python: its function. Also "stack", "assign" and "identity".
OPERATORS: dict[str, Callable[..., Any]] = {}

# NumPy's ufuncs for the same operators.
_UFUNCS = {
    **{"add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "power": "pow"},
    **{"matmul": "matmul", "negative": "neg", "absolute": "abs"},
    **{"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"},
    **{"equal": "eq", "not_equal": "ne", "floor_divide": "floordiv", "remainder": "mod"},
    **{"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor", "invert": "invert"},
}
# Reductions: np.sum(x) reaches a tensor as np.add.reduce(x), and the remedy is K.sum.
_REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"} | {
    "logical_and": "all",
    "logical_or": "any",
}


def _operator(name: str, *, reflected: bool = False) -> Callable[..., Any]:
    def method(self: Any, *others: Any) -> Any:
        if reflected:
            return OPERATORS[name](*others, self)
        return OPERATORS[name](self, *others)

    method.__name__ = f"__{'r' if reflected else ''}{name}__"
    return method


def _both_ways(name: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the two methods of an operator, such as those for `x + 1` and for `1 + x`."""
    return _operator(name), _operator(name, reflected=True)


class Operators:
    """The base class of `Tensor`: it defines what Python's operators do with tensors."""

    __slots__ = ()
    __array_priority__ = 1000  # np.ones(3) * tensor calls the tensor's operator
    name: str

    __add__, __radd__ = _both_ways("add")
    __sub__, __rsub__ = _both_ways("sub")
    __mul__, __rmul__ = _both_ways("mul")
    __truediv__, __rtruediv__ = _both_ways("truediv")
    __pow__, __rpow__ = _both_ways("pow")
    __matmul__, __rmatmul__ = _both_ways("matmul")
    __floordiv__, __rfloordiv__ = _both_ways("floordiv")
    __mod__, __rmod__ = _both_ways("mod")
    __and__, __rand__ = _both_ways("and")
    __or__, __ror__ = _both_ways("or")
    __xor__, __rxor__ = _both_ways("xor")
    __neg__, __abs__, __invert__ = map(_operator, ("neg", "abs", "invert"))
    __float__, __int__ = map(_operator, ("float", "int"))
    __lt__, __le__, __gt__, __ge__ = map(_operator, ("lt", "le", "gt", "ge"))
    __getitem__ = _operator("getitem")
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Any:
        return OPERATORS["=="](self, other)

    def __ne__(self, other: object) -> Any:
        return OPERATORS["!="](self, other)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Return the result of a NumPy operator, as in `np.ones(3) * x`; raise for other ufuncs."""
        name = _UFUNCS.get(ufunc.__name__)
        if name is not None and method == "__call__" and not kwargs:
            return OPERATORS[name](*inputs)
        written = ufunc.__name__
        if method == "reduce":
            written = _REDUCTIONS.get(written, written)
        raise DtypeError(
            f"tensor '{self.name}': np.{written} needs numbers, and a symbolic tensor has "
            f"none. Use the K function instead: K.{written} if it exists.",
            subject=self,
        )
