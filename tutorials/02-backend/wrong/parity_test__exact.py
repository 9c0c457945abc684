"""Numbers that differ by rounding count as different.

en: expected different_results(first, second, calls) to be ['clip', 'drop', 'large', 'near', 'ones', 'power', 'row', 'shift'], yours is ['clip', 'drop', 'large', 'near', 'ones', 'power', 'row', 'shift', 'total']
zh: different_results(first, second, calls) 应为 ['clip', 'drop', 'large', 'near', 'ones', 'power', 'row', 'shift']，你的是 ['clip', 'drop', 'large', 'near', 'ones', 'power', 'row', 'shift', 'total']
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
