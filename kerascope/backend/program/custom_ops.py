"""Ops from outside kerascope: which of their declarations a program trusts.

A custom op may derive from a built-in one and define another `perform`. The inherited kernel, the
rewrites for the base class and its declarations about memory are then wrong. So a program uses only
`perform` of such an op, on copies, and ignores the inherited declarations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from kerascope.backend.graph import Op
from kerascope.printable import printable

# Declarations of an op about its `perform`. A program can do without them.
DECLARATIONS = (
    *("ufunc", "kernel", "is_view", "is_exact", "needs_only_shapes", "inputs_read_by_shape"),
    *("may_share", "leaner"),
)
PLAIN_BASES = Op.__mro__  # classes without declarations about `perform`


class CustomOp(Op):
    """Wraps a custom op of which only `perform` and the inferred shapes and dtypes are used.

    Parameters
    ----------
    op : Op
        The custom op.
    """

    op: Op

    def __init__(self, op: Op) -> None:
        object.__setattr__(self, "op", op)  # ops are frozen
        for name in ("n_outputs", "lazy", "is_pure", "may_refuse"):
            object.__setattr__(self, name, getattr(op, name))

    @property
    def name(self) -> str:
        """The name of the wrapped op."""
        return self.op.name

    def infer_shape(self, *inputs: Any) -> Any:
        """Return the output shape that the wrapped op infers."""
        return self.op.infer_shape(*inputs)

    def infer_dtype(self, *inputs: Any) -> Any:
        """Return the output dtype that the wrapped op infers."""
        return self.op.infer_dtype(*inputs)

    def perform(self, *arrays: Any) -> Any:
        """Return the results of the wrapped op."""
        return self.op.perform(*arrays)


def on_read_only(op: Op) -> Callable[..., Any]:
    """Return a function that calls the `perform` of a custom op on read-only views of the inputs.

    An input may be the array of a variable or of the caller, which the op must not change.
    """

    def perform(*arrays: Any) -> Any:
        try:
            return op.perform(*map(_read_only, arrays))
        except ValueError as error:
            if "read-only" in str(error) or "not writeable" in str(error):
                error.add_note(
                    f"{printable(repr(op))}: its perform writes into an input array, which others "
                    f"read too, and which may be a variable. Write into a copy: x = x.copy()."
                )
            raise

    return perform


def _read_only(array: Any) -> Any:
    if not isinstance(array, np.ndarray):
        return array
    view = array.view()
    view.flags.writeable = False
    return view


_has_valid: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()


def trusted(op: Op) -> Op:
    """Return an op, wrapped in a `CustomOp` if its declarations do not hold for its `perform`."""
    kind = type(op)
    if kind not in _has_valid:
        _has_valid[kind] = _has_valid_declarations(kind)
    return op if _has_valid[kind] else CustomOp(op)


def is_builtin(op: Op) -> bool:
    """Return whether an op is built into kerascope, so that its declarations are reliable."""
    return is_builtin_class(type(op)) and not isinstance(op, CustomOp)


def is_pure(op: Op) -> bool:
    """Return whether the results of an op depend only on its inputs.

    A custom op must declare this itself by `is_pure`.
    """
    kind = type(op.op if isinstance(op, CustomOp) else op)
    return op.is_pure and (is_builtin_class(kind) or _declares_purity(kind))


def is_builtin_class(kind: type) -> bool:
    """Return whether a class is defined in kerascope."""
    return kind.__module__.startswith("kerascope.")


def _has_valid_declarations(kind: type[Any]) -> bool:
    """Return whether the declarations that an op class defines or inherits fit its `perform`."""
    if is_builtin_class(kind):
        return True
    others = [base for base in kind.__mro__ if not is_builtin_class(base)]
    written = {name for base in others for name in vars(base) if not name.startswith("__")}
    if any(is_builtin_class(base) and base not in PLAIN_BASES for base in kind.__mro__):
        return written <= {"grad"}
    return all(_is_declared_for_perform(kind, name) for name in DECLARATIONS)


def _is_declared_for_perform(kind: type[Any], name: str) -> bool:
    """Return whether the declaration `name` of a custom op class is about its `perform`.

    That is so if the class that defines this `perform`, or a subclass of it, makes the declaration.
    It is also so if no class makes the declaration.
    """
    classes = [base for base in kind.__mro__ if base not in PLAIN_BASES]
    first = next((base for base in classes if name in vars(base) or "perform" in vars(base)), Op)
    return name in vars(first) or not any(name in vars(base) for base in classes)


def _declares_purity(kind: type[Op]) -> bool:
    return any("is_pure" in vars(base) for base in kind.__mro__ if base not in PLAIN_BASES)
