import numpy as np


def backward(x, mask, states, kernel, recurrent, arriving):
    time = x.shape[1]
    local = np.zeros((len(x), time, kernel.shape[1]))
    gradient = arriving.copy()
    for t in range(time)[::-1]:
        on = mask[:, t]
        local[on, t] = (gradient * (1 - states[:, t + 1] ** 2))[on]
        gradient[on] = local[on, t] @ recurrent.T
    to_kernel = np.einsum("btf,btu->fu", x, local)
    to_recurrent = np.einsum("btv,btu->vu", states[:, :-1], local)
    return local @ kernel.T, to_kernel, to_recurrent
