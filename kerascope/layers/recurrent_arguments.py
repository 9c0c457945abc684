"""What recurrent layers and their wrappers are called on: a sequence, first states, constants.

Keras accepts the states in two ways, which mean the same: `lstm(x, initial_state=[h, c])`, and as
further inputs in one list, `lstm([x, h, c])`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.engine.arguments import to_list
from kerascope.engine.base_layer import Layer
from kerascope.errors import ArgumentError, ShapeError


class RecurrentInputs(NamedTuple):
    """The parts of what a recurrent layer is called on; the lists may be empty."""

    sequence: Tensor
    states: list[Tensor]
    constants: list[Tensor]


def recurrent_inputs(
    inputs: Any, initial_state: Any = None, constants: Any = None, number_of_constants: int = 0
) -> RecurrentInputs:
    """Take apart what a recurrent layer is called on.

    Parameters
    ----------
    inputs : Tensor or list of Tensor
        The sequence, or a list of it, the states and the constants.
    initial_state, constants : Tensor or list of Tensor, optional
        Given by name.
    number_of_constants : int
        How many at the end of the list are constants.
    """
    if not isinstance(inputs, (list, tuple)):
        return RecurrentInputs(inputs, to_list(initial_state), to_list(constants))
    sequence, *others = inputs
    first_constant = len(others) if constants is not None else len(others) - number_of_constants
    return RecurrentInputs(
        sequence,
        others[:first_constant] or to_list(initial_state),
        to_list(constants) if constants is not None else others[first_constant:],
    )


def first_shape(input_shape: Any) -> Shape:
    """Return the shape of the sequence, which comes first if there are several."""
    several = bool(input_shape) and isinstance(input_shape[0], (list, tuple))
    return tuple(input_shape[0] if several else input_shape)


def first_mask(mask: Any) -> Any:
    """Return the mask of the sequence, which comes first if there are several."""
    return mask[0] if isinstance(mask, (list, tuple)) else mask


def keywords_with_input_shape(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return a layer's keywords with `input_shape` for `input_dim` and `input_length`.

    A sample has two axes even if its length is not fixed.

    Examples
    --------
    >>> keywords_with_input_shape({"input_dim": 8, "name": "encoder"})
    {'name': 'encoder', 'input_shape': (None, 8)}
    """
    if "input_dim" not in kwargs:
        return kwargs
    kept = {key: v for key, v in kwargs.items() if key not in ("input_dim", "input_length")}
    if "batch_input_shape" not in kept and "input_shape" not in kept:
        kept["input_shape"] = (kwargs.get("input_length"), kwargs["input_dim"])
    return kept


def sizes_of_states(cell: Any) -> list[Shape]:
    """Return the shape of a sample of each state of a cell: `[(32,), (32,)]` for an LSTM(32)."""
    sizes = cell.state_size
    sizes = list(sizes) if isinstance(sizes, (list, tuple)) else [sizes]
    return [tuple(size) if isinstance(size, (list, tuple)) else (int(size),) for size in sizes]


def size_of_output(cell: Any) -> Shape:
    """Return the shape of a sample of the output of a cell: its `output_size`, or a state's."""
    size = getattr(cell, "output_size", None)
    if size is None:
        return sizes_of_states(cell)[0]
    return tuple(size) if isinstance(size, (list, tuple)) else (int(size),)


def check_sequence(
    layer: Layer, shape: Shape, axes: Sequence[str], features: int | None = None
) -> None:
    """Check the sequence that a recurrent layer is called on.

    Parameters
    ----------
    layer : Layer
    shape : tuple of int or None
        Of the sequence.
    axes : sequence of str
        What the axes are called.
    features : int, optional
        The size of the last axis for which the layer was built.

    Raises
    ------
    ShapeError
        There are more axes than expected, or less, no time step, or another number of features.
    """
    where = f"{layer.label}: input has"
    if len(shape) != len(axes):
        remedy = "Flatten what stands behind the time axis, or wrap the layer in TimeDistributed."
        if len(shape) < len(axes):
            remedy = (
                "Reshape() the input to give it a time axis; if it comes from another recurrent "
                "layer, give that one return_sequences=True."
            )
        raise ShapeError(
            f"{where} {len(shape)} axes {shape}; expected {len(axes)}: ({', '.join(axes)}). "
            f"{remedy}",
            subject=layer,
        )
    if shape[1] == 0:
        raise ShapeError(
            f"{where} shape {shape}, which holds no time step; expected at least 1.", subject=layer
        )
    if None not in (features, shape[-1]) and shape[-1] != features:
        raise ShapeError(
            f"{where} {shape[-1]} features in each time step {shape}; expected {features}, as when "
            f"the layer was built. Use another layer for another size.",
            subject=layer,
        )


def check_states(layer: Layer, states: Sequence[Tensor], sizes: Sequence[Shape]) -> None:
    """Hold the states that a layer is called with against those of its cell.

    Raises
    ------
    ArgumentError
        There are more than the cell has, or less.
    ShapeError
        One has another shape.
    """
    if len(states) != len(sizes):
        raise ArgumentError(
            f"{layer.label}: {len(states)} states came; expected {len(sizes)}, of shapes "
            f"{', '.join(str((None, *size)) for size in sizes)}. Give all of them in one list.",
            subject=layer,
        )
    for index, (state, size) in enumerate(zip(states, sizes, strict=True)):
        own = state.shape[1:]
        fits = len(own) == len(size) and all(
            a is None or b is None or a == b for a, b in zip(own, size, strict=True)
        )
        if not fits:
            raise ShapeError(
                f"{layer.label}: state {index} has shape {state.shape}; expected "
                f"{(None, *size)}, as the cell's state_size says.",
                subject=layer,
            )
