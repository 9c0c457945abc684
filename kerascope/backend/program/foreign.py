"""What is taken for granted of an op: of ours what they declare, of others only what they say.

Whoever derives an op from one of ours and writes another `perform` has not thought of the kernel,
of the rewrites that know the class by name, of whose memory the result lies in. So of such an op a
program uses `perform` alone, on copies; what it inherits besides does not count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from kerascope.backend.graph import Op
from kerascope.printable import printable

# What an op says of its `perform`: a program goes by it, and does without.
PROMISES = (
    *("ufunc", "kernel", "is_view", "is_exact", "needs_only_shapes", "inputs_read_by_shape"),
    *("may_share", "leaner"),
)
PLAIN = Op.__mro__  # classes that promise nothing of any `perform`


class Foreign(Op):
    """Somebody else's op, of which nothing counts but what it computes.

    Parameters
    ----------
    op : Op
    """

    op: Op

    def __init__(self, op: Op) -> None:
        object.__setattr__(self, "op", op)  # ops are frozen
        for name in ("n_outputs", "lazy", "is_pure", "may_refuse"):
            object.__setattr__(self, name, getattr(op, name))

    @property
    def name(self) -> str:
        """That of the op."""
        return self.op.name

    def infer_shape(self, *inputs: Any) -> Any:
        """Return what the op returns."""
        return self.op.infer_shape(*inputs)

    def infer_dtype(self, *inputs: Any) -> Any:
        """Return what the op returns."""
        return self.op.infer_dtype(*inputs)

    def perform(self, *arrays: Any) -> Any:
        """Return what the op returns."""
        return self.op.perform(*arrays)


def on_read_only(op: Op) -> Callable[..., Any]:
    """Return the `perform` of somebody else's op, which cannot write into what it is given.

    That may be a variable, or the array of whoever calls.
    """

    def perform(*arrays: Any) -> Any:
        try:
            return op.perform(*map(_read_only, arrays))
        except ValueError as error:
            if "read-only" in str(error) or "not writeable" in str(error):
                error.add_note(
                    f"{printable(repr(op))}: its perform writes into an array that it was given, "
                    f"which others read too, and which may be a variable. Write into a copy: "
                    f"x = x.copy()"
                )
            raise

    return perform


def _read_only(array: Any) -> Any:
    if not isinstance(array, np.ndarray):
        return array
    view = array.view()
    view.flags.writeable = False
    return view


_judged: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()


def trusted(op: Op) -> Op:
    """Return an op, or what of it a program can rely on."""
    kind = type(op)
    if kind not in _judged:
        _judged[kind] = _is_as_it_says(kind)
    return op if _judged[kind] else Foreign(op)


def is_own(op: Op) -> bool:
    """Tell whether an op is one of ours, of which we know what it does with its arrays."""
    return is_ours(type(op)) and not isinstance(op, Foreign)


def is_pure(op: Op) -> bool:
    """Tell whether an op's result depends on its inputs alone; of others' ops they must say it."""
    kind = type(op.op if isinstance(op, Foreign) else op)
    return op.is_pure and (is_ours(kind) or _says_whether_it_is_pure(kind))


def is_ours(kind: type) -> bool:
    """Tell whether a class was written here."""
    return kind.__module__.startswith("kerascope.")


def _is_as_it_says(kind: type[Any]) -> bool:
    """Tell whether what a class says of its `perform` was said of this `perform`."""
    if is_ours(kind):
        return True
    others = [base for base in kind.__mro__ if not is_ours(base)]
    written = {name for base in others for name in vars(base) if not name.startswith("__")}
    if any(is_ours(base) and base not in PLAIN for base in kind.__mro__):
        return written <= {"grad"}
    return all(_was_said_of_it(kind, name) for name in PROMISES)


def _was_said_of_it(kind: type[Any], name: str) -> bool:
    """Tell whether a promise was not made before the `perform` that there is now."""
    classes = [base for base in kind.__mro__ if base not in PLAIN]
    first = next((base for base in classes if name in vars(base) or "perform" in vars(base)), Op)
    return name in vars(first) or not any(name in vars(base) for base in classes)


def _says_whether_it_is_pure(kind: type[Op]) -> bool:
    return any("is_pure" in vars(base) for base in kind.__mro__ if base not in PLAIN)
