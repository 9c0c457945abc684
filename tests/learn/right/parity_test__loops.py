import numpy as np


def missing_names(first, second):
    missing = []
    for name in sorted(vars(first)):
        if name.startswith("_"):
            continue
        try:
            getattr(second, name)
        except AttributeError:
            missing.append(name)
    return missing


def different_results(first, second, calls):
    names = []
    for name in sorted(calls):
        results = [np.array(getattr(engine, name)(*calls[name])) for engine in (first, second)]
        if results[0].shape != results[1].shape:
            names.append(name)
        elif (abs(results[0] - results[1]) > 1e-6).any():
            names.append(name)
    return names
