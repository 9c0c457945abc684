"""Rows for the ops of convolution; see op_cases.py.

Each way to move the kernel gives three rows: the convolution and its two gradients.
"""

import numpy as np
import reference_convolution as reference
from op_cases import Case

from kerascope.backend.ops.convolution import (
    ConvolutionKernelGradient,
    Convolve,
    ConvolveBack,
)


def rows(x, kernel, strides, padding, dilation=None, groups=1):
    """Return the rows for an input and a kernel of these shapes."""
    how = (strides, padding, dilation or (1,) * len(strides), groups)
    _, output = reference.products(x, kernel, *how)
    return [
        Case(
            Convolve(*how),
            lambda d: [d.normal(*x), d.normal(*kernel)],
            lambda x, kernel: reference.convolve(x, kernel, *how),
            (0, 1),
        ),
        Case(
            ConvolveBack(*how),
            lambda d: [d.normal(*output), d.normal(*kernel), np.array(x)],
            lambda g, kernel, sizes: reference.convolve_back(g, kernel, sizes, *how),
            (0, 1),
            fixed=(2,),
        ),
        Case(
            ConvolutionKernelGradient(*how),
            lambda d: [d.normal(*x), d.normal(*output), np.array(kernel)],
            lambda x, g, sizes: reference.kernel_gradient(x, g, sizes, *how),
            (0, 1),
            fixed=(2,),
        ),
    ]


CASES = [
    # one axis
    *rows((2, 5, 2), (3, 2, 2), (1,), "valid"),
    *rows((1, 6, 1), (2, 1, 2), (2,), "same"),
    *rows((1, 5, 2), (3, 2, 1), (1,), "causal", (2,)),
    *rows((1, 5, 1), (2, 1, 2), (3,), "causal"),
    *rows((1, 4, 1), (3, 1, 2), (2,), "full"),
    # two axes
    *rows((2, 4, 3, 2), (3, 2, 2, 2), (1, 1), "valid"),
    *rows((1, 5, 4, 1), (2, 3, 1, 2), (2, 1), "same"),
    *rows((1, 4, 5, 2), (3, 3, 2, 1), (2, 3), "same"),
    *rows((1, 5, 5, 1), (2, 2, 1, 2), (1, 1), "valid", (2, 3)),
    *rows((1, 5, 4, 1), (3, 2, 1, 1), (1, 1), "same", (2, 1)),
    *rows((2, 3, 3, 2), (1, 1, 2, 3), (1, 1), "valid"),
    *rows((2, 4, 3, 2), (1, 1, 2, 2), (2, 2), "same"),
    *rows((1, 2, 3, 1), (2, 2, 1, 2), (1, 1), "full"),
    *rows((1, 7, 6, 1), (2, 1, 1, 1), (4, 4), "valid"),  # the step is longer than the kernel
    # three axes
    *rows((1, 3, 2, 3, 1), (2, 1, 2, 1, 2), (1, 1, 2), "same"),
    *rows((1, 3, 3, 2, 2), (2, 2, 2, 2, 1), (1, 1, 1), "valid"),
    # groups, of several channels and of one
    *rows((1, 3, 3, 4), (2, 2, 2, 2), (1, 1), "same", groups=2),
    *rows((2, 4, 4), (2, 2, 6), (2,), "valid", groups=2),
    *rows((2, 4, 3, 2), (3, 2, 1, 2), (2, 1), "same", groups=2),
    *rows((1, 4, 3, 2), (2, 2, 1, 4), (1, 1), "valid", (2, 1), groups=2),
]
