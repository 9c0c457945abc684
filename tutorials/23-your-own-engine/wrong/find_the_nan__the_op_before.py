"""The op that makes the infinite numbers is returned.

en: sum(log(x) * w) for x = [0, 2], w = [0, 1]: expected the Apply of `mul`, yours is that of `log`
zh: x = [0, 2]、w = [0, 1] 时的 sum(log(x) * w)：应是 `mul` 的 Apply，你的是 `log` 的
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
        if not np.isfinite(result).all():
            return apply
        values[apply.outputs[0]] = result
    return None
