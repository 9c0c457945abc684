"""The types in the signatures of ops and of K's functions."""

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
Gradients = Sequence[Tensor | None]  # of an op's inputs; None where none flows
Specs = Sequence[Spec]
