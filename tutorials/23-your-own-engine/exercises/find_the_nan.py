"""Write what `catch nan` does, for your own engine.

`first_nan(function, arrays)`: return the first Apply whose result contains a NaN, in the order of
computing, or None if no result does. The function is a Function of your engine with `inputs`,
`outputs` and `updates`; the arrays are those of a call, one for each input. A weight or a constant
x has its array in x.value. The new values of the updates count, too: a loss can be a number
although a gradient is NaN.

Look only: no weight changes. np.isnan(array).any() tells whether there is a NaN. NumPy warns of
infinite numbers; `with np.errstate(all="ignore"):` keeps it quiet.
"""

import numpy as np
from my_engine.graph import applies_in_order


def first_nan(function, arrays):
    values = dict(zip(function.inputs, arrays, strict=True))
    ...
    return ...
