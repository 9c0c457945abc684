import numpy as np


def backward(x, mask, states, kernel, recurrent, arriving):
    if x.shape[1] == 0:
        return np.zeros(x.shape), 0 * kernel, 0 * recurrent
    on = mask[:, -1:]
    local = arriving * (1 - states[:, -1] ** 2) * on
    before = local @ recurrent.T + arriving * ~on
    earlier = backward(x[:, :-1], mask[:, :-1], states[:, :-1], kernel, recurrent, before)
    own = (local @ kernel.T)[:, None]
    return (
        np.concatenate([earlier[0], own], axis=1),
        earlier[1] + x[:, -1].T @ local,
        earlier[2] + states[:, -2].T @ local,
    )
