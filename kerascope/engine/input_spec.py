"""InputSpec: what a layer expects of an input, and the check of it.

Every layer may state its expectations in `input_spec`; each call is held against them before
anything else happens, so a wrong shape is reported with the layer's name instead of by some op
inside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape, as_shape
from kerascope.errors import ArgumentError, ShapeError

if TYPE_CHECKING:
    from kerascope.engine.base_layer import Layer


class InputSpec:
    """Expectations about one input tensor; whatever is None is free.

    Parameters
    ----------
    dtype : str, optional
        Element type.
    shape : tuple of int or None, optional
        Sizes; None is free. Implies `ndim`.
    ndim, max_ndim, min_ndim : int, optional
        Number of axes, at most, at least.
    axes : dict of int to int, optional
        Size of single axes: `{-1: 64}`.
    """

    def __init__(
        self,
        dtype: str | None = None,
        shape: Iterable[int | None] | None = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: Mapping[int, int | None] | None = None,
    ) -> None:
        self.dtype = dtype
        self.shape: Shape | None = None if shape is None else as_shape(shape)
        self.ndim = ndim if self.shape is None else len(self.shape)
        self.max_ndim = max_ndim
        self.min_ndim = min_ndim
        self.axes = dict(axes or {})

    def __repr__(self) -> str:
        stated = [f"{name}={value!r}" for name, value in vars(self).items() if value]
        return f"InputSpec({', '.join(stated)})"


def check_inputs(layer: Layer, inputs: Sequence[Any]) -> None:
    """Hold the inputs of a call against the layer's `input_spec`.

    Raises
    ------
    ShapeError
        One does not fit.
    ArgumentError
        The layer expects another number of inputs.
    """
    if not layer.input_spec:
        return
    specs = layer.input_spec if isinstance(layer.input_spec, (list, tuple)) else [layer.input_spec]
    if len(specs) != len(inputs):
        raise ArgumentError(
            f"{layer.label}: {len(inputs)} inputs came; expected {len(specs)}.", subject=layer
        )
    for index, (tensor, spec) in enumerate(zip(inputs, specs, strict=True)):
        if spec is not None:
            which = "input" if len(specs) == 1 else f"input {index}"
            _check_rank(layer, which, tensor, spec)
            _check_sizes(layer, which, tensor, spec)
            _check_dtype(layer, which, tensor, spec)


def _check_rank(layer: Layer, which: str, tensor: Tensor, spec: InputSpec) -> None:
    expected = None
    if spec.ndim is not None and tensor.ndim != spec.ndim:
        expected = str(spec.ndim)
    elif spec.max_ndim is not None and tensor.ndim > spec.max_ndim:
        expected = f"at most {spec.max_ndim}"
    elif spec.min_ndim is not None and tensor.ndim < spec.min_ndim:
        expected = f"at least {spec.min_ndim}"
    if expected is None:
        return
    wanted = spec.ndim or spec.max_ndim or spec.min_ndim or 0
    remedy = "Flatten() it first." if tensor.ndim > wanted else "Reshape() it first."
    raise ShapeError(
        f"{layer.label}: {which} has {tensor.ndim} axes {tensor.shape}; expected {expected}. "
        f"{remedy}",
        subject=layer,
    )


def _check_sizes(layer: Layer, which: str, tensor: Tensor, spec: InputSpec) -> None:
    wanted = dict(enumerate(spec.shape)) if spec.shape is not None else {}
    for axis, size in {**wanted, **spec.axes}.items():
        came = tensor.shape[axis]
        if size is not None and came is not None and came != size:
            raise ShapeError(
                f"{layer.label}: {which} has size {came} on axis {axis} of {tensor.shape}; "
                f"expected {size}, as when the layer was built. Use another layer for another "
                "size.",
                subject=layer,
            )


def _check_dtype(layer: Layer, which: str, tensor: Tensor, spec: InputSpec) -> None:
    if spec.dtype is not None and tensor.dtype != spec.dtype:
        raise ShapeError(
            f"{layer.label}: {which} is of type {tensor.dtype}; expected {spec.dtype}. K.cast() it "
            "first.",
            subject=layer,
        )
