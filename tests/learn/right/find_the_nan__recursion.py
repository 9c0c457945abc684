import numpy as np
from my_engine.graph import applies_in_order


def first_nan(function, arrays):
    known = {x: np.asarray(a) for x, a in zip(function.inputs, arrays, strict=True)}
    order = applies_in_order(function.outputs + [new for _, new in function.updates])

    def step(rest):
        if not rest:
            return None
        first, *others = rest
        arrays = [known.get(x, x.value) for x in first.inputs]
        known[first.outputs[0]] = first.op.perform(*arrays)
        return first if np.isnan(known[first.outputs[0]]).sum() else step(others)

    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return step(order)
