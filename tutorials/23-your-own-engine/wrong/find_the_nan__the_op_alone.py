"""The op is returned instead of its Apply.

en: expected first_nan to return an Apply or None, yours is a Mul
zh: first_nan 应返回 Apply 或 None，你的是 Mul 对象
"""

import numpy as np
from my_engine.graph import applies_in_order


def first_nan(function, arrays):
    values = dict(zip(function.inputs, arrays, strict=True))
    new_values = [new_value for _, new_value in function.updates]
    for apply in applies_in_order([*function.outputs, *new_values]):
        inputs = [values.get(x, x.value) for x in apply.inputs]
        with np.errstate(all="ignore"):
            result = apply.op.perform(*inputs)
        if np.isnan(result).any():
            return apply.op
        values[apply.outputs[0]] = result
    return None
