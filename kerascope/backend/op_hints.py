"""Optional properties of ops that help a compiled function. The defaults are always correct.

An op that sets none of these is computed by its `perform`. See `backend/program/`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from kerascope.backend.arrays import Spec

FIRST_INPUT = ((0, 0),)  # `OpHints.may_share` of most ops that share memory
Kernel = str | Callable[..., None] | None
_Input = TypeVar("_Input")


class OpHints:
    """The base of `Op`: hints that make a compiled program shorter or reduce its memory."""

    ufunc: ClassVar[np.ufunc | None] = None  # `perform` is one call of this ufunc
    is_view: ClassVar[bool] = False  # `perform` returns a view of the first input
    is_pure: ClassVar[bool] = True  # equal inputs give equal outputs, without side effects
    may_refuse: ClassVar[bool] = False  # `perform` may raise because of values
    needs_only_shapes: ClassVar[bool] = False  # the values of its inputs do not matter
    is_exact: ClassVar[bool] = False  # elementwise, rounded only once

    @property
    def inputs_read_by_shape(self) -> frozenset[int]:
        """The indices of the inputs whose shapes `perform` reads, but not their values."""
        return frozenset()

    def numbers_read(self, inputs: Sequence[_Input]) -> list[_Input]:
        """Return those of `inputs` (tensors or slots) of which `perform` reads more than shapes."""
        by_shape = self.inputs_read_by_shape
        return [x for number, x in enumerate(inputs) if number not in by_shape]

    def may_share(
        self, inputs: Sequence[Spec], outputs: Sequence[Spec]
    ) -> Collection[tuple[int, int]]:
        """Return which outputs of `perform` may share memory with which inputs.

        This includes an output that is the input itself. Without a declaration, a compiled function
        assumes that an output has its own memory: it may reuse the input's memory while the output
        is read.

        Parameters
        ----------
        inputs, outputs : sequence of Spec
            The shapes and dtypes of the arrays.

        Returns
        -------
        collection of (int, int)
            Pairs (output, input), both numbered from 0.

        Examples
        --------
        >>> from kerascope.backend.ops.shaping import Reshape, Transpose
        >>> spec = Spec((2, 3), np.dtype("float32"))
        >>> Transpose((1, 0)).may_share([spec], [spec]), Reshape((6,)).may_share([spec], [spec])
        (((0, 0),), ((0, 0),))
        """
        return FIRST_INPUT if self.is_view else ()

    def kernel(self, inputs: Sequence[Spec], outputs: Sequence[Spec]) -> Kernel:
        """Return code that computes the op into given arrays of these shapes, or None by default.

        A compiled function calls it instead of `perform`, with output memory that is reused in
        every call. The code must give the same results bit for bit, and never write into an input.

        Parameters
        ----------
        inputs, outputs : sequence of Spec
            The shapes and dtypes of the arrays.

        Returns
        -------
        str or callable or None
            A NumPy call as text, such as "np.dot({0}, {1}, {out})" or "np.maximum({0}, 0, {out})";
            or a function of (out, *inputs), which may allocate working memory of its own. For
            several outputs, `out` is a tuple of arrays.
        """
        return None

    def leaner(self, wanted: Sequence[int]) -> Any:
        """Return an op that computes only the outputs with these indices, or None if unsupported.

        A compiled function uses this op if the other outputs are not read. The results must stay
        the same bit for bit.
        """
        return None
