"""The discrete Fourier transform; real and imaginary parts are separate tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.backend.graph import Op, Tensor, parametric
from kerascope.backend.types import Gradients, Tensors

__all__: list[str] = []  # K exports none of these functions


@parametric
class Fourier(Op):
    """The Fourier transform along axes: result[k] = sum over j of x[j] * exp(-2 pi i j k / n).

    If `inverse`, the sign of the exponent is plus, and the sum is not divided by n. Both inputs and
    outputs are a real and an imaginary part. The gradient is the inverse transform of the output
    gradients.
    """

    axes: tuple[int, ...]
    inverse: bool = False
    n_outputs = 2

    def infer_shape(self, real: Tensor, imaginary: Tensor) -> Any:
        return real.shape, real.shape

    def infer_dtype(self, real: Tensor, imaginary: Tensor) -> Any:
        return real.dtype, real.dtype

    def perform(self, real: np.ndarray, imaginary: np.ndarray) -> Any:
        function: Any = np.fft.ifftn if self.inverse else np.fft.fftn
        x = real.astype("float64") + 1j * imaginary
        found = function(x, axes=self.axes, norm="forward" if self.inverse else "backward")
        return found.real.astype(real.dtype), found.imag.astype(real.dtype)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return Fourier(self.axes, not self.inverse)(*output_grads)
