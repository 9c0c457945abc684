"""Weights of older Keras versions, brought into today's shapes and order.

Keras 1 stored convolution kernels with their axes in another order, the gates of recurrent layers
as separate arrays, and flipped kernels where Theano computed a true convolution. Every rule here is
one small function from a list of arrays to a list of arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network

__all__ = ["preprocess_weights_for_loading"]

Arrays = list[np.ndarray]


def preprocess_weights_for_loading(
    layer: Any,
    weights: list[np.ndarray],
    original_keras_version: str | None = None,
    original_backend: str | None = None,
    reshape: bool = False,
) -> list[np.ndarray]:
    """Return saved weights in the form in which a layer has them today.

    Parameters
    ----------
    layer : Layer
        The layer that they are for.
    weights : list of np.ndarray
        As they stand in the file.
    original_keras_version : str, optional
        Which Keras wrote them; None, as in the oldest files, means Keras 1.
    original_backend : str, optional
        "theano" convolved with flipped kernels in Keras 1.
    reshape : bool
        Give an array the shape that is expected, if it has as many numbers.

    Returns
    -------
    list of np.ndarray
        What has no rule comes back as it was.
    """
    arrays = [np.asarray(array) for array in weights]
    inner = _parts(layer)
    if inner is not None:
        arrays = _part_by_part(inner, arrays, original_keras_version, original_backend, reshape)
    elif (original_keras_version or "1").startswith("1"):
        rule = RULES_OF_KERAS_1.get(type(layer).__name__)
        arrays = rule(layer, arrays, original_backend) if rule is not None else arrays
    if inner is None and original_backend == "theano":
        arrays = _unflipped(layer, arrays)
    expected = [w.shape for w in layer.weights]
    if inner is None and len(arrays) == len(expected):
        arrays = [
            _fitting(array, shape, reshape) for array, shape in zip(arrays, expected, strict=True)
        ]
    return arrays


def _fitting(array: np.ndarray, shape: tuple[int, ...], reshape: bool) -> np.ndarray:
    """Return the array in the expected shape, if that is only a matter of how it is laid out."""
    if array.shape == tuple(shape) or array.size != np.prod(shape, dtype=int):
        return array
    is_same_line = [n for n in array.shape if n != 1] == [n for n in shape if n != 1]
    return array.reshape(shape) if reshape or is_same_line else array


# --- layers that hold others ----------------------------------------------------------------------


def _parts(layer: Any) -> list[Any] | None:
    """Return the layers whose weights follow each other in those of a layer, if it only holds."""
    if isinstance(layer, Network):
        layers = getattr(layer, "flattened_layers", layer.layers)
        return [inner for inner in layers if inner.weights]
    if type(layer).__name__ == "Bidirectional":
        return [layer.forward_layer, layer.backward_layer]
    if type(layer).__name__ == "TimeDistributed":
        return [layer.layer]
    return None


def _part_by_part(
    parts: list[Any], arrays: Arrays, version: str | None, backend: str | None, reshape: bool
) -> Arrays:
    """Cut a list of arrays into the shares of the parts, and treat each share.

    A nested network lists the trainable weights of all its layers first, in Keras 2 and 3 alike;
    so does `layer.weights` of ours. Where nothing has to be changed, the list stays as it is.
    """
    if version is not None and not version.startswith("1") and backend != "theano":
        return arrays
    treated: Arrays = []
    rest = list(arrays)
    for number, part in enumerate(parts):
        remaining = len(parts) - number
        share = len(rest) // remaining if _is_even(parts) else len(part.weights)
        treated += preprocess_weights_for_loading(part, rest[:share], version, backend, reshape)
        rest = rest[share:]
    return [*treated, *rest]


def _is_even(parts: list[Any]) -> bool:
    return len({type(part) for part in parts}) == 1


# --- rules of Keras 1 -----------------------------------------------------------------------------


def _convolution_1d(layer: Any, arrays: Arrays, backend: str | None) -> Arrays:
    """Keras 1 kept the kernel of a Conv1D as that of a Conv2D of width 1."""
    kernel, *rest = arrays
    if kernel.ndim != 4:
        return arrays
    length, filters = layer.kernel_size[0], layer.filters
    if kernel.shape[:2] == (length, 1) and kernel.shape[3] == filters:
        return [kernel[:, 0], *rest]
    if kernel.shape[0] == filters and kernel.shape[2:] == (length, 1):  # Theano's order
        return [np.transpose(kernel, (2, 3, 1, 0))[:, 0], *rest]
    return arrays


def _convolution(layer: Layer, arrays: Arrays, backend: str | None) -> Arrays:
    """Bring a kernel (filters, channels, *size) into the order (*size, channels, filters)."""
    kernel, *rest = arrays
    expected = tuple(layer.weights[0].shape)
    filters_first = getattr(layer, "data_format", None) == "channels_first"
    if kernel.shape != expected or filters_first:
        turned = np.transpose(kernel, (*range(2, kernel.ndim), 1, 0))
        kernel = turned if turned.shape == expected else kernel
    return [kernel, *rest]


def _unflipped(layer: Any, arrays: Arrays) -> Arrays:
    """Theano convolved with the kernel turned round: turn it back."""
    if type(layer).__name__ not in FLIPPED_BY_THEANO or not arrays:
        return arrays
    kernel, *rest = arrays
    return [np.flip(kernel, tuple(range(kernel.ndim - 2))), *rest]


def _transposed_convolution(layer: Layer, arrays: Arrays, backend: str | None) -> Arrays:
    """Keras 1 had the channels before the filters, where today they come after them."""
    kernel, *rest = arrays
    expected = tuple(layer.weights[0].shape)
    for order in ((2, 3, 0, 1), (2, 3, 1, 0), (0, 1, 3, 2)):
        turned = np.transpose(kernel, order)
        if kernel.shape != expected and turned.shape == expected:
            kernel = turned
    return [kernel, *rest]


def _lstm(layer: Layer, arrays: Arrays, backend: str | None) -> Arrays:
    """Join the 12 arrays of an LSTM: for each of i, c, f, o its kernel, recurrent kernel, bias."""
    return _joined_gates(arrays, kept="icfo", wanted="ifco")


def _gru(layer: Layer, arrays: Arrays, backend: str | None) -> Arrays:
    """Join the 9 arrays of a GRU: for each of z, r, h its kernel, recurrent kernel and bias."""
    return _joined_gates(arrays, kept="zrh", wanted="zrh")


def _joined_gates(arrays: Arrays, kept: str, wanted: str) -> Arrays:
    if len(arrays) != 3 * len(kept):
        return arrays
    starts = [3 * kept.index(gate) for gate in wanted]
    return [np.concatenate([arrays[start + part] for start in starts], -1) for part in range(3)]


RULES_OF_KERAS_1 = {
    "Conv1D": _convolution_1d,
    "Conv2D": _convolution,
    "Conv3D": _convolution,
    "Conv2DTranspose": _transposed_convolution,
    "LSTM": _lstm,
    "GRU": _gru,
}

FLIPPED_BY_THEANO = ("Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "ConvLSTM2D")
