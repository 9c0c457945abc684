"""Compare two backends.

A script can change its backend only if both have the same names and the same results.

`missing_names(first, second)` returns, sorted, the public names of the module `first` that `second`
lacks; a name that begins with _ is not public.

`different_results(first, second, calls)` returns, sorted, the names whose results differ. `calls`
holds the arguments by name: {"relu": ([-1.0, 2.0],)}. Results of different shapes differ; numbers
differ if they are more than 1e-6 apart.
"""

import numpy as np


def missing_names(first, second):
    return ...


def different_results(first, second, calls):
    return ...
