import numpy as np


def missing_names(first, second):
    public = {name for name in dir(first) if name[0] != "_"}
    return sorted(public - set(dir(second)))


def different_results(first, second, calls):
    def same(name):
        one = getattr(first, name)(*calls[name])
        other = getattr(second, name)(*calls[name])
        return np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=0, atol=1e-6)

    return sorted(name for name in calls if not same(name))
