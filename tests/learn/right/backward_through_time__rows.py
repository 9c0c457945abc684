import numpy as np


def backward(x, mask, states, kernel, recurrent, arriving):
    to_x, to_kernel, to_recurrent = (np.zeros(a.shape) for a in (x, kernel, recurrent))
    for row in range(len(x)):
        gradient = arriving[row]
        for t in range(x.shape[1] - 1, -1, -1):
            if not mask[row, t]:
                continue
            local = gradient * (1 - states[row, t + 1] ** 2)
            to_x[row, t] = kernel @ local
            to_kernel += np.outer(x[row, t], local)
            to_recurrent += np.outer(states[row, t], local)
            gradient = recurrent @ local
    return to_x, to_kernel, to_recurrent
