"""Python's operators on tensors: `x ** 2` calls `K.pow(x, 2)`, as `np.ones(3) * x` calls `K.mul`.

The functions stand in the table `OPERATORS`, which the files of `ops/` fill: so the tensors need
none of the ops. NumPy's ufuncs lead to the same table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kerascope.errors import DtypeError

# By Python's name of an operator, its function; also "stack", "assign" and "identity".
OPERATORS: dict[str, Callable[..., Any]] = {}

# NumPy's names of the same operators.
_UFUNCS = {
    **{"add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "power": "pow"},
    **{"matmul": "matmul", "negative": "neg", "absolute": "abs"},
    **{"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"},
    **{"equal": "eq", "not_equal": "ne", "floor_divide": "floordiv", "remainder": "mod"},
    **{"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor", "invert": "invert"},
}
# What calls such an operator along an axis: np.sum(x) reaches a tensor as np.add.reduce(x).
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


class Operators:
    """The base of `Tensor`: its operators."""

    __slots__ = ()
    __array_priority__ = 1000  # np.ones(3) * tensor calls the tensor's operator
    name: str

    __add__ = _operator("add")
    __radd__ = _operator("add", reflected=True)
    __sub__ = _operator("sub")
    __rsub__ = _operator("sub", reflected=True)
    __mul__ = _operator("mul")
    __rmul__ = _operator("mul", reflected=True)
    __truediv__ = _operator("truediv")
    __rtruediv__ = _operator("truediv", reflected=True)
    __pow__ = _operator("pow")
    __rpow__ = _operator("pow", reflected=True)
    __matmul__ = _operator("matmul")
    __rmatmul__ = _operator("matmul", reflected=True)
    __neg__ = _operator("neg")
    __abs__ = _operator("abs")
    __float__ = _operator("float")
    __int__ = _operator("int")
    __floordiv__ = _operator("floordiv")
    __rfloordiv__ = _operator("floordiv", reflected=True)
    __mod__ = _operator("mod")
    __rmod__ = _operator("mod", reflected=True)
    __and__ = _operator("and")
    __rand__ = _operator("and", reflected=True)
    __or__ = _operator("or")
    __ror__ = _operator("or", reflected=True)
    __xor__ = _operator("xor")
    __rxor__ = _operator("xor", reflected=True)
    __invert__ = _operator("invert")
    __lt__ = _operator("lt")
    __le__ = _operator("le")
    __gt__ = _operator("gt")
    __ge__ = _operator("ge")
    __getitem__ = _operator("getitem")
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Any:
        return OPERATORS["=="](self, other)

    def __ne__(self, other: object) -> Any:
        return OPERATORS["!="](self, other)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Take over NumPy's operators, `np.ones(3) * tensor`; refuse its other functions."""
        name = _UFUNCS.get(ufunc.__name__)
        if name is not None and method == "__call__" and not kwargs:
            return OPERATORS[name](*inputs)
        written = ufunc.__name__
        if method == "reduce":
            written = _REDUCTIONS.get(written, written)
        raise DtypeError(
            f"tensor '{self.name}': np.{written} needs numbers, and a symbolic tensor holds "
            f"none. Use the function of K: K.{written} if there is one.",
            subject=self,
        )
