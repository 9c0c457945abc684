"""Layers that combine several tensors into one: Add, Multiply, Concatenate, Dot and others.

These layers are derived from `_Merge`: they are called on a list of tensors, broadcast shapes, and
mask an element of the output if it is masked in any of the inputs. For each layer there is a
function that makes the layer and calls it: `add([x, y])`.

Keras 1 has one function `layers.merge([x, y], mode="sum")` and one layer `Merge`. Keras 2 has a
layer and a function for each mode, in the *module* `layers.merge`. Both ways work here: this module
contains Keras 2's names, and the module itself is callable.

Lesson: the chapter on graphs with branches; `add([x, f(x)])` is the residual block.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from types import ModuleType
from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor, TensorLike
from kerascope.backend.shapes import (
    Shape,
    broadcast_shapes,
    concatenated_shape,
    merge_shapes,
    normalize_axis,
)
from kerascope.engine.base_layer import Layer
from kerascope.engine.keras1.layer import outputs_of
from kerascope.engine.layer_type import LayerType
from kerascope.engine.sequential import Branches
from kerascope.errors import ArgumentError, DtypeError, ShapeError, SpellingWarning
from kerascope.layers.arguments import Masks, Tensors
from kerascope.layers.core import Lambda
from kerascope.registry import did_you_mean
from kerascope.spellings import override_dialect
from kerascope.user_frames import warn

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


# --- element by element ---------------------------------------------------------------------------


class _Merge(Layer):
    """Base class of the layers that combine a list of tensors.

    A subclass defines `combine`. `Concatenate` and `Dot`, which do not work element by element,
    define `call`.
    """

    _takes_two = False  # whether it takes exactly two inputs

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def combine(self, tensors: list[Tensor]) -> Tensor:
        """Combine tensors with the same number of axes; a subclass must define this method."""
        raise NotImplementedError(f"{type(self).__name__} must define combine(tensors).")

    def call(self, inputs: list[Tensor]) -> Tensor:
        """Return the combined inputs."""
        self.compute_output_shape([K.int_shape(x) for x in self.checked_list(inputs)])
        ndim = max(K.ndim(x) for x in inputs)
        return self.combine([_with_axes(x, ndim) for x in inputs])

    def checked_list(self, items: Any) -> list[Any]:
        """Return the list of inputs (or of their shapes) after a check of its length.

        Raises
        ------
        ArgumentError
            The inputs are not a list, or the layer does not accept this number of inputs.
        """
        if not isinstance(items, list) or len(items) < 2 or isinstance(items[0], int):
            came = f"{len(items)}" if isinstance(items, list) else "one tensor"
            raise ArgumentError(
                f"{self.label}: a merge layer should be called on a list of at least 2 inputs, got "
                f"{came}. Call it as layer([x, y]).",
                subject=self,
            )
        if self._takes_two and len(items) != 2:
            raise ArgumentError(
                f"{self.label}: a {type(self).__name__} layer should be called on exactly 2 "
                f"inputs, got {len(items)}.",
                subject=self,
            )
        return items

    def compute_output_shape(self, input_shape: list[Shape]) -> Shape:
        """Return the output shape: the batch size and the broadcast shape of the samples.

        Raises
        ------
        ShapeError
            The shapes cannot be broadcast.
        """
        shapes = self.checked_list(input_shape)
        batch = self.common_batch(shapes)
        return (batch, *broadcast_shapes(*(shape[1:] for shape in shapes), where=self.label))

    def common_batch(self, shapes: list[Shape]) -> int | None:
        """Return the common batch size of the inputs, or None if it is not known.

        Raises
        ------
        ShapeError
            Two inputs have different batch sizes.
        """
        batch: Shape | None = (None,)
        for shape in shapes:
            batch = merge_shapes(batch, shape[:1]) if batch is not None else None
        if batch is None:
            raise ShapeError(
                f"{self.label}: can not merge tensors with different batch sizes, got shapes "
                f"{shapes}. Give all of them the same number of samples.",
                subject=self,
            )
        return batch[0]

    def compute_mask(self, inputs: Tensors, mask: Any = None) -> Tensor | None:
        """Return the logical and of the inputs' masks; None if no input has a mask.

        In dialect "3", return the logical or of the masks; None if any input has no mask.
        """
        masks = [m for m in mask or [] if m is not None]
        if self._ends_masks:
            return reduce(K.logical_or, masks) if masks and len(masks) == len(mask) else None
        return reduce(K.logical_and, masks) if masks else None


def _with_axes(x: Tensor, ndim: int) -> Tensor:
    """Return `x` with axes of size 1 inserted after the batch, so that it has `ndim` axes."""
    while K.ndim(x) < ndim:
        x = K.expand_dims(x, 1)
    return x


class Add(_Merge):
    """Adds its inputs, element by element.

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
    """Subtracts the second of two inputs from the first.

    Examples
    --------
    >>> import numpy as np
    >>> Subtract()([np.array([[1.0, 5.0]]), np.array([[3.0, 2.0]])]).tolist()
    [[-2.0, 3.0]]
    """

    _takes_two = True

    def combine(self, tensors: list[Tensor]) -> Tensor:
        """Return x - y."""
        return tensors[0] - tensors[1]


class Average(_Merge):
    """Averages its inputs, element by element.

    Examples
    --------
    >>> import numpy as np
    >>> Average()([np.array([[1.0, 5.0]]), np.array([[3.0, 2.0]])]).tolist()
    [[2.0, 3.5]]
    """

    def combine(self, tensors: list[Tensor]) -> Tensor:
        """Return (x + y + ...) / n."""
        return reduce(operator.add, tensors) / len(tensors)


class _MaskAware(_Merge):
    """Base class of merge layers that ignore masked entries of their inputs in dialect "3".

    A subclass also defines `_combine_unmasked`, which combines the other entries.
    """

    def _combine_unmasked(self, tensors: list[Tensor], masks: list[Tensor | None]) -> Tensor:
        """Return the combination of the unmasked entries of tensors.

        Each item of `masks` is None or has the shape (batch, positions, 1). At least one is not
        None.
        """
        raise NotImplementedError(f"{type(self).__name__} must define _combine_unmasked(...).")

    def call(self, inputs: list[Tensor], mask: Masks = None) -> Tensor:
        """Return the combined inputs. In dialect "3", masked entries are ignored."""
        masks = [None if m is None else K.expand_dims(m, -1) for m in mask or []]
        if not self._ends_masks or all(m is None for m in masks):
            return super().call(inputs)
        self.compute_output_shape([K.int_shape(x) for x in self.checked_list(inputs)])
        return self._combine_unmasked(inputs, masks)


class Multiply(_MaskAware):
    """Multiplies its inputs, element by element.

    Examples
    --------
    >>> import numpy as np
    >>> Multiply()([np.array([[1.0, 5.0]]), np.array([[3.0, 2.0]])]).tolist()
    [[3.0, 10.0]]
    """

    def _combine_unmasked(self, tensors: list[Tensor], masks: list[Tensor | None]) -> Tensor:
        """Return the product of the unmasked entries. It is 0 where all inputs are masked."""
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


class Maximum(_MaskAware):
    """Returns the maximum of its inputs, element by element.

    Examples
    --------
    >>> import numpy as np
    >>> Maximum()([np.array([[1.0, 5.0]]), np.array([[3.0, 2.0]])]).tolist()
    [[3.0, 5.0]]
    """

    def combine(self, tensors: list[Tensor]) -> Tensor:
        """Return max(x, y, ...)."""
        return reduce(K.maximum, tensors)

    def _combine_unmasked(self, tensors: list[Tensor], masks: list[Tensor | None]) -> Tensor:
        """Return the maximum of the unmasked entries."""
        return _extreme(K.maximum, tensors, masks)


class Minimum(_MaskAware):
    """Returns the minimum of its inputs, element by element.

    Examples
    --------
    >>> import numpy as np
    >>> Minimum()([np.array([[1.0, 5.0]]), np.array([[3.0, 2.0]])]).tolist()
    [[1.0, 2.0]]
    """

    def combine(self, tensors: list[Tensor]) -> Tensor:
        """Return min(x, y, ...)."""
        return reduce(K.minimum, tensors)

    def _combine_unmasked(self, tensors: list[Tensor], masks: list[Tensor | None]) -> Tensor:
        """Return the minimum of the unmasked entries."""
        return _extreme(K.minimum, tensors, masks)


def _extreme(
    combine: Callable[[Tensor, Tensor], Tensor], tensors: list[Tensor], masks: list[Tensor | None]
) -> Tensor:
    """Return the maximum of the unmasked entries; the minimum if `combine` is K.minimum."""
    found, kept = tensors[0], masks[0]
    for x, mask in zip(tensors[1:], masks[1:], strict=True):
        x = x if mask is None else K.switch(mask, x, found)
        found = found if kept is None else K.switch(kept, found, x)
        kept = None if kept is None or mask is None else K.logical_or(kept, mask)
        found = combine(found, x)
    return found


# --- not element by element -----------------------------------------------------------------------


class Concatenate(_Merge):
    """Joins its inputs along an axis.

    Parameters
    ----------
    axis : int
        Axis to join along; -1 is the last, the features.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ShapeError
        The sizes of the inputs differ along an axis other than `axis`.

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
                f"{self.label}: expected a number for axis, got a tensor. Put the inputs into a "
                "list: concatenate([x, y])."
            )
        self.axis = int(axis)

    def call(self, inputs: list[Tensor]) -> Tensor:
        """Return the joined inputs."""
        self.compute_output_shape([K.int_shape(x) for x in self.checked_list(inputs)])
        return K.concatenate(inputs, axis=self.axis)

    def compute_output_shape(self, input_shape: list[Shape]) -> Shape:
        """Return the common shape of the inputs, with the sum of their sizes along `axis`."""
        shapes = self.checked_list(input_shape)
        if len({len(shape) for shape in shapes}) > 1:
            raise ShapeError(
                f"{self.label}: requires inputs with matching shapes except for the concat axis, "
                f"got {shapes}. Reshape() them to the same number of axes.",
                subject=self,
            )
        axis = normalize_axis(self.axis, len(shapes[0]), f"{self.label}: axis")
        return concatenated_shape(shapes, axis, self.label)

    def compute_mask(self, inputs: Tensors, mask: Any = None) -> Tensor | None:
        """Return the concatenated masks; None if no input has a mask.

        If the masks do not have the axis `axis`, return their logical and instead. In dialect "3",
        masks are broadcast to the shapes of their inputs first, and a position of the output is
        unmasked if any of its features is unmasked.
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
    """Return a mask broadcast to the shape of `x`; all True if the mask is None, as in Keras 3."""
    if mask is None:
        return K.ones_like(x, dtype="bool")
    if K.ndim(mask) == K.ndim(x):
        return mask
    return K.logical_or(K.expand_dims(mask, -1), K.zeros_like(x, dtype="bool"))


def _all_true(x: Tensor, features: Iterable[int]) -> Tensor:
    """Return a mask of True whose shape is that of `x` without the axes in `features`."""
    return K.all(K.ones_like(x, dtype="bool"), axis=list(features))


class Dot(_Merge):
    """The dot product of two inputs for each sample, along one axis of each.

    Parameters
    ----------
    axes : int or pair of int
        Axis of the first and of the second input, not the batch.
    normalize : bool
        Whether the inputs are first divided by their Euclidean norm along these axes. The output is
        then their cosine similarity.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `axes` is neither an int nor a pair of ints, or contains 0, the batch axis.
    ShapeError
        The sizes of the two axes differ.

    Notes
    -----
    Inputs (batch, a, n) and (batch, b, n), axes=2: output (batch, a, b). Two inputs (batch, n) give
    (batch, 1).

    Examples
    --------
    >>> import numpy as np
    >>> Dot(axes=1)([np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])]).tolist()
    [[11.0]]
    """

    _takes_two = True

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        pair = axes if isinstance(axes, (list, tuple)) else (axes, axes)
        if len(pair) != 2 or not all(isinstance(axis, int) for axis in pair):
            raise ArgumentError(
                f"{self.label}: expected axes of one or two ints, got {axes!r}.", subject=self
            )
        self.axes = tuple(pair) if isinstance(axes, (list, tuple)) else axes
        self.normalize = bool(normalize)

    def call(self, inputs: list[Tensor]) -> Tensor:
        """Return the products of the two inputs, summed along the axes."""
        shapes = [K.int_shape(x) for x in self.checked_list(inputs)]
        self.compute_output_shape(shapes)
        axes = self._axes_for(shapes)
        if self.normalize:
            inputs = [K.l2_normalize(x, axis=axis) for x, axis in zip(inputs, axes, strict=True)]
        with override_dialect(batch_dot_is_outer=True):  # as in `compute_output_shape`
            return K.batch_dot(inputs[0], inputs[1], axes=axes)

    def _axes_for(self, shapes: list[Shape]) -> tuple[int, int]:
        """Return the axis of each input, with negative axes converted to positive ones."""
        pair = self.axes if isinstance(self.axes, tuple) else (self.axes, self.axes)
        x_axis, y_axis = (
            normalize_axis(axis, len(shape), f"{self.label}: axes")
            for axis, shape in zip(pair, shapes, strict=True)
        )
        if 0 in (x_axis, y_axis):
            raise ArgumentError(
                f"{self.label}: expected axes other than 0, which counts the samples, got "
                f"{self.axes}.",
                subject=self,
            )
        return x_axis, y_axis

    def compute_output_shape(self, input_shape: list[Shape]) -> Shape:
        """Return the output shape: (batch, remaining sizes of input 1, remaining sizes of input 2).

        The remaining axes are neither the batch nor summed along. Without any, it is (batch, 1).
        """
        x, y = shapes = self.checked_list(input_shape)
        x_axis, y_axis = self._axes_for(shapes)
        batch = self.common_batch(shapes)
        if None not in (x[x_axis], y[y_axis]) and x[x_axis] != y[y_axis]:
            raise ShapeError(
                f"{self.label}: dimension incompatibility {x[x_axis]} != {y[y_axis]}: expected "
                f"equal sizes along axes {(x_axis, y_axis)}, got {x} and {y}. Choose others.",
                subject=self,
            )
        rest = (*x[1:x_axis], *x[x_axis + 1 :], *y[1:y_axis], *y[y_axis + 1 :])
        return (batch, *(rest or (1,)))

    def compute_mask(self, inputs: Tensors, mask: Masks = None) -> None:
        """Return None, because the sum may have removed the axis of the mask."""
        return


# --- functions ------------------------------------------------------------------------------------


def add(inputs: Sequence[TensorLike], **kwargs: Any) -> Any:
    """Return the sum of tensors, element by element: `Add(**kwargs)(inputs)`.

    Examples
    --------
    >>> from kerascope.layers import Input
    >>> add([Input((4,)), Input((4,))]).shape
    (None, 4)
    """
    return Add(**kwargs)(inputs)


def subtract(inputs: Sequence[TensorLike], **kwargs: Any) -> Any:
    """Return the first tensor minus the second."""
    return Subtract(**kwargs)(inputs)


def multiply(inputs: Sequence[TensorLike], **kwargs: Any) -> Any:
    """Return the product of tensors, element by element."""
    return Multiply(**kwargs)(inputs)


def average(inputs: Sequence[TensorLike], **kwargs: Any) -> Any:
    """Return the mean of tensors, element by element."""
    return Average(**kwargs)(inputs)


def maximum(inputs: Sequence[TensorLike], **kwargs: Any) -> Any:
    """Return the maximum of tensors, element by element."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs: Sequence[TensorLike], **kwargs: Any) -> Any:
    """Return the minimum of tensors, element by element."""
    return Minimum(**kwargs)(inputs)


def concatenate(inputs: Sequence[TensorLike], axis: int = -1, **kwargs: Any) -> Any:
    """Return tensors joined along an axis."""
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs: Sequence[TensorLike], axes: Any, normalize: bool = False, **kwargs: Any) -> Any:
    """Return the dot product of two tensors for each sample, along one axis of each."""
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
    """Return the Keras 2 layer for a mode of Keras 1, such as Add for "sum".

    If the mode is a function, the layer is a Lambda.

    Raises
    ------
    ArgumentError
        The mode is neither a function nor the name of a mode.
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


class _MergeType(LayerType):
    """Metaclass of `Merge`: a call of `Merge` returns the Keras 2 layer, not a `Merge`.

    A call of a subclass returns an instance of the subclass.
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)
        return made._of_today() if type(made) is Merge else made


class Merge(_Merge, metaclass=_MergeType):
    """Keras 1's layer of several modes: `Merge(mode="sum")` is an `Add`, and so on.

    Parameters
    ----------
    layers : list of Layer, optional
        Layers or models. If they are given, the new layer is called on their outputs.
    mode : {"sum", "mul", "ave", "max", "concat", "dot", "cos"} or callable
        How to combine the inputs: as by Add, Multiply, Average, Maximum, Concatenate, Dot,
        Dot(normalize=True) or, for a callable, Lambda.
    concat_axis : int
        Axis to join along, in mode "concat".
    dot_axes : int or pair of int
        Axes of the products, in modes "dot" and "cos".
    output_shape, output_mask, arguments
        If `mode` is a callable: `output_shape`, `mask` and `arguments` of the Lambda.
    node_indices, tensor_indices : list of int, optional
        For each of `layers`: the index of its call, and the index of the output of that call.
        Default: 0.
    name : str, optional

    Warns
    -----
    SpellingWarning
        Always. The warning names the Keras 2 layer.

    Notes
    -----
    A derived class may define `call` itself.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     layer = Merge(mode="max")
    >>> type(layer).__name__, str(caught[0].message)
    ('Maximum', "Merge: mode 'max' is Keras 1's word; today it is the layer Maximum.")
    """

    _is_part = True

    def __init__(
        self,
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
    ) -> None:
        of_function = {"output_shape": output_shape, "mask": output_mask, "arguments": arguments}
        is_derived = type(self) is not Merge
        own_name = "merging" if is_derived else name
        self._merging = _layer_of_mode(mode, concat_axis, dot_axes, own_name, **of_function)
        super().__init__(name=name if is_derived else self._merging.name)
        self._places = layers or [], node_indices or [], tensor_indices or []
        self.mode = mode
        if is_derived and layers:
            self._call_on_places(self)

    def _of_today(self) -> Layer:
        layer = self._merging
        word, today = getattr(self.mode, "__name__", self.mode), type(layer).__name__
        warn(
            f"Merge: mode {word!r} is Keras 1's word; today it is the layer {today}.",
            SpellingWarning,
        )
        if self._places[0]:
            self._call_on_places(layer)
        return layer

    def _call_on_places(self, layer: Any) -> None:
        layers, nodes, tensors = self._places
        layer(outputs_of(layers, nodes, tensors))
        if not any([*nodes, *tensors]):
            layer._branches = Branches(list(layers))

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """Return the inputs merged according to the mode."""
        return self._merging(inputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the output shape for a list of input shapes."""
        return self._merging.compute_output_shape(input_shape)


class _CallableModule(ModuleType):
    """Class of the module `merge`: calling the module calls the function `merge` of Keras 1."""

    def __call__(self, inputs: list[Any], mode: Any = "sum", **kwargs: Any) -> Any:
        """Return `merge(inputs, mode)`."""
        return merge(inputs, mode, **kwargs)


def merge(inputs: list[Any], mode: Any = "sum", **kwargs: Any) -> Any:
    """Return tensors (or the outputs of layers) merged by `mode`; parameters as for `Merge`."""
    layer = Merge(mode=mode, **kwargs)
    tensors = [x.output if isinstance(x, Layer) else x for x in inputs]
    return layer(tensors)


sys.modules[__name__].__class__ = _CallableModule
