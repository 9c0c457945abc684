"""Further names of Keras 1: blocks of two networks, and a network for music.

This module is imported at the first use of one of these paths of Keras 1:
`applications.resnet50.identity_block`,
`applications.inception_v3.conv2d_bn`, `applications.music_tagger_crnn`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope import layers
from kerascope.applications import parts
from kerascope.backend.graph import Tensor
from kerascope.engine.input_layer import Input
from kerascope.engine.model import Model
from kerascope.errors import ArgumentError, UnavailableError
from kerascope.missing_names import answer_missing_names

__all__ = ["MusicTaggerCRNN", "conv2d_bn", "conv_block", "decode_predictions", "identity_block"]

# --- blocks ---------------------------------------------------------------------------------------


def identity_block(
    input_tensor: Tensor, kernel_size: Any, filters: Sequence[int], stage: int, block: str
) -> Tensor:
    """Return relu(x + f(x)), where f is three convolutions with kernel sizes 1, `kernel_size`, 1.

    Parameters
    ----------
    input_tensor : Tensor
        Images. The last of `filters` must equal their number of channels.
    kernel_size : int or pair of int
        The kernel size of the middle convolution.
    filters : three int
        The number of filters of each convolution.
    stage, block
        Parts of the layer names: `res2b_branch2a` is the first convolution of stage 2, block "b".
    """
    x = _three_convolutions(input_tensor, kernel_size, filters, f"{stage}{block}", 1)
    return parts.relu(layers.Add()([x, input_tensor]))


def conv_block(
    input_tensor: Tensor,
    kernel_size: Any,
    filters: Sequence[int],
    stage: int,
    block: str,
    strides: Any = (2, 2),
) -> Tensor:
    """Return relu(g(x) + f(x)), like `identity_block`, where g is a convolution with `strides`."""
    name = f"{stage}{block}"
    x = _three_convolutions(input_tensor, kernel_size, filters, name, strides)
    shortcut = parts.convolved(
        input_tensor, filters[2], 1, strides=strides, name=f"res{name}_branch1"
    )
    return parts.relu(layers.Add()([x, parts.normalized(shortcut, f"bn{name}_branch1")]))


def _three_convolutions(
    x: Tensor, kernel_size: Any, filters: Sequence[int], name: str, strides: Any
) -> Tensor:
    first = {"strides": strides, "name": f"res{name}_branch2a"}
    x = parts.relu(
        parts.normalized(parts.convolved(x, filters[0], 1, **first), f"bn{name}_branch2a")
    )
    middle = {"padding": "same", "name": f"res{name}_branch2b"}
    x = parts.relu(
        parts.normalized(
            parts.convolved(x, filters[1], kernel_size, **middle), f"bn{name}_branch2b"
        )
    )
    last = parts.convolved(x, filters[2], 1, name=f"res{name}_branch2c")
    return parts.normalized(last, f"bn{name}_branch2c")


def conv2d_bn(
    x: Tensor,
    nb_filter: int,
    nb_row: int,
    nb_col: int,
    border_mode: str = "same",
    subsample: Any = (1, 1),
    name: str | None = None,
) -> Tensor:
    """Return x after a convolution with relu, and a normalization.

    The layers are named `{name}_conv` and `{name}_bn`.
    """
    names = (None, None) if name is None else (f"{name}_conv", f"{name}_bn")
    options: dict[str, Any] = {"strides": subsample, "padding": border_mode, "name": names[0]}
    return parts.normalized(
        parts.convolved(x, nb_filter, (nb_row, nb_col), activation="relu", **options), names[1]
    )


# --- music ----------------------------------------------------------------------------------------

TAGS = (
    *("rock", "pop", "alternative", "indie", "electronic", "female vocalists", "dance", "00s"),
    *("alternative rock", "jazz", "beautiful", "metal", "chillout", "male vocalists"),
    *("classic rock", "soul", "indie rock", "Mellow", "electronica", "80s", "folk", "90s", "chill"),
    *("instrumental", "punk", "oldies", "blues", "hard rock", "ambient", "acoustic"),
    *("experimental", "female vocalist", "guitar", "Hip-Hop", "70s", "party", "country"),
    *("easy listening", "sexy", "catchy", "funk", "electro", "heavy metal", "Progressive rock"),
    *("60s", "rnb", "indie pop", "sad", "House", "happy"),
)


def MusicTaggerCRNN(
    weights: parts.Weights = "msd",
    input_tensor: Tensor | None = None,
    include_top: bool = True,
    classes: int = 50,
) -> Model:
    """Return the network for tagging music: four convolutions and two GRUs.

    Parameters
    ----------
    weights : None or path
        None for fresh weights. Trained weights ("msd", the default in Keras 1) are not included.
    input_tensor : Tensor, optional
        Spectrograms, by default of 96 frequencies at 1366 times: (96, 1366, 1), or (1, 96, 1366)
        with "channels_first".
    include_top : bool
        Whether to include the last layer, with `classes` probabilities. Otherwise the outputs are
        32 features.
    classes : int
        The number of tags.

    Raises
    ------
    UnavailableError
        If trained weights are requested.

    References
    ----------
    1. Choi et al.: Convolutional Recurrent Neural Networks for Music Classification, 2016.
    """
    if weights == "msd":
        raise UnavailableError(
            "music_tagger_crnn: weights='msd', the default as in Keras 1, are no part of kerascope "
            "and are not fetched. Pass weights=None for fresh ones, or the path of a file of "
            "weights that you have."
        )
    is_first = parts.channel_axis() == 1
    shape = (1, 96, 1366) if is_first else (96, 1366, 1)
    inputs = Input(shape) if input_tensor is None else input_tensor
    x = layers.ZeroPadding2D((0, 37))(inputs)
    x = layers.BatchNormalization(axis=3 if is_first else 2, name="bn_0_freq")(x)  # over time
    stages = ((64, (2, 2)), (128, (3, 3)), (128, (4, 4)), (128, (4, 4)))
    for number, (filters, window) in enumerate(stages, 1):
        x = parts.convolved(x, filters, 3, padding="same", name=f"conv{number}")
        x = layers.ELU()(parts.normalized(x, f"bn{number}"))
        x = layers.MaxPooling2D(window, window, name=f"pool{number}")(x)
    x = layers.Permute((3, 1, 2))(x) if is_first else x
    x = layers.GRU(32, return_sequences=True, name="gru1")(layers.Reshape((15, 128))(x))
    x = layers.GRU(32, name="gru2")(x)
    outputs = layers.Dense(classes, activation="sigmoid", name="output")(x) if include_top else x
    return parts.finished(inputs, outputs, "music_tagger_crnn", weights)


def decode_predictions(preds: Any, top_n: int = 5) -> list[list[tuple[str, float]]]:
    """Return the most probable tags with their probabilities for each row of 50 probabilities.

    Raises
    ------
    ArgumentError
        If a row does not have 50 probabilities.

    Examples
    --------
    >>> decode_predictions(np.eye(50)[[9]], top_n=2)
    [[('jazz', 1.0), ('rock', 0.0)]]
    """
    rows = np.asarray(preds)
    if rows.ndim != 2 or rows.shape[1] != len(TAGS):
        raise ArgumentError(
            f"decode_predictions: expected shape (samples, {len(TAGS)}), got {rows.shape}."
        )
    orders = [sorted(range(len(row)), key=lambda place: -row[place])[:top_n] for row in rows]
    return [
        [(TAGS[place], float(row[place])) for place in order]
        for row, order in zip(rows, orders, strict=True)
    ]


answer_missing_names(__name__)
