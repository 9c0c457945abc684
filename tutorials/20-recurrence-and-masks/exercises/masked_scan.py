"""Write the loop of a recurrent layer, with a mask.

    step(x_t, state)   one step for a whole batch: returns (output, new_state)
    x                  (batch, time, features); x_t is x[:, t]
    mask               bools (batch, time)
    state              the state before the first step, (batch, units)

At a step whose mask is True, a row gets its output and its new state from `step`. Where it is
False, the row keeps its state, and its output is that of the step before. A row whose steps were
all masked so far has zeros for its output.

Write `scan(step, x, mask, state)`. It returns the outputs of all steps, (batch, time, ...), and the
states after the last step. The sequence has at least one step. The output may have another size
than the state.
"""

import numpy as np


def scan(step, x, mask, state):
    outputs = ...
    return outputs, state
