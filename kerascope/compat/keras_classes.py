"""Top-level classes of Keras 3: `keras.Operation`, `keras.Function`, `keras.Variable`.

In Keras 3 everything that is called on tensors is an Operation, and a Layer is an Operation with
weights. In kerascope a Layer needs no weights, so Operation is Layer. Function is a Network, and
Variable adds Keras 3's constructor and methods to a variable of the backend.
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
    """A callable graph of operations, without training and saving.

    Parameters
    ----------
    inputs, outputs : Tensor, or lists and dicts of them
        The tensors that the graph starts and ends with. The outputs may depend only on `inputs`.
    name : str, optional

    Raises
    ------
    DisconnectedGraphError
        An output depends on an input tensor that is not in `inputs`.

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope.layers import Input, Rescaling
    >>> x = Input((2,))
    >>> Function(x, Rescaling(2.0)(x))(np.ones((1, 2))).tolist()
    [[2.0, 2.0]]
    """

    _is_part = True  # not saved in files

    def __init__(self, inputs: Any, outputs: Any, name: str | None = None) -> None:
        super().__init__(inputs, outputs, name=name)


class Variable(K.Variable):
    """A variable of the backend with Keras 3's constructor and methods.

    Parameters
    ----------
    initializer : array_like, str or Initializer
        The first value, or the initializer that creates it from `shape`.
    shape : tuple of int, optional
        Needed only with an initializer.
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
        text = f"path={self.path}, shape={self.shape}, dtype={self.dtype}, value={self.get_value()}"
        return f"<Variable {text}>"

    def __int__(self) -> int:
        return int(self.numpy())

    def __eq__(self, other: object) -> Any:
        is_tensor = isinstance(other, K.Tensor)  # lists of variables are searched by identity
        return super().__eq__(other) if is_tensor else _EQUAL(self, other)

    def __ne__(self, other: object) -> Any:
        is_tensor = isinstance(other, K.Tensor)
        return super().__ne__(other) if is_tensor else _NOT_EQUAL(self, other)

    __hash__ = K.Variable.__hash__


# Outside of layers and models, operators compute immediately, like functions of `keras.ops`.
_EQUAL, _NOT_EQUAL = on_anything(K.Tensor.__eq__), on_anything(K.Tensor.__ne__)
for _name in (
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "rpow"),
    *("matmul", "rmatmul", "neg", "abs", "lt", "le", "gt", "ge", "getitem", "invert"),
    *("floordiv", "rfloordiv", "mod", "rmod", "and", "rand", "or", "ror", "xor", "rxor"),
    "array_ufunc",
):
    setattr(Variable, f"__{_name}__", on_anything(getattr(K.Tensor, f"__{_name}__")))
