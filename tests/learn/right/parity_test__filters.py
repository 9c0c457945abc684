import numpy as np


def missing_names(first, second):
    return sorted(filter(lambda n: not n.startswith("_") and n not in vars(second), vars(first)))


def different_results(first, second, calls):
    found = set()
    for name, arguments in calls.items():
        one, other = (vars(engine)[name](*arguments) for engine in (first, second))
        try:
            np.testing.assert_equal(np.shape(one), np.shape(other))
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-6)
        except AssertionError:
            found.add(name)
    return sorted(found)
