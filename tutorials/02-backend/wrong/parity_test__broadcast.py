"""np.allclose broadcasts, so a wrong shape is not noticed.

en: expected different_results(first, second, calls) to be ['clip', 'drop', 'large', 'near', 'ones', 'power', 'row', 'shift'], yours is ['clip', 'drop', 'near', 'power', 'shift']
zh: different_results(first, second, calls) 应为 ['clip', 'drop', 'large', 'near', 'ones', 'power', 'row', 'shift']，你的是 ['clip', 'drop', 'near', 'power', 'shift']
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
        if not np.allclose(getattr(first, name)(*arguments), getattr(second, name)(*arguments))
    )
