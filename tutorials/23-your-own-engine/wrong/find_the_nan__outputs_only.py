"""The new values are forgotten.

en: a new value that is NaN beside an output that is not: expected the Apply of `div`, yours is None
zh: 输出正常、新值是 NaN 的函数：应是 `div` 的 Apply，你的是 None
"""

import numpy as np
from my_engine.graph import applies_in_order


def first_nan(function, arrays):
    values = dict(zip(function.inputs, arrays, strict=True))
    new_values = [new_value for _, new_value in function.updates]
    for apply in applies_in_order(function.outputs):
        inputs = [values.get(x, x.value) for x in apply.inputs]
        with np.errstate(all="ignore"):
            result = apply.op.perform(*inputs)
        if np.isnan(result).any():
            return apply
        values[apply.outputs[0]] = result
    return None
