"""What a compiled function may ask of an op: each answer has a default, which is always right.

An op that defines none of this computes by its `perform`. See `backend/program/`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from kerascope.backend.arrays import Spec

FIRST_INPUT = ((0, 0),)  # what `OpHints.may_share` says of most ops that share anything
Kernel = str | Callable[..., None] | None
_Input = TypeVar("_Input")


class OpHints:
    """The base of `Op`: by what its program becomes shorter, or takes less memory."""

    ufunc: ClassVar[np.ufunc | None] = None  # `perform` is one call of it on the inputs
    is_view: ClassVar[bool] = False  # `perform` returns the first input's own memory
    is_pure: ClassVar[bool] = True  # the same inputs give the same output, and nothing else happens
    may_refuse: ClassVar[bool] = False  # some numbers make it raise, whatever their shapes
    needs_only_shapes: ClassVar[bool] = False  # of its inputs; their numbers do not matter
    is_exact: ClassVar[bool] = False  # each element is rounded once, from those at its place

    @property
    def inputs_read_by_shape(self) -> frozenset[int]:
        """Which inputs, from 0, count by their shape alone: their memory may be used again."""
        return frozenset()

    def numbers_read(self, inputs: Sequence[_Input]) -> list[_Input]:
        """Return those of the inputs, be they tensors or slots, whose numbers count."""
        by_shape = self.inputs_read_by_shape
        return [x for number, x in enumerate(inputs) if number not in by_shape]

    def may_share(
        self, inputs: Sequence[Spec], outputs: Sequence[Spec]
    ) -> Collection[tuple[int, int]]:
        """Return which outputs `perform` may leave in the memory of which inputs.

        An output that simply is an input counts, too. What is not declared lies in memory of its
        own: a compiled function may then use the input's memory again while the output is read.

        Parameters
        ----------
        inputs, outputs : sequence of Spec
            The shapes and types of the arrays.

        Returns
        -------
        collection of (int, int)
            Pairs of an output and an input, both by number from 0.

        Examples
        --------
        >>> from kerascope.backend.ops.shaping import Reshape, Transpose
        >>> spec = Spec((2, 3), np.dtype("float32"))
        >>> Transpose((1, 0)).may_share([spec], [spec]), Reshape((6,)).may_share([spec], [spec])
        (((0, 0),), ((0, 0),))
        """
        return FIRST_INPUT if self.is_view else ()

    def kernel(self, inputs: Sequence[Spec], outputs: Sequence[Spec]) -> Kernel:
        """Return what computes into given arrays, for arrays of these shapes; None if nothing can.

        A compiled function calls it in place of `perform`, and gives it memory that it uses again
        and again. It must compute the same numbers bit for bit, and never write into an input.

        Parameters
        ----------
        inputs, outputs : sequence of Spec
            The shapes and types of the arrays that will come.

        Returns
        -------
        str or callable or None
            A NumPy call as text, such as "np.dot({0}, {1}, {out})" or "np.maximum({0}, 0, {out})";
            or a function of (out, *inputs), which may own what room it needs besides. For several
            outputs, `out` is a tuple of arrays.
        """
        return None

    def leaner(self, wanted: Sequence[int]) -> Any:
        """Return an op that gives only some of this op's outputs, by number; None if there is none.

        A compiled function asks for it where nobody reads the others. The numbers stay the same bit
        for bit.
        """
        return None
