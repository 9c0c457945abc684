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

_LOSS_INSTEAD = (
    "Instead of it give compile a function as its loss or metric, or call add_loss(tensor) in "
    "`call`; for an update of your own write an Optimizer, or a loop around train_on_batch."
)
_TEST_INSTEAD = "Instead of it give compile a function as its loss or metric."
_PREDICT_INSTEAD = "Instead of it make a second Model of the outputs that you want."

# Function of a model -> methods of Keras 3 that make or run it there, and what to do instead.
UNCALLED_METHODS: dict[str, dict[str, str]] = {
    "train_function": {
        "train_step": _LOSS_INSTEAD,
        "make_train_function": _LOSS_INSTEAD,
        "compute_loss": _LOSS_INSTEAD,
        "compute_metrics": _TEST_INSTEAD,
    },
    "test_function": {
        "test_step": _TEST_INSTEAD,
        "make_test_function": _TEST_INSTEAD,
        "compute_loss": _TEST_INSTEAD,
        "compute_metrics": _TEST_INSTEAD,
    },
    "predict_function": {
        "predict_step": _PREDICT_INSTEAD,
        "make_predict_function": _PREDICT_INSTEAD,
    },
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
