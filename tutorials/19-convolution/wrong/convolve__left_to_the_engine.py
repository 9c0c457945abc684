"""The convolution is left to K.conv2d.

en: expected convolve to do the work itself, yours calls K.conv2d
zh: convolve 应自己完成，你的把它交给了 K.conv2d
"""

import numpy as np
from keras import backend as K


def convolve(x, kernel, stride, dilation, zeros):
    x = np.pad(x, ((0, 0), *zeros, (0, 0)))
    return K.eval(K.conv2d(x, kernel, strides=stride, dilation_rate=dilation))
