"""`keras.Operation` and `keras.Function`: Keras 3's bases of layers and of models.

There everything that is called on tensors is an Operation, and a Layer one with weights; here a
Layer needs none. What joins tensors to tensors is a Network, whatever made them.
"""

from __future__ import annotations

from typing import Any

from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network

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
