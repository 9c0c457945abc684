import numpy as np


def scan(step, x, mask, state):
    batch, time = mask.shape
    size = step(x[:, 0], state)[0].shape[1:]
    outputs = np.zeros((batch, time, *size))
    states = np.array(state, dtype=float)
    for row in range(batch):
        for t in range(time):
            if mask[row, t]:
                out, new = step(x[row : row + 1, t], states[row : row + 1])
                outputs[row, t], states[row] = out[0], new[0]
            elif t:
                outputs[row, t] = outputs[row, t - 1]
    return outputs, states
