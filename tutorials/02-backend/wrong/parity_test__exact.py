"""Numbers that differ by rounding count as different.

en: expected different_results(first, second, calls) to be ['drop', 'large', 'near', 'ones', 'power', 'shift'], yours is ['drop', 'large', 'near', 'ones', 'power', 'shift', 'total']
zh: different_results(first, second, calls) 应为 ['drop', 'large', 'near', 'ones', 'power', 'shift']，你的是 ['drop', 'large', 'near', 'ones', 'power', 'shift', 'total']
"""

import numpy as np


def missing_names(first, second):
    return sorted(
        name for name in vars(first) if not name.startswith("_") and not hasattr(second, name)
    )


def different_results(first, second, calls):
    return sorted(
        name
        for name, arguments in calls.items()
        if not np.array_equal(getattr(first, name)(*arguments), getattr(second, name)(*arguments))
    )
