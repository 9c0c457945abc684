"""Infers the output shape of an opaque layer, if its file does not state it.

The shape comes from, in this order: the user; a layer of kerascope with the same settings (`Dense`
for `QDense`); the setting `units`; the shape of a saved matrix. Otherwise it stays unknown, because
a wrong shape would be worse than none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kerascope.backend.shapes import UNKNOWN, Shape
from kerascope.configurable import constructor_parameters
from kerascope.engine.base_layer import Layer
from kerascope.engine.layer_type import layer_registry
from kerascope.layers.opaque import Opaque, opaque_layers, shape_given

# The output shape of a class with one of these names cannot be inferred.
_SAY_NOTHING = ("Layer", "Lambda", "InputLayer", "Wrapper", "RNN", "Operation", "TimeDistributed")


def output_shape(layer: Opaque, inputs: Sequence[Shape], weights: Sequence[Shape]) -> Shape:
    """Return the output shape of an opaque layer, or `UNKNOWN` if it cannot be inferred.

    Parameters
    ----------
    layer : Opaque
    inputs : list of Shape
        The shapes of its inputs.
    weights : list of Shape
        The shapes of its saved weights.
    """
    given = shape_given(layer)
    if given is not None:
        return given
    if len(inputs) != 1 or inputs[0] is UNKNOWN:
        return UNKNOWN
    (shape,) = inputs
    config = layer.get_config()
    like = _like(layer.class_name, config)
    if like is not None:
        try:
            found: Any = like.compute_output_shape(shape)
        except Exception:  # the settings belong to another class
            found = None
        if isinstance(found, tuple) and all(n is None or isinstance(n, int) for n in found):
            return found
        return UNKNOWN
    matrices = [w for w in weights if len(w) == 2 and w[0] == shape[-1]]
    units = config.get("units")
    if not isinstance(units, int) and len(matrices) == 1 and len(weights) <= 2:
        units = matrices[0][1]
    is_matrix = isinstance(units, int) and any(w[-1] == units for w in matrices)
    return (*shape[:-1], units) if is_matrix else UNKNOWN


def _like(class_name: str, config: Mapping[str, Any]) -> Any:
    """Return a layer of kerascope with these settings; `class_name` ends with its class's name.

    Return None if there is no such class, or if it does not accept the settings.
    """
    classes = layer_registry._objects
    names = [
        name
        for name, cls in classes.items()
        if class_name.endswith(name)
        and isinstance(cls, type)
        and cls.__module__.startswith("kerascope.layers")
        and name not in _SAY_NOTHING
    ]
    if not names:
        return None
    cls = classes[max(names, key=len)]
    known = constructor_parameters(cls)
    try:
        return cls(**{
            key: value
            for key, value in config.items()
            if key in known and not isinstance(value, dict) and value != config.get("name")
        })  # fmt: skip
    except Exception:  # the settings belong to another class
        return None


def input_shape(layer: Layer, weights: Sequence[Shape]) -> Shape:
    """Return the input shape of a convolution from its saved kernel, or `UNKNOWN`.

    For other layers, the weights do not determine the number of axes of the input.
    """
    kernel = weights[0] if weights else ()
    rank = len(getattr(layer, "kernel_size", ())) + 2
    if type(layer).__name__ not in ("Conv1D", "Conv2D", "Conv3D") or len(kernel) != rank:
        return UNKNOWN
    axes: list[int | None] = [None] * rank
    axes[1 if getattr(layer, "data_format", "") == "channels_first" else -1] = kernel[-2]
    return tuple(axes)


def saved_shapes(model: Any) -> dict[str, list[Shape]]:
    """Return the shapes of the weights of each opaque layer, by the name of the layer.

    Return an empty dict if the output shapes of all opaque layers are known.
    """
    layers = opaque_layers(model)
    tensors = [x for layer in layers for node in layer.inbound_nodes for x in node.output_tensors]
    if all(x.shape is not UNKNOWN for x in tensors):
        return {}
    return {layer.name: [w.shape for w in layer.placed_weights().values()] for layer in layers}
