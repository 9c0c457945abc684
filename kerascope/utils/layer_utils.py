"""Helpers for layers and their weights: Keras's `keras.utils.layer_utils`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from kerascope.backend import state
from kerascope.backend.graph import Tensor
from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.engine.summary import print_summary
from kerascope.errors import ArgumentError, GraphError, ShapeError
from kerascope.missing_names import PRIVATE_NAMES, answer_missing_names

__all__ = [
    "convert_all_kernels_in_model",
    "convert_dense_weights_data_format",
    "count_params",
    "get_source_inputs",
    "print_summary",
]

_FLIPPED = {
    **dict.fromkeys(
        ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "Conv3DTranspose"), ("kernel",)
    ),
    "ConvLSTM2D": ("kernel", "recurrent_kernel"),
}


def count_params(weights: Iterable[Any]) -> int:
    """Return the total number of parameters in weights; each distinct weight counts once.

    Examples
    --------
    >>> from kerascope.layers import Dense
    >>> layer = Dense(3)
    >>> layer.build((None, 4))
    >>> count_params(layer.weights)
    15
    """
    return sum(state.count_params(weight) for weight in set(weights))


def get_source_inputs(
    tensor: Tensor, layer: Layer | None = None, node_index: int | None = None
) -> list[Tensor]:
    """Return the Input tensors that a tensor depends on.

    Parameters
    ----------
    tensor : Tensor
        The output of a layer.
    layer, node_index : optional
        The call to start with. Default: the call that made the tensor.

    Raises
    ------
    GraphError
        The tensor is not the output of a layer.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> x = Input((4,))
    >>> get_source_inputs(Dense(2)(Dense(3)(x))) == [x]
    True
    """
    history = getattr(tensor, "_keras_history", None)
    if history is None:
        raise GraphError(f"get_source_inputs: {tensor!r} is not a layer's output.")
    is_given = layer is not None and node_index is not None
    first = layer.inbound_nodes[node_index] if is_given else history.node  # type: ignore[union-attr,index]
    found: dict[Tensor, None] = {}
    waiting, seen = [first], set()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        before = [history.node for history in node.histories if history]
        if not before:
            found.update(dict.fromkeys(node.input_tensors))
        waiting.extend(reversed(before))
    return list(found)


def convert_all_kernels_in_model(model: Network) -> None:
    """Flip the kernels of all convolutions in place, to convert weights from or to Theano.

    Notes
    -----
    A mathematical convolution, as in Theano, flips its kernel; the convolution of TensorFlow and
    newer libraries does not. So weights of one library give the same outputs in the
    other library only if their kernels are flipped along all spatial axes.
    """
    for layer in model.layers:
        for word in _FLIPPED.get(type(layer).__name__, ()):
            kernel: Any = getattr(layer, word)
            value = np.asarray(state.get_value(kernel))
            state.set_value(kernel, np.flip(value, axis=tuple(range(value.ndim - 2))))


def convert_dense_weights_data_format(
    dense: Any,
    previous_feature_map_shape: Sequence[int],
    target_data_format: str = "channels_first",
) -> None:
    """Reorder the rows of a Dense kernel after a Flatten for another data format.

    Parameters
    ----------
    dense : Dense
        The first Dense after the Flatten; changed in place.
    previous_feature_map_shape : tuple of 3 int
        Shape of one sample before the Flatten, in the target format: (512, 7, 7).
    target_data_format : {"channels_first", "channels_last"}
        The data format of the model after the change.

    Raises
    ------
    ArgumentError
        The format is unknown.
    ShapeError
        The number of rows of the kernel does not match the shape.
    """
    if target_data_format == "channels_first":
        channels, height, width = previous_feature_map_shape
        original, axes = (height, width, channels), (2, 0, 1, 3)
    elif target_data_format == "channels_last":
        height, width, channels = previous_feature_map_shape
        original, axes = (channels, height, width), (1, 2, 0, 3)
    else:
        raise ArgumentError(
            f"convert_dense_weights_data_format: expected 'channels_first' or 'channels_last', "
            f"got {target_data_format!r}."
        )
    kernel = np.asarray(state.get_value(dense.kernel))
    if len(kernel) != height * width * channels:
        raise ShapeError(
            f"{dense.label}: expected a kernel with {height * width * channels} rows for maps of "
            f"{tuple(previous_feature_map_shape)}, got {len(kernel)}."
        )
    maps = kernel.reshape(*original, kernel.shape[1]).transpose(axes)
    state.set_value(dense.kernel, maps.reshape(kernel.shape))


_OF_KERAS_1 = """layer_from_config count_total_params"""

answer_missing_names(__name__, later=dict.fromkeys(_OF_KERAS_1.split(), PRIVATE_NAMES))
