"""InputSpec: what a layer expects of an input, and the check of it.

Every layer may state its expectations in `input_spec`; each call is held against them before
anything else happens, so a wrong shape is reported with the layer's name instead of by some op
inside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape, as_shape


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

    def misfit(self, tensor: Tensor) -> str | None:
        """Return in which way a tensor is not as expected, and a remedy; None if it fits."""
        expected = self._expected_rank(tensor.ndim)
        if expected is not None:
            wanted = self.ndim or self.max_ndim or self.min_ndim or 0
            remedy = "Flatten() it first." if tensor.ndim > wanted else "Reshape() it first."
            return f"has {tensor.ndim} axes {tensor.shape}; expected {expected}. {remedy}"
        for axis, size in {**dict(enumerate(self.shape or ())), **self.axes}.items():
            came = tensor.shape[axis]
            if size is not None and came is not None and came != size:
                return (
                    f"has size {came} on axis {axis} of {tensor.shape}; expected {size}, as when "
                    "the layer was built. Use another layer for another size."
                )
        if self.dtype is not None and tensor.dtype != self.dtype:
            return f"is of type {tensor.dtype}; expected {self.dtype}. K.cast() it first."
        return None

    def _expected_rank(self, ndim: int) -> str | None:
        """Return what number of axes is expected in place of this one; None if it fits."""
        if self.ndim is not None and ndim != self.ndim:
            return str(self.ndim)
        if self.max_ndim is not None and ndim > self.max_ndim:
            return f"at most {self.max_ndim}"
        if self.min_ndim is not None and ndim < self.min_ndim:
            return f"at least {self.min_ndim}"
        return None
