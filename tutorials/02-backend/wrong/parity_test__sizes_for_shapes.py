"""Compares the number of elements instead of the shape.

en: expected different_results(first, second, calls) to be ['clip', 'drop', 'large', 'near', 'ones', 'power', 'row', 'shift'], yours is ['clip', 'drop', 'large', 'near', 'ones', 'power', 'shift']
zh: different_results(first, second, calls) 应为 ['clip', 'drop', 'large', 'near', 'ones', 'power', 'row', 'shift']，你的是 ['clip', 'drop', 'large', 'near', 'ones', 'power', 'shift']
"""

import numpy as np


def missing_names(first, second):
    return sorted(
        name for name in vars(first) if not name.startswith("_") and not hasattr(second, name)
    )


def different_results(first, second, calls):
    different = []
    for name, arguments in calls.items():
        one = np.asarray(getattr(first, name)(*arguments))
        other = np.asarray(getattr(second, name)(*arguments))
        if one.size != other.size or np.abs(one - other).max() > 1e-6:
            different.append(name)
    return sorted(different)
