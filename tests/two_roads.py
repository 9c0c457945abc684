"""The two roads of a function: stepped, as a debugger does, and run, as a program."""

import numpy as np

from kerascope import backend as K
from kerascope.backend.program.dispatch import CALLS_BEFORE
from kerascope.stage import observing

CALLS = CALLS_BEFORE + 4


def same_stepped_and_run(make, calls=None):
    """Call what `make` makes, run and stepped; check that both tell the same."""
    calls = [[]] * CALLS if calls is None else calls
    told = []
    for watched in (False, True):
        K.clear_session()
        function, variables = make()
        rows = []
        for arrays in calls:
            if watched:
                with observing(lambda stage, event: None):
                    outputs = function(arrays)
            else:
                outputs = function(arrays)
            rows.append([np.array(y).tolist() for y in outputs])
            rows[-1] += [v.get_value().tolist() for v in variables]
        told.append(rows)
        assert watched or function.programs
    assert told[0] == told[1]
    return told[0]
