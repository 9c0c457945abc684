"""Ops that compute into memory which they are given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope.backend.graph import Op
from kerascope.backend.types import Kernel, Spec


class IntoMemory(Op):
    """An op whose kernel is always a function of (out, *inputs), by which it performs too.

    A subclass says `compute`, or a kernel for arrays of certain shapes.
    """

    def compute(self, out: np.ndarray, *arrays: Any) -> None:
        """Compute into an array."""
        raise NotImplementedError(f"op {type(self).__name__} does not define compute")

    def kernel(self, inputs: Sequence[Spec], outputs: Sequence[Spec]) -> Kernel:
        """Return what computes for all shapes."""
        return self.compute

    def perform(self, *arrays: Any) -> Any:
        """Compute into new memory."""
        out = np.empty(self.infer_shape(*arrays), self.infer_dtype(*arrays))
        compute: Any = self.kernel(
            [Spec(x.shape, x.dtype) for x in arrays], [Spec(out.shape, out.dtype)]
        )
        compute(out, *arrays)
        return out
