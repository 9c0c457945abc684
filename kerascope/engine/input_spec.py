"""`InputSpec` describes the rank, shape and dtype that a layer requires of an input.

The requirements of a layer are in its attribute `input_spec`. Each call checks them first, so that
an error about a wrong shape names the layer instead of an op inside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape, as_shape


class InputSpec:
    """The requirements of one input tensor; None means no requirement.

    Parameters
    ----------
    dtype : str, optional
        Element type.
    shape : tuple of int or None, optional
        Required sizes; None allows any size. It also sets `ndim`.
    ndim, max_ndim, min_ndim : int, optional
        Exact, greatest and smallest number of axes.
    axes : dict of int to int, optional
        Required sizes of single axes: `{-1: 64}`.

    Examples
    --------
    The first call of a Dense sets the size of its inputs:

    >>> from kerascope.layers import Dense, Input
    >>> layer = Dense(1)
    >>> outputs = layer(Input((4,)))
    >>> layer.input_spec
    InputSpec(min_ndim=2, axes={-1: 4})
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

    def misfit(self, tensor: Tensor, which: str = "an input") -> str | None:
        """Return an error text with a remedy if the tensor breaks a requirement; otherwise None."""
        expected = self._expected_rank(tensor.ndim)
        if expected is not None:
            wanted = self.ndim or self.max_ndim or self.min_ndim or 0
            remedy = "Flatten()" if tensor.ndim > wanted else "Reshape()"
            got = f"{tensor.ndim} {tensor.shape}. Add {remedy} before it."
            return f"expected {which} with {expected} axes, got {got}"
        for axis, size in {**dict(enumerate(self.shape or ())), **self.axes}.items():
            came = tensor.shape[axis]
            if size is not None and came is not None and came != size:
                return (
                    f"expected {which} with size {size} on axis {axis}, as at the first call, "
                    f"got {came} in {tensor.shape}. Use another layer for another size."
                )
        if self.dtype is not None and tensor.dtype != self.dtype:
            return f"expected {which} of type {self.dtype}, got {tensor.dtype}. K.cast() it first."
        return None

    def _expected_rank(self, ndim: int) -> str | None:
        """Return the expected number of axes, such as "at least 3"; None if `ndim` is allowed."""
        if self.ndim is not None and ndim != self.ndim:
            return str(self.ndim)
        if self.max_ndim is not None and ndim > self.max_ndim:
            return f"at most {self.max_ndim}"
        if self.min_ndim is not None and ndim < self.min_ndim:
            return f"at least {self.min_ndim}"
        return None
