import numpy as np
from my_engine.graph import applies_in_order


def first_nan(function, arrays):
    values = dict(zip(function.inputs, arrays, strict=True))
    wanted = list(function.outputs) + [pair[1] for pair in function.updates]

    def results():
        for apply in applies_in_order(wanted):
            arrays = [values[x] if x in values else x.value for x in apply.inputs]
            values[apply.outputs[0]] = apply.op.perform(*arrays)
            yield apply

    with np.errstate(all="ignore"):
        return next((a for a in results() if np.isnan(values[a.outputs[0]]).any()), None)
