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
        if one.shape != other.shape or np.abs(one - other).max() > 1e-6:
            different.append(name)
    return sorted(different)
