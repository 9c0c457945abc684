import numpy as np


def scan(step, x, mask, state):
    state = state.copy()
    last = None
    kept = []
    for x_t, counts in zip(x.swapaxes(0, 1), mask.T, strict=True):
        output, new = step(x_t, state)
        if last is None:
            last = np.zeros_like(output)
        last[counts] = output[counts]
        state[counts] = new[counts]
        kept.append(last.copy())
    return np.array(kept).swapaxes(0, 1), state
