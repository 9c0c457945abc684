"""Calls functions with two arguments at most.

en: different_results(...) stopped at line 19 with TypeError: clip() missing 1 required positional argument: 'a_max'
zh: different_results(...) 中途出错（第 19 行）：TypeError: clip() missing 1 required positional argument: 'a_max'
"""

import numpy as np


def missing_names(first, second):
    return sorted(
        name for name in vars(first) if not name.startswith("_") and not hasattr(second, name)
    )


def different_results(first, second, calls):
    different = []
    for name, arguments in calls.items():
        one = np.asarray(getattr(first, name)(*arguments[:2]))
        other = np.asarray(getattr(second, name)(*arguments[:2]))
        if one.shape != other.shape or np.abs(one - other).max() > 1e-6:
            different.append(name)
    return sorted(different)
