"""Lambda: a function of your own as a layer.

It has no weights of its own; what has weights is better written as a class. Its configuration holds
the function's name: loading looks the name up in the custom objects, then among `lambda_functions`.
Of a lambda, which has no name, it holds the byte code, as in Keras. A file with byte code is read
only by a caller who trusts it, and the next Python cannot read it: define with def what is to last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kerascope.engine.arguments import accepts
from kerascope.engine.base_layer import Layer
from kerascope.engine.layer_type import serialized, shares_functions
from kerascope.engine.pickling import byte_code_in, written_function
from kerascope.errors import ArgumentError, ConfigError, UnknownNameError
from kerascope.registry import Registry

lambda_functions = Registry("function of a Lambda layer")


class Lambda(Layer):
    """A function of tensors as a layer.

    Parameters
    ----------
    function : callable or str
        Called on the input tensor, or on the list of them. One that has a parameter `mask` receives
        the mask. A string names a function among the custom objects or `lambda_functions`.
    output_shape : tuple or callable, optional
        Shape of a sample of the output, without the batch; or a function from the input's full
        shape to the output's. By default it is taken from what `function` returns.
    mask : callable or Tensor, optional
        Mask of the output, or a function of (inputs, mask) that returns it. By default there is
        none.
    arguments : dict, optional
        Further keyword arguments of `function`.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `function` is neither a function nor a name.

    Examples
    --------
    >>> import numpy as np
    >>> Lambda(lambda x: x ** 2)(np.array([[3.0]])).tolist()
    [[9.0]]
    """

    def __init__(
        self,
        function: Any,
        output_shape: Any = None,
        mask: Any = None,
        arguments: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.function = _function(function, f"{self.label}: function")
        self._output_shape = _output_shape(output_shape)
        self.mask = lambda_functions.lookup(mask) if isinstance(mask, str) else mask
        self.arguments = {name: _restored(value) for name, value in (arguments or {}).items()}
        self.supports_masking = mask is not None

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """Return function(inputs, **arguments)."""
        arguments = dict(self.arguments)
        if accepts(self.function, "mask"):
            arguments["mask"] = mask
        return self.function(inputs, **arguments)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return what the `mask` argument says; the input's mask ends here otherwise."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return what `output_shape` says, else what `function` makes of placeholders."""
        if self._output_shape is None:
            return super().compute_output_shape(input_shape)
        if callable(self._output_shape):
            return tuple(self._output_shape(input_shape))
        first = input_shape[0] if isinstance(input_shape, list) else input_shape
        return (first[0], *self._output_shape)

    def _declared_output_shape(self, input_shape: Any, arguments: dict[str, Any]) -> Any:
        """Say nothing where nothing was declared: else `function` would run twice at each call."""
        return None if self._output_shape is None else self.compute_output_shape(input_shape)

    def get_config(self) -> dict[str, Any]:
        """Return the configuration, with functions by their names, lambdas as byte code.

        Raises
        ------
        ConfigError
            A lambda uses objects that a configuration cannot hold.
        """
        config = {**super().get_config(), "output_shape_type": "raw"}
        functions = {
            "function": self.function,
            "output_shape": self._output_shape,
            "mask": self.mask,
        }
        for argument, value in functions.items():
            where = f"{self.label}: its {argument}"
            if not callable(value):
                config[argument] = serialized(value, where)
            elif shares_functions():
                config[argument] = value
            else:
                config[argument], kind = written_function(value, where)
                if argument != "mask":  # for which Keras 2 has no such word
                    config[f"{argument}_type"] = kind
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Layer:
        """Make a Lambda from what `get_config` returned, here or in Keras 2.

        Raises
        ------
        ConfigError
            A function is byte code, and no custom object stands under the layer's name.
        UnknownNameError
            No function of this name is known.
        """
        notes = ("module", "_type", "_module")  # Keras 2: function_type, output_shape_type, ...
        kept = {name: value for name, value in config.items() if not name.endswith(notes)}
        name = kept.get("name") or ""
        if byte_code_in(config, "function"):
            kept["function"] = _in_place_of_byte_code(name)
        if byte_code_in(config, "output_shape"):
            kept["output_shape"] = None  # the function itself tells it
        if byte_code_in(config, "mask"):
            raise ConfigError(
                f"Lambda '{name}': its mask was written as the byte code of a lambda; expected a "
                "function with a name. If you trust the file, load_model(..., safe_mode=False)."
            )
        return cls(**kept)


def _function(function: Any, where: str) -> Callable[..., Any]:
    if isinstance(function, str):
        return lambda_functions.lookup(function)
    if callable(function):
        return function
    raise ArgumentError(f"{where}: expected a function or the name of one, got {function!r}.")


def _output_shape(output_shape: Any) -> Any:
    """Return None, a function, or a tuple of sizes."""
    if isinstance(output_shape, str):
        return lambda_functions.lookup(output_shape)
    return output_shape if output_shape is None or callable(output_shape) else tuple(output_shape)


def _restored(value: Any) -> Any:
    """Return an argument as it was: Keras 2 writes arrays as {"type": "ndarray", "value": ...}."""
    if isinstance(value, dict) and value.get("type") == "ndarray":
        return np.array(value["value"])
    return value


def _in_place_of_byte_code(layer_name: str) -> Callable[..., Any]:
    """Return the custom object that stands for a lambda which Keras 2 wrote as byte code."""
    try:
        return lambda_functions.lookup(layer_name)
    except UnknownNameError:
        raise ConfigError(
            f"Lambda '{layer_name}': its function was written as the byte code of a lambda; "
            f"expected the name of a function. Pass custom_objects={{'{layer_name}': function}}; "
            "a model that is here is copied by clone_model(model)."
        ) from None
