"""Layers that only rearrange numbers: Flatten, Reshape, Permute, RepeatVector.

In Keras they stand in `layers/core.py`, from where they can be imported here too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape, product, reshaped_shape
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_spec import InputSpec
from kerascope.errors import ArgumentError
from kerascope.layers.arguments import positive_int


class Flatten(Layer):
    """Lays each sample out in one row.

    Parameters
    ----------
    data_format : {"channels_last", "channels_first"}, optional
        Where the channels of the input lie; default `K.image_data_format()`. With "channels_first"
        the channels are moved to the end first, so that a model gives the same rows for either
        layout.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, a, b, ...), output (batch, a * b * ...). An input of two axes passes unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> Flatten()(np.zeros((5, 8, 8))).shape
    (5, 64)
    """

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = K.normalize_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=2)

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs with all axes but the batch in one."""
        if self.data_format == "channels_first" and K.ndim(inputs) > 2:
            inputs = K.permute_dimensions(inputs, (0, *range(2, K.ndim(inputs)), 1))
        return K.batch_flatten(inputs)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return (batch, product of the other sizes)."""
        return (input_shape[0], product(input_shape[1:]))


class Reshape(Layer):
    """The numbers of each sample, in order, in another shape.

    Parameters
    ----------
    target_shape : tuple of int
        Shape of a sample, without the batch. One size may be -1: what is left.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `target_shape` has a size that is neither -1 nor above 0, or more than one -1.

    Examples
    --------
    >>> import numpy as np
    >>> Reshape((4, -1))(np.zeros((5, 64))).shape
    (5, 4, 16)
    """

    def __init__(self, target_shape: Iterable[int], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_shape = tuple(int(size) for size in target_shape)
        if self.target_shape.count(-1) > 1 or any(n < 1 and n != -1 for n in self.target_shape):
            raise ArgumentError(
                f"{self.label}: target_shape {self.target_shape}; expected sizes above 0 and at "
                f"most one -1.",
                subject=self,
            )

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs reshaped, sample by sample."""
        sizes = self.compute_output_shape(K.int_shape(inputs))[1:]
        if None not in sizes:
            return K.reshape(inputs, (-1, *sizes))
        return K.reshape(inputs, (K.shape(inputs)[0], *self.target_shape))

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return (batch, target_shape), with -1 worked out where the input's sizes are known.

        Raises
        ------
        ShapeError
            The target holds another number of elements.
        """
        return (input_shape[0], *reshaped_shape(input_shape[1:], self.target_shape, self.label))


class Permute(Layer):
    """The axes of each sample in another order.

    Parameters
    ----------
    dims : tuple of int
        Axis of the input that becomes axis 1, 2, ... of the output. Axes count from 1; the batch
        stays in front.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `dims` is no permutation of 1 to n.

    Examples
    --------
    >>> import numpy as np
    >>> Permute((2, 1))(np.zeros((5, 3, 7))).shape
    (5, 7, 3)
    """

    def __init__(self, dims: Iterable[int], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dims = tuple(int(axis) for axis in dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ArgumentError(
                f"{self.label}: dims {self.dims}; expected the numbers 1 to {len(self.dims)}, each "
                f"once. The batch is axis 0 and not listed.",
                subject=self,
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs with permuted axes."""
        return K.permute_dimensions(inputs, (0, *self.dims))

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's sizes in the order of `dims`."""
        return (input_shape[0], *(input_shape[axis] for axis in self.dims))


class RepeatVector(Layer):
    """Each sample `n` times in a row, as `n` equal time steps.

    Parameters
    ----------
    n : int
        How often.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, features), output (batch, n, features).

    Examples
    --------
    >>> import numpy as np
    >>> RepeatVector(2)(np.array([[1.0, 2.0]])).tolist()
    [[[1.0, 2.0], [1.0, 2.0]]]
    """

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.n = positive_int(n, f"{self.label}: n")
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs: Tensor) -> Tensor:
        """Return the repeated inputs."""
        return K.repeat(inputs, self.n)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return (batch, n, features)."""
        return (input_shape[0], self.n, input_shape[1])
