import numpy as np


def scan(step, x, mask, state):
    outputs = []
    last = 0.0
    for t in range(x.shape[1]):
        counts = mask[:, t : t + 1]
        output, new_state = step(x[:, t], state)
        last = np.where(counts, output, last)
        state = np.where(counts, new_state, state)
        outputs.append(last)
    return np.stack(outputs, axis=1), state
