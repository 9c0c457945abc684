"""Write the two gradients of a convolution.

The forward pass, without zeros around the image and without dilation, is

    maps[b, i, j, f]  =  sum over a, c, channel of
                         x[b, i * stride + a, j * stride + c, channel] * kernel[a, c, channel, f]

`arriving` is d loss / d maps and has the shape of the maps. Write `backward(x, kernel, arriving,
stride)`. It returns two arrays: d loss / d x, with the shape of x, and d loss / d kernel, with the
shape of the kernel. A pixel that no place has read gets 0.

The functions of kerascope are not allowed here; everything of NumPy is.
"""

import numpy as np


def backward(x, kernel, arriving, stride):
    to_x = ...
    to_kernel = ...
    return to_x, to_kernel
