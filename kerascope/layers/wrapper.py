"""Wrapper: the base of layers that hold another layer."""

from __future__ import annotations

from typing import Any

from kerascope.engine.base_layer import Layer
from kerascope.engine.layer_type import layer_registry
from kerascope.errors import ArgumentError
from kerascope.layers.inner_layers import build_inside, without_history
from kerascope.registry import custom_object_scope


class Wrapper(Layer):
    """A layer around another one, whose weights, penalties and updates are its own.

    Parameters
    ----------
    layer : Layer
        What is wrapped; a model is a layer too.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `layer` is no layer.

    Notes
    -----
    The base class passes its input to the layer. A wrapper of your own writes a `call` that does
    more. Freezing the wrapper freezes the layer: `trainable` is that of the layer.

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope.layers import Dense
    >>> class Twice(Wrapper):
    ...     def call(self, inputs):
    ...         return 2 * self.layer(inputs)
    ...     def compute_output_shape(self, input_shape):
    ...         return self.layer.compute_output_shape(input_shape)
    >>> Twice(Dense(1, kernel_initializer="ones"))(np.array([[1.0, 2.0]])).tolist()
    [[6.0]]
    """

    activity_regularizer: Any = None  # a penalty on what the wrapper puts out

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        trainable = kwargs.pop("trainable", None)
        super().__init__(**kwargs)
        if not isinstance(layer, Layer):
            raise ArgumentError(
                f"{self.label}: expected a layer to wrap, got {layer!r}. "
                f"Give it an object: {type(self).__name__}(Dense(8)).",
                subject=self,
            )
        self.layer = layer
        self.supports_masking = layer.supports_masking
        if trainable is not None:
            self.trainable = trainable

    @property
    def wrapped(self) -> list[Layer]:
        """The layers inside."""
        layer = vars(self).get("layer")  # not there while the base class is being made
        return [] if layer is None else [layer]

    @property
    def trainable(self) -> bool:  # type: ignore[override]
        """Whether training changes weights of a layer inside."""
        return not self.wrapped or any(layer.trainable for layer in self.wrapped)

    @trainable.setter
    def trainable(self, value: bool) -> None:
        for layer in self.wrapped:
            layer.trainable = value

    def build(self, input_shape: Any = None) -> None:
        """Make the weights of the layer inside."""
        build_inside(self.layer, input_shape)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Return what the layer inside makes of the inputs."""
        return self.layer(without_history(inputs))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape that the layer inside says."""
        return self.layer.compute_output_shape(input_shape)

    def get_config(self) -> dict[str, Any]:
        """Return what the constructor needs, with the configuration of the layer inside."""
        return {**super().get_config(), "layer": layer_registry.serialize(self.layer)}

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Wrapper:
        """Make a wrapper from what `get_config` returned."""
        with custom_object_scope(custom_objects or {}):
            layers = {
                name: layer_registry.deserialize(config[name])
                for name in ("layer", "backward_layer")
                if isinstance(config.get(name), dict)
            }
        return cls(**{**config, **layers})
