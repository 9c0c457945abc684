"""Layers that make one tensor of several, element by element: Add, Multiply and their kin.

Their base `_Merge` says what all of them share: they are called on a list, the samples broadcast
against each other, and an element of the output is masked where one of the inputs is. `merge.py`
adds the functions (`add`, ...) that go with them.

Lesson: the chapter on graphs with branches; `add([x, f(x)])` is the residual block.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape, broadcast_shapes, merge_shapes
from kerascope.engine.base_layer import Layer
from kerascope.errors import ArgumentError, ShapeError


class _Merge(Layer):
    """Base of the layers that are called on a list of tensors.

    A subclass writes `combine`; `Concatenate` and `Dot`, which do not work element by element,
    write `call` themselves.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def combine(self, tensors: list[Tensor]) -> Tensor:
        """Return one tensor of several of the same rank."""
        raise NotImplementedError(f"{type(self).__name__} does not define combine")

    def call(self, inputs: list[Tensor]) -> Tensor:
        """Return the combined inputs."""
        self.compute_output_shape([K.int_shape(x) for x in self.checked_list(inputs)])
        ndim = max(K.ndim(x) for x in inputs)
        return self.combine([_with_axes(x, ndim) for x in inputs])

    def checked_list(self, items: Any) -> list[Any]:
        """Return the inputs (or their shapes) if they are a list of at least two.

        Raises
        ------
        ArgumentError
            They are not.
        """
        if isinstance(items, list) and len(items) >= 2 and not isinstance(items[0], int):
            return items
        came = f"{len(items)}" if isinstance(items, list) else "one tensor"
        raise ArgumentError(
            f"{self.label}: a merge layer should be called on a list of at least 2 inputs; got "
            f"{came}. Call it as layer([x, y]).",
            subject=self,
        )

    def compute_output_shape(self, input_shape: list[Shape]) -> Shape:
        """Return (batch, the samples' shapes broadcast against each other).

        Raises
        ------
        ShapeError
            The shapes do not fit each other.
        """
        shapes = self.checked_list(input_shape)
        batch = self.common_batch(shapes)
        return (batch, *broadcast_shapes(*(shape[1:] for shape in shapes), where=self.label))

    def common_batch(self, shapes: list[Shape]) -> int | None:
        """Return the batch size of all inputs, None if it is not known.

        Raises
        ------
        ShapeError
            Two inputs have different ones.
        """
        batch: Shape | None = (None,)
        for shape in shapes:
            batch = merge_shapes(batch, shape[:1]) if batch is not None else None
        if batch is None:
            raise ShapeError(
                f"{self.label}: can not merge tensors with different batch sizes; got shapes "
                f"{shapes}. Give all of them the same number of samples.",
                subject=self,
            )
        return batch[0]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Tensor | None:
        """Return the masks joined by "and"; None if no input has one.

        With Keras 3's habits they are joined by "or", and an input without a mask ends them.
        """
        masks = [m for m in mask or [] if m is not None]
        if self._ends_masks:
            return reduce(K.logical_or, masks) if masks and len(masks) == len(mask) else None
        return reduce(K.logical_and, masks) if masks else None


def _with_axes(x: Tensor, ndim: int) -> Tensor:
    """Return `x` with axes of size 1 behind the batch, so that it has `ndim`."""
    while K.ndim(x) < ndim:
        x = K.expand_dims(x, 1)
    return x


class Add(_Merge):
    """The sum of its inputs.

    Examples
    --------
    >>> import numpy as np
    >>> Add()([np.array([[1.0, 2.0]]), np.array([[10.0, 20.0]])]).tolist()
    [[11.0, 22.0]]
    """

    def combine(self, tensors: list[Tensor]) -> Tensor:
        """Return x + y + ..."""
        return reduce(operator.add, tensors)


class Subtract(_Merge):
    """The first input minus the second; it takes two."""

    def combine(self, tensors: list[Tensor]) -> Tensor:
        """Return x - y."""
        return tensors[0] - tensors[1]

    def checked_list(self, items: Any) -> list[Any]:
        """Return the inputs (or their shapes) if they are two.

        Raises
        ------
        ArgumentError
            They are not.
        """
        if len(super().checked_list(items)) != 2:
            raise ArgumentError(
                f"{self.label}: a Subtract layer should be called on exactly 2 inputs; got "
                f"{len(items)}.",
                subject=self,
            )
        return items


class _HeedsMasks(_Merge):
    """Base of those that, with Keras 3's habits, leave out what the masks of the inputs leave out.

    A subclass writes `_without_masked` too.
    """

    def _without_masked(self, tensors: list[Tensor], masks: list[Tensor | None]) -> Tensor:
        """Return one tensor of several with masks of (batch, places, 1), of which one is given."""
        raise NotImplementedError(f"{type(self).__name__} does not define _without_masked")

    def call(self, inputs: list[Tensor], mask: Any = None) -> Tensor:
        """Return the combined inputs; an input's place that its mask leaves out has no say."""
        masks = [None if m is None else K.expand_dims(m, -1) for m in mask or []]
        if not self._ends_masks or all(m is None for m in masks):
            return super().call(inputs)
        self.compute_output_shape([K.int_shape(x) for x in self.checked_list(inputs)])
        return self._without_masked(inputs, masks)


def _extreme(
    combine: Callable[[Tensor, Tensor], Tensor], tensors: list[Tensor], masks: list[Tensor | None]
) -> Tensor:
    """Combine what counts; where one of two does not, it takes the value of the other."""
    found, kept = tensors[0], masks[0]
    for x, mask in zip(tensors[1:], masks[1:], strict=True):
        x = x if mask is None else K.switch(mask, x, found)
        found = found if kept is None else K.switch(kept, found, x)
        kept = None if kept is None or mask is None else K.logical_or(kept, mask)
        found = combine(found, x)
    return found


class Multiply(_HeedsMasks):
    """The product of its inputs, element by element."""

    def _without_masked(self, tensors: list[Tensor], masks: list[Tensor | None]) -> Tensor:
        """Return the product with 1 for what is masked, and 0 where all inputs are."""
        pairs = zip(tensors, masks, strict=True)
        kept = [x if m is None else K.switch(m, x, K.ones_like(x)) for x, m in pairs]
        product = self.combine(kept)
        given = [m for m in masks if m is not None]
        if len(given) < len(masks):
            return product
        return K.switch(reduce(K.logical_or, given), product, K.zeros_like(product))

    def combine(self, tensors: list[Tensor]) -> Tensor:
        """Return x * y * ..."""
        return reduce(operator.mul, tensors)


class Average(_Merge):
    """The mean of its inputs."""

    def combine(self, tensors: list[Tensor]) -> Tensor:
        """Return (x + y + ...) / n."""
        return reduce(operator.add, tensors) / len(tensors)


class Maximum(_HeedsMasks):
    """The greatest of its inputs, element by element."""

    def combine(self, tensors: list[Tensor]) -> Tensor:
        """Return max(x, y, ...)."""
        return reduce(K.maximum, tensors)

    def _without_masked(self, tensors: list[Tensor], masks: list[Tensor | None]) -> Tensor:
        """Return the same of what the masks leave."""
        return _extreme(K.maximum, tensors, masks)


class Minimum(_HeedsMasks):
    """The smallest of its inputs, element by element."""

    def combine(self, tensors: list[Tensor]) -> Tensor:
        """Return min(x, y, ...)."""
        return reduce(K.minimum, tensors)

    def _without_masked(self, tensors: list[Tensor], masks: list[Tensor | None]) -> Tensor:
        """Return the same of what the masks leave."""
        return _extreme(K.minimum, tensors, masks)
