"""Names of Keras that will not come: one table, each with its reason.

Importing such a name works, so that a script which only mentions it runs; using it raises
`RefusedError` with the reason. What is only not here *yet* stands in `not_yet`.
"""

from __future__ import annotations

from typing import Any, NoReturn

from kerascope.errors import RefusedError

_CUDA = "It runs on an NVIDIA card alone."
_SESSION = "There is no session on NumPy: leave the line out."

# Module -> name -> reason, and what to use instead.
REFUSALS: dict[str, dict[str, str]] = {
    "kerascope.layers": {
        "CuDNNGRU": f"{_CUDA} GRU(units, recurrent_activation='sigmoid', reset_after=True) "
        "computes the same.",
        "CuDNNLSTM": f"{_CUDA} LSTM(units, recurrent_activation='sigmoid') computes the same.",
    },
    "kerascope.optimizers": {
        "TFOptimizer": "It wraps an optimizer of TensorFlow, and there is no TensorFlow here. "
        "Use one of kerascope.optimizers.",
    },
    "kerascope.utils": {
        "multi_gpu_model": "There is no GPU on NumPy. Train the model itself.",
    },
    "kerascope.backend": {
        "get_session": _SESSION,
        "set_session": _SESSION,
        "manual_variable_initialization": "Variables have their values from the beginning on "
        "NumPy: leave the line out.",
    },
}

# Name -> why its arguments are not those of Keras 2.2.4.
OTHER_ARGUMENTS: dict[str, str] = {
    "keras.engine.base_layer.Node": "A Node stores tensors alone, as in Keras 3; where they come "
    "from is derived. Node.create_node(layer, inbound_layers, node_indices, tensor_indices) makes "
    "one as Keras 1 does.",
    "keras.engine.training.Model.fit": "epochs=None stands for 1, and for 10 in the dialect of "
    "Keras 1.2, where fit trained ten.",
    "keras.utils.generic_utils.Progbar": "interval=0.1: a bar is drawn at most ten times a second.",
}


class Refused:
    """Base of the stand-ins for refused names; nothing can be made of them."""

    reason: str

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise.

        Raises
        ------
        RefusedError
            Always.
        """
        raise RefusedError(f"{cls.__module__}.{cls.__name__}: {cls.reason}")


def refused(module: str, name: str) -> type[Refused] | None:
    """Return the stand-in for a refused name; None for any other name.

    Examples
    --------
    >>> refused("kerascope.layers", "Dense")
    >>> refused("kerascope.layers", "CuDNNLSTM")(3)
    Traceback (most recent call last):
        ...
    kerascope.errors.RefusedError: kerascope.layers.CuDNNLSTM: It runs on an NVIDIA card alone.
    LSTM(units, recurrent_activation='sigmoid') computes the same.
    """
    reason = REFUSALS.get(module, {}).get(name)
    if reason is None:
        return None
    return type(name, (Refused,), {"reason": reason, "__module__": module, "__doc__": reason})
