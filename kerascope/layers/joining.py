"""The two merge layers that do not work element by element: Concatenate and Dot."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape, concatenated_shape, normalize_axis
from kerascope.errors import ArgumentError, DtypeError, ShapeError
from kerascope.layers.merging import _Merge
from kerascope.spellings import changed_habits


class Concatenate(_Merge):
    """Its inputs one after the other along an axis.

    Parameters
    ----------
    axis : int
        Along which they are joined; -1 is the last, the features.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ShapeError
        The inputs differ in another axis.

    Examples
    --------
    >>> import numpy as np
    >>> Concatenate()([np.zeros((5, 3)), np.zeros((5, 4))]).shape
    (5, 7)
    """

    def __init__(self, axis: Any = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if isinstance(axis, Tensor):
            raise DtypeError(
                f"{self.label}: axis is a tensor; expected a number. Put the inputs into a list: "
                "concatenate([x, y])."
            )
        self.axis = int(axis)

    def call(self, inputs: list[Tensor]) -> Tensor:
        """Return the joined inputs."""
        self.compute_output_shape([K.int_shape(x) for x in self.checked_list(inputs)])
        return K.concatenate(inputs, axis=self.axis)

    def compute_output_shape(self, input_shape: list[Shape]) -> Shape:
        """Return the common shape, with the sizes along `axis` added up."""
        shapes = self.checked_list(input_shape)
        if len({len(shape) for shape in shapes}) > 1:
            raise ShapeError(
                f"{self.label}: requires inputs with matching shapes except for the concat axis; "
                f"got {shapes}. Reshape() them to the same number of axes.",
                subject=self,
            )
        axis = normalize_axis(self.axis, len(shapes[0]), f"{self.label}: axis")
        return concatenated_shape(shapes, axis, self.label)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Tensor | None:
        """Return the masks joined along `axis` or, if they do not reach so far, joined by "and".

        With Keras 3's habits, an entry counts if any of its features does.
        """
        masks = list(mask or [])
        ranks = [K.ndim(m) for m in masks if m is not None]
        if not ranks:
            return None
        axis = self.axis % K.ndim(inputs[0])
        if self._ends_masks:
            whole = [_like(x, m) for x, m in zip(inputs, masks, strict=True)]
            return K.any(K.concatenate(whole, axis=axis), axis=-1)
        if axis >= ranks[0]:
            return reduce(K.logical_and, [m for m in masks if m is not None])
        everywhere = range(ranks[0], K.ndim(inputs[0]))
        parts = [
            _all_true(x, everywhere) if m is None else m for x, m in zip(inputs, masks, strict=True)
        ]
        return K.concatenate(parts, axis=axis)


def _like(x: Tensor, mask: Tensor | None) -> Tensor:
    """Return a mask with an entry for each of `x`, as Keras 3 joins them."""
    if mask is None:
        return K.ones_like(x, dtype="bool")
    if K.ndim(mask) == K.ndim(x):
        return mask
    return K.logical_or(K.expand_dims(mask, -1), K.zeros_like(x, dtype="bool"))


def _all_true(x: Tensor, features: Iterable[int]) -> Tensor:
    """Return a mask that masks nothing of `x`: True for everything but the axes of the features."""
    return K.all(K.ones_like(x, dtype="bool"), axis=list(features))


class Dot(_Merge):
    """For each sample the sum of the products of two inputs along one axis of each.

    Parameters
    ----------
    axes : int or pair of int
        Axis of the first and of the second input, not the batch.
    normalize : bool
        Whether the inputs are first divided by their length along these axes: the output is then
        their cosine.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `axes` is neither an int nor a pair of them, or names the batch.
    ShapeError
        The two axes have different sizes.

    Notes
    -----
    Inputs (batch, a, n) and (batch, b, n), axes=2: output (batch, a, b). Of two inputs (batch, n)
    comes (batch, 1).

    Examples
    --------
    >>> import numpy as np
    >>> Dot(axes=1)([np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])]).tolist()
    [[11.0]]
    """

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        pair = axes if isinstance(axes, (list, tuple)) else (axes, axes)
        if len(pair) != 2 or not all(isinstance(axis, int) for axis in pair):
            raise ArgumentError(
                f"{self.label}: axes {axes!r}; expected an int or a pair of ints.", subject=self
            )
        self.axes = tuple(pair) if isinstance(axes, (list, tuple)) else axes
        self.normalize = bool(normalize)

    def call(self, inputs: list[Tensor]) -> Tensor:
        """Return the products, summed along the axes."""
        shapes = [K.int_shape(x) for x in self.checked_list(inputs)]
        self.compute_output_shape(shapes)
        axes = self._axes_for(shapes)
        if self.normalize:
            inputs = [K.l2_normalize(x, axis=axis) for x, axis in zip(inputs, axes, strict=True)]
        with changed_habits(batch_dot_is_outer=True):  # what its output shape has always said
            return K.batch_dot(inputs[0], inputs[1], axes=axes)

    def checked_list(self, items: Any) -> list[Any]:
        """Return the inputs (or their shapes) if they are two.

        Raises
        ------
        ArgumentError
            They are not.
        """
        if len(super().checked_list(items)) != 2:
            raise ArgumentError(
                f"{self.label}: a Dot layer should be called on exactly 2 inputs; got "
                f"{len(items)}.",
                subject=self,
            )
        return items

    def _axes_for(self, shapes: list[Shape]) -> tuple[int, int]:
        """Return the two axes, counted from the front."""
        pair = self.axes if isinstance(self.axes, tuple) else (self.axes, self.axes)
        x_axis, y_axis = (
            normalize_axis(axis, len(shape), f"{self.label}: axes")
            for axis, shape in zip(pair, shapes, strict=True)
        )
        if 0 in (x_axis, y_axis):
            raise ArgumentError(
                f"{self.label}: axes {self.axes}; expected axes other than 0, which counts the "
                f"samples.",
                subject=self,
            )
        return x_axis, y_axis

    def compute_output_shape(self, input_shape: list[Shape]) -> Shape:
        """Return (batch, rest of the first, rest of the second); (batch, 1) where none is left."""
        x, y = shapes = self.checked_list(input_shape)
        x_axis, y_axis = self._axes_for(shapes)
        batch = self.common_batch(shapes)
        if None not in (x[x_axis], y[y_axis]) and x[x_axis] != y[y_axis]:
            raise ShapeError(
                f"{self.label}: dimension incompatibility {x[x_axis]} != {y[y_axis]}: shapes {x} "
                f"and {y} along axes {(x_axis, y_axis)}; expected equal sizes. Choose other axes.",
                subject=self,
            )
        rest = (*x[1:x_axis], *x[x_axis + 1 :], *y[1:y_axis], *y[y_axis + 1 :])
        return (batch, *(rest or (1,)))

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """Return None: the masked axis may be the one that was summed over."""
        return
