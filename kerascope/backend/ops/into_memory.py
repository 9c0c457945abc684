"""Base class of ops that write their result into a given array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope.backend.graph import Op
from kerascope.backend.types import Kernel, Spec


class IntoMemory(Op):
    """Base class of ops whose kernel is a function (out, *inputs), which `perform` also calls.

    A subclass defines `compute`, or a `kernel` that depends on the shapes of the inputs.
    """

    def compute(self, out: np.ndarray, *arrays: Any) -> None:
        """Compute the result into `out`."""
        raise NotImplementedError(f"op {type(self).__name__}: define compute() or kernel().")

    def kernel(self, inputs: Sequence[Spec], outputs: Sequence[Spec]) -> Kernel:
        """Return the function (out, *inputs) for inputs of these shapes: by default, `compute`."""
        return self.compute

    def perform(self, *arrays: Any) -> Any:
        """Compute the result into a new array."""
        out = np.empty(self.infer_shape(*arrays), self.infer_dtype(*arrays))
        compute: Any = self.kernel(
            [Spec(x.shape, x.dtype) for x in arrays], [Spec(out.shape, out.dtype)]
        )
        compute(out, *arrays)
        return out
