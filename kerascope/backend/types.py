"""Type aliases for the signatures of ops and K functions."""

from __future__ import annotations

from collections.abc import Sequence

from kerascope.backend.arrays import Spec
from kerascope.backend.graph import Tensor, TensorLike
from kerascope.backend.op_hints import Kernel
from kerascope.backend.shapes import Axes, Shape, Size

__all__ = [
    "Axes",
    "Gradients",
    "Kernel",
    "Shape",
    "Size",
    "Spec",
    "Specs",
    "Tensor",
    "TensorLike",
    "Tensors",
]

Tensors = Sequence[Tensor]
Gradients = Sequence[Tensor | None]  # for the inputs of an op; None without a gradient
Specs = Sequence[Spec]
