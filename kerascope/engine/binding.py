"""Binds the arguments of a layer's call to their names, and lists the call's input tensors.

`layer(x, states, training=True)` has an input `x` and further arguments. They are bound to the
parameter names of `layer.call`. Tensors among them are inputs too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kerascope.backend.graph import Tensor, as_tensor
from kerascope.engine.arguments import (
    INPUTS,
    InputPlace,
    extract_tensors,
    fill_places,
    number_of_places,
    to_list,
    unpack_singleton,
    with_constants,
)
from kerascope.errors import ArgumentError, DtypeError
from kerascope.nested_values import flattened

if TYPE_CHECKING:
    from kerascope.engine.base_layer import Layer


@dataclass(frozen=True)
class Call:
    """The inputs and arguments of one call of a layer.

    Attributes
    ----------
    tensors : list of Tensor
        All tensors that the call depends on: the inputs, then the tensors among the arguments.
    places : dict
        The further arguments by name, with an `InputPlace` for each tensor that is in `tensors`.
    """

    tensors: list[Tensor]
    places: dict[str, Any]

    @cached_property
    def own_tensors(self) -> list[Tensor]:
        """The inputs, without the tensors among the arguments."""
        return self.tensors[: len(self.tensors) - number_of_places(self.places)]

    @property
    def inputs(self) -> Any:
        """The first argument of `call`: a tensor, or a list or dict of them."""
        return self._as_given(self.own_tensors)

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The further arguments, with each `InputPlace` replaced by its tensor."""
        return {k: x for k, x in fill_places(self.places, self.tensors).items() if k != INPUTS}

    @property
    def input_shape(self) -> Any:
        """The shape of the input, or a list or dict of shapes."""
        return self._as_given([x.shape for x in self.own_tensors])

    def _as_given(self, items: list[Any]) -> Any:
        if INPUTS not in self.places:
            return unpack_singleton(items)
        return fill_places({INPUTS: self.places[INPUTS]}, items)[INPUTS]


def bind(
    layer: Layer, inputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[list[Tensor], dict[str, Any]]:
    """Return the inputs of a call as a list of tensors, and the further arguments by name."""
    arguments = with_constants(_by_name(layer, args, kwargs))
    found, put = flattened(inputs) if isinstance(inputs, dict) else ([], unpack_singleton)
    if found and not layer.input_spec and all(isinstance(x, (Tensor, np.ndarray)) for x in found):
        tensors = [as_tensor(x) for x in found]
        arguments[INPUTS] = put([InputPlace(number) for number in range(len(found))])
        return tensors, arguments
    return to_list(_with_tensors(layer, inputs)), arguments


def make_call(
    tensors: list[Tensor], arguments: dict[str, Any], is_input: Callable[[Tensor], bool]
) -> Call:
    """Return the `Call` for these inputs and arguments.

    A tensor among the further arguments becomes an input too if `is_input` returns True for it.
    """
    further, places = extract_tensors(arguments, len(tensors), is_input)
    return Call([*tensors, *further], places)


def _by_name(layer: Layer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments after the inputs, by the parameter names of `layer.call`.

    Raises
    ------
    ArgumentError
        There are too many arguments, or one is given by position and by name.
    """
    if not args:
        return kwargs
    names = _names_after_inputs(layer)
    if len(args) > len(names):
        takes = f"its inputs and {', '.join(names)}" if names else "only its inputs"
        raise ArgumentError(
            f"{layer.label}: expected {takes} by position, got {len(args) + 1} arguments. "
            "Pass several input tensors in one list: layer([a, b]).",
            subject=layer,
        )
    given = dict(zip(names, args, strict=False))
    for name in given:
        if name in kwargs:
            raise ArgumentError(
                f"{layer.label}: {name!r} is given by position and name. Leave one out.",
                subject=layer,
            )
    return {**given, **kwargs}


def _names_after_inputs(layer: Layer) -> list[str]:
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(layer.call).parameters.values()
    return [p.name for p in parameters if p.kind in by_place][1:]


def _with_tensors(layer: Layer, inputs: Any) -> Any:
    """Convert arrays among the inputs to constants; a list of inputs remains a list.

    Raises
    ------
    DtypeError
        An input is neither a tensor nor numbers.
    """
    several = isinstance(inputs, (list, tuple)) and any(
        isinstance(x, (Tensor, np.ndarray)) for x in inputs
    )
    try:
        return [as_tensor(x) for x in inputs] if several else as_tensor(inputs)
    except DtypeError:
        raise DtypeError(
            f"{layer.label}: was called with an input that isn't a symbolic tensor. Expected a "
            f"tensor or an array, got {type(inputs).__name__} {inputs!r}. Call it on Input(...) or "
            "on a layer's output.",
            subject=layer,
        ) from None
