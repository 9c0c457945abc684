"""A name whose value is 0 is taken for missing.

en: expected missing_names(first, second) to be ['cosh', 'softsign', 'tanh'], yours is ['cosh', 'epsilon', 'softsign', 'tanh']
zh: missing_names(first, second) 应为 ['cosh', 'softsign', 'tanh']，你的是 ['cosh', 'epsilon', 'softsign', 'tanh']
"""

import numpy as np


def missing_names(first, second):
    return sorted(
        name for name in vars(first) if not name.startswith("_") and not getattr(second, name, None)
    )


def different_results(first, second, calls):
    different = []
    for name, arguments in calls.items():
        one = np.asarray(getattr(first, name)(*arguments))
        other = np.asarray(getattr(second, name)(*arguments))
        if one.shape != other.shape or np.abs(one - other).max() > 1e-6:
            different.append(name)
    return sorted(different)
