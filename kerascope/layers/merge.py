"""The functions that merge tensors (`add`, ...), and what Keras 1 had in their place.

Keras 1 has one function `layers.merge([x, y], mode="sum")` and one layer `Merge`; Keras 2 has a
layer and a function for each mode, in the *module* `layers.merge`. Both spellings work here: this
module holds Keras 2's names and can be called itself.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from kerascope.callers import warn
from kerascope.engine.base_layer import Layer
from kerascope.engine.sequential import Branches
from kerascope.errors import ArgumentError, SpellingWarning
from kerascope.layers.joining import Concatenate, Dot
from kerascope.layers.lambdas import Lambda
from kerascope.layers.merging import Add, Average, Maximum, Minimum, Multiply, Subtract, _Merge
from kerascope.registry import did_you_mean

__all__ = [
    "Add",
    "Average",
    "Concatenate",
    "Dot",
    "Maximum",
    "Merge",
    "Minimum",
    "Multiply",
    "Subtract",
    "add",
    "average",
    "concatenate",
    "dot",
    "maximum",
    "minimum",
    "multiply",
    "subtract",
]


def add(inputs: list[Any], **kwargs: Any) -> Any:
    """Return the sum of tensors: `Add(**kwargs)(inputs)`.

    Examples
    --------
    >>> from kerascope.layers import Input
    >>> add([Input((4,)), Input((4,))]).shape
    (None, 4)
    """
    return Add(**kwargs)(inputs)


def subtract(inputs: list[Any], **kwargs: Any) -> Any:
    """Return the first tensor minus the second."""
    return Subtract(**kwargs)(inputs)


def multiply(inputs: list[Any], **kwargs: Any) -> Any:
    """Return the product of tensors, element by element."""
    return Multiply(**kwargs)(inputs)


def average(inputs: list[Any], **kwargs: Any) -> Any:
    """Return the mean of tensors."""
    return Average(**kwargs)(inputs)


def maximum(inputs: list[Any], **kwargs: Any) -> Any:
    """Return the greatest of tensors, element by element."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs: list[Any], **kwargs: Any) -> Any:
    """Return the smallest of tensors, element by element."""
    return Minimum(**kwargs)(inputs)


def concatenate(inputs: list[Any], axis: int = -1, **kwargs: Any) -> Any:
    """Return tensors joined along an axis."""
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs: list[Any], axes: Any, normalize: bool = False, **kwargs: Any) -> Any:
    """Return for each sample the products of two tensors, summed along one axis of each."""
    return Dot(axes=axes, normalize=normalize, **kwargs)(inputs)


# --- Keras 1 --------------------------------------------------------------------------------------

_ELEMENTWISE: dict[str, type[_Merge]] = {
    "sum": Add,
    "mul": Multiply,
    "ave": Average,
    "max": Maximum,
}


def _layer_of_mode(
    mode: Any, concat_axis: int, dot_axes: Any, name: str | None, **for_function: Any
) -> Layer:
    """Return today's layer for one of Keras 1's modes; a function as mode becomes a Lambda.

    Raises
    ------
    ArgumentError
        There is no such mode.
    """
    if callable(mode):
        return Lambda(mode, name=name, **for_function)
    if mode in _ELEMENTWISE:
        return _ELEMENTWISE[mode](name=name)
    if mode == "concat":
        return Concatenate(axis=concat_axis, name=name)
    if mode in ("dot", "cos"):
        return Dot(axes=dot_axes, normalize=mode == "cos", name=name)
    known = [*_ELEMENTWISE, "concat", "dot", "cos"]
    raise ArgumentError(
        f"merge: invalid mode {mode!r}. {did_you_mean(str(mode), known)}Known: {', '.join(known)}, "
        f"or a function."
    )


def Merge(
    layers: list[Any] | None = None,
    mode: Any = "sum",
    concat_axis: int = -1,
    dot_axes: Any = -1,
    output_shape: Any = None,
    output_mask: Any = None,
    arguments: dict[str, Any] | None = None,
    node_indices: list[int] | None = None,
    tensor_indices: list[int] | None = None,
    name: str | None = None,
) -> Layer:
    """Return the layer that stands for Keras 1's `Merge(mode=...)`.

    Parameters
    ----------
    layers : list of Layer, optional
        Layers or models to be merged at once: the new layer is called on their outputs.
    mode : {"sum", "mul", "ave", "max", "concat", "dot", "cos"} or callable
        What to make of them: Add, Multiply, Average, Maximum, Concatenate, Dot,
        Dot(normalize=True), Lambda.
    concat_axis : int
        For "concat".
    dot_axes : int or pair of int
        For "dot" and "cos".
    output_shape, output_mask, arguments
        For a function: `output_shape`, `mask` and `arguments` of the Lambda.
    node_indices, tensor_indices : list of int, optional
        Which call of each of `layers`, and which output of it; by default the first.
    name : str, optional

    Warns
    -----
    SpellingWarning
        Names today's layer.
    """
    layer = _layer_of_mode(
        mode,
        concat_axis,
        dot_axes,
        name,
        output_shape=output_shape,
        mask=output_mask,
        arguments=arguments,
    )
    word = getattr(mode, "__name__", mode)
    today = type(layer).__name__
    warn(f"Merge: mode {word!r} is Keras 1's word; today it is the layer {today}.", SpellingWarning)
    if layers:
        layer(_outputs_of(layers, node_indices, tensor_indices))
        if not any([*(node_indices or []), *(tensor_indices or [])]):
            layer._branches = Branches(list(layers))  # type: ignore[attr-defined]
    return layer


def _outputs_of(
    layers: list[Any], node_indices: list[int] | None, tensor_indices: list[int] | None
) -> list[Any]:
    """Return one output tensor of each layer."""
    node_indices = node_indices or [0] * len(layers)
    tensor_indices = tensor_indices or [0] * len(layers)
    places = zip(layers, node_indices, tensor_indices, strict=True)
    return [layer.inbound_nodes[node].output_tensors[tensor] for layer, node, tensor in places]


class _CallableModule(ModuleType):
    """Class of the module `merge`: calling the module is Keras 1's function of that name."""

    def __call__(self, inputs: list[Any], mode: Any = "sum", **kwargs: Any) -> Any:
        """Return tensors (or the outputs of layers) merged by `mode`; the parameters of `Merge`."""
        layer = Merge(mode=mode, **kwargs)
        tensors = [x.output if isinstance(x, Layer) else x for x in inputs]
        return layer(tensors)


sys.modules[__name__].__class__ = _CallableModule
