"""Embedding: a layer that returns, for each word, a row of a table of weights.

Lesson: the chapter on text. The gradient of a row is the sum over all positions of its word.
"""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope import constraints, initializers, regularizers
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape, as_shape, merge_shapes
from kerascope.engine.base_layer import Layer
from kerascope.errors import ShapeError, SpellingWarning
from kerascope.layers.arguments import Identifier, make_weight, positive_int
from kerascope.user_frames import warn

__all__ = ["Embedding"]


class Embedding(Layer):
    """Maps whole numbers to the rows of a trainable table.

    Parameters
    ----------
    input_dim : int
        Number of words: the greatest possible input plus 1.
    output_dim : int
        Length of a row.
    embeddings_initializer : str, callable or object
        Initial values of the table.
    embeddings_regularizer : str, callable or object, optional
        Penalty on the table.
    activity_regularizer : str, callable or object, optional
        Penalty on the output.
    embeddings_constraint : str, callable or object, optional
        Applied by the optimizer to each new table.
    mask_zero : bool
        Whether 0 is padding: the output then has a mask, and layers that support masks skip these
        positions.
    input_length : int or tuple of int, optional
        Length of a sample, if it is fixed; needed for a Flatten and Dense after the layer.
    **kwargs
        As for `Layer`. Keras 1's `dropout` is ignored with a warning, as in Keras 2.

    Raises
    ------
    ShapeError
        The length of a sample is not `input_length`.

    Notes
    -----
    Input (batch, ...) of whole numbers, output (batch, ..., output_dim): output[i] =
    embeddings[inputs[i]]. Numbers of a float type are cast to int32 first.

    Examples
    --------
    >>> import numpy as np
    >>> Embedding(1000, 64)(np.array([[4, 20], [7, 0]])).shape
    (2, 2, 64)
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Identifier = "uniform",
        embeddings_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        embeddings_constraint: Identifier = None,
        mask_zero: bool = False,
        input_length: Any = None,
        **kwargs: Any,
    ) -> None:
        lengths = (None,) if input_length is None else as_shape(input_length)
        if "batch_input_shape" not in kwargs:
            kwargs.setdefault("input_shape", lengths)
        if kwargs.pop("dropout", 0):
            warn(
                "Embedding: 'dropout' is Keras 1's word and is ignored. Add SpatialDropout1D "
                "after the layer.",
                SpellingWarning,
            )
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.input_dim = positive_int(input_dim, f"{self.label}: input_dim")
        self.output_dim = positive_int(output_dim, f"{self.label}: output_dim")
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = constraints.get(embeddings_constraint)
        self.mask_zero = bool(mask_zero)
        self.supports_masking = self.mask_zero
        self.input_length = lengths if isinstance(input_length, (list, tuple)) else input_length

    def build(self, input_shape: Shape) -> None:
        """Make the table `embeddings`."""
        self.embeddings = make_weight(self, "embeddings", (self.input_dim, self.output_dim))
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Return the rows of the table at the indices in `inputs`."""
        self.compute_output_shape(K.int_shape(inputs))
        if not K.dtype(inputs).startswith(("int", "uint")):
            inputs = K.cast(inputs, "int32")
        return K.gather(self.embeddings, inputs)

    def compute_mask(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor | None:
        """Return a mask that is True where the input is not 0; None without `mask_zero`."""
        return K.not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape with a further last axis of size `output_dim`.

        Raises
        ------
        ShapeError
            The length of a sample is not `input_length`.
        """
        if self.input_length is None:
            return (*input_shape, self.output_dim)
        lengths = merge_shapes(as_shape(self.input_length), input_shape[1:])
        if lengths is None:
            raise ShapeError(
                f"{self.label}: expected samples of input_length {self.input_length}, got an input "
                f"of shape {input_shape}. Pad the samples, or leave input_length out.",
                subject=self,
            )
        return (input_shape[0], *lengths, self.output_dim)
