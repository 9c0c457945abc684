"""Classes that only Keras 3 has at its top: `keras.Operation`, `keras.Function`, `keras.Variable`.

There everything that is called on tensors is an Operation, and a Layer one with weights; here a
Layer needs none. What joins tensors to tensors is a Network, whatever made them. A Variable is
Keras 3's way to make a variable, and to write it at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kerascope import backend as K
from kerascope import initializers
from kerascope.engine.arguments import accepts
from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.layers.ops.on_anything import on_anything

Operation = Layer


class Function(Network):
    """What computes some tensors from others, and neither trains nor is saved.

    Parameters
    ----------
    inputs, outputs : Tensor, or lists and dicts of them
        The outputs depend on these inputs alone.
    name : str, optional

    Raises
    ------
    DisconnectedGraphError
        An output depends on another input.

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope.layers import Input, Rescaling
    >>> x = Input((2,))
    >>> Function(x, Rescaling(2.0)(x))(np.ones((1, 2))).tolist()
    [[2.0, 2.0]]
    """

    _is_part = True  # no file names it

    def __init__(self, inputs: Any, outputs: Any, name: str | None = None) -> None:
        super().__init__(inputs, outputs, name=name)


class Variable(K.Variable):
    """A variable of the backend with Keras 3's constructor and methods.

    Parameters
    ----------
    initializer : array_like, str or Initializer
        First value; or what makes it from `shape`.
    shape : tuple of int, optional
        Needed for a name or an initializer.
    dtype : str, optional
        Default: `K.floatx()`.
    trainable : bool
    name : str, optional

    Examples
    --------
    >>> counter = Variable(0.0)
    >>> _ = counter.assign_add(2.0)
    >>> float(counter.numpy())
    2.0
    """

    __slots__ = ("trainable",)

    def __init__(
        self,
        initializer: Any,
        shape: Sequence[int] | None = None,
        dtype: str | None = None,
        trainable: bool = True,
        name: str | None = None,
    ) -> None:
        if isinstance(initializer, str) or callable(initializer):
            initializer = initializers.get(initializer)
            dtype = dtype or K.floatx()
            options = {"dtype": dtype} if accepts(initializer, "dtype") else {}
            initializer = initializer(tuple(shape or ()), **options)
        if isinstance(initializer, K.Tensor):
            initializer = K.eval(initializer)
        super().__init__(initializer, dtype, name)
        self.trainable = trainable

    def __repr__(self) -> str:
        told = f"path={self.path}, shape={self.shape}, dtype={self.dtype}, value={self.get_value()}"
        return f"<Variable {told}>"

    def __int__(self) -> int:
        return int(self.numpy())

    def __eq__(self, other: object) -> Any:
        is_tensor = isinstance(other, K.Tensor)  # lists of variables are searched by identity
        return super().__eq__(other) if is_tensor else _EQUAL(self, other)

    def __ne__(self, other: object) -> Any:
        is_tensor = isinstance(other, K.Tensor)
        return super().__ne__(other) if is_tensor else _NOT_EQUAL(self, other)

    __hash__ = K.Variable.__hash__


# Outside of layers and models they compute at once, as functions of `keras.ops` do.
_EQUAL, _NOT_EQUAL = on_anything(K.Tensor.__eq__), on_anything(K.Tensor.__ne__)
for _name in (
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "rpow"),
    *("matmul", "rmatmul", "neg", "abs", "lt", "le", "gt", "ge", "getitem", "invert"),
    *("floordiv", "rfloordiv", "mod", "rmod", "and", "rand", "or", "ror", "xor", "rxor"),
    "array_ufunc",
):
    setattr(Variable, f"__{_name}__", on_anything(getattr(K.Tensor, f"__{_name}__")))
