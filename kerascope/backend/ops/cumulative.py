"""Running sums and products: `K.cumsum` and `K.cumprod` apply these ops."""

from __future__ import annotations

import numpy as np

from kerascope.backend.graph import Op, parametric

__all__: list[str] = []


@parametric
class CumulativeSum(Op):
    """At each place along `axis` the sum up to it, or, from the end, the sum from it on."""

    axis: int
    from_end: bool = False

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        if not self.from_end:
            return np.cumsum(x, self.axis, dtype=x.dtype)
        sums = np.empty(x.shape, x.dtype)
        np.cumsum(np.flip(x, self.axis), self.axis, out=np.flip(sums, self.axis))
        return sums

    def kernel(self, inputs, outputs):
        turned = f"[{':, ' * self.axis}::-1]" if self.from_end else ""
        return f"np.add.accumulate({{0}}{turned}, {self.axis}, None, {{out}}{turned})"

    def grad(self, inputs, outputs, output_grads):
        return [CumulativeSum(self.axis, not self.from_end)(output_grads[0])]


@parametric
class CumulativeProduct(Op):
    """At each place along `axis` the product up to it; its gradient wants elements other than 0."""

    axis: int

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        return np.cumprod(x, self.axis, dtype=x.dtype)

    def kernel(self, inputs, outputs):
        return f"np.multiply.accumulate({{0}}, {self.axis}, None, {{out}})"

    def grad(self, inputs, outputs, output_grads):
        return [CumulativeSum(self.axis, True)(output_grads[0] * outputs[0]) / inputs[0]]
