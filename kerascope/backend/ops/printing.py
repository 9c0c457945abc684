"""A tensor that prints itself when its numbers are there."""

from __future__ import annotations

import sys

from kerascope.backend.graph import FIRST_INPUT, Op, as_tensor, parametric

__all__ = ["print_tensor"]


@parametric
class PrintTensor(Op):
    """`x` itself; each time it is computed a line with the message and the numbers is printed."""

    message: str
    is_pure = False

    def infer_shape(self, x):
        return x.shape

    def may_share(self, inputs, outputs):
        return FIRST_INPUT

    def perform(self, x):
        sys.stdout.write(f"{self.message}{x}\n")
        return x

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0]]


def print_tensor(x, message=""):
    """Return a tensor like `x` that prints its numbers whenever they are computed.

    Parameters
    ----------
    x : Tensor
    message : str
        Printed before the numbers.

    Returns
    -------
    Tensor
        Use it in the place of `x`: what nothing depends on is not computed, and not printed.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> y = K.print_tensor(K.constant([1.0, 2.0]), message="x is ") * 3
    >>> K.eval(y).tolist()
    x is [1. 2.]
    [3.0, 6.0]
    """
    return PrintTensor(str(message))(as_tensor(x))
