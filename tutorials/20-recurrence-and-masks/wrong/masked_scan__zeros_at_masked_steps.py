"""A masked step gives zeros instead of the previous output.

en: expected the outputs (mask 1100), at [0, 2, 0], to be 2.3043, yours is 0
zh: 输出（掩码 1100），[0, 2, 0] 处应为 2.3043，你的是 0
"""

import numpy as np


def scan(step, x, mask, state):
    outputs = []
    last = 0.0
    for t in range(x.shape[1]):
        counts = mask[:, t, None]
        output, new_state = step(x[:, t], state)
        last = np.where(counts, output, 0.0)
        state = np.where(counts, new_state, state)
        outputs.append(last)
    return np.stack(outputs, axis=1), state
