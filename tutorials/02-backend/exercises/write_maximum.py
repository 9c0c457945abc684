"""Write maximum twice, for two engines.

A backend is a set of functions with the same names; under each name, every engine has its own
body. K.maximum(x, y) is the larger of the two, element by element, and broadcasts as NumPy does.

`numpy_maximum` takes arrays and returns an array, at once. `symbolic_maximum` takes tensors and
returns a tensor: nothing is computed before K.function runs. Build the second from other functions
of K, such as K.abs; its graph must contain no op `maximum`.
"""

import numpy as np
from keras import backend as K


def numpy_maximum(x, y):
    return ...


def symbolic_maximum(x, y):
    return ...
