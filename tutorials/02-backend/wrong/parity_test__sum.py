"""Many small differences are added up.

en: expected different_results where one number of ten is 2e-6 off, or all ten are 0.5e-6 to be ['one_is_off'], yours is ['all_are_near', 'one_is_off']
zh: 十个数中一个差 2e-6、或十个都差 0.5e-6 时的 different_results 应为 ['one_is_off']，你的是 ['all_are_near', 'one_is_off']
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
        if one.shape != other.shape or np.abs(one - other).sum() > 1e-6:
            different.append(name)
    return sorted(different)
