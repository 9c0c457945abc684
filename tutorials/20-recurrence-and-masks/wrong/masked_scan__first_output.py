"""Before the first step that counts, a row has the output of its masked step.

en: expected the outputs (mask 0010), at [0, 0, 0], to be 0, yours is 0.295039
zh: 输出（掩码 0010），[0, 0, 0] 处应为 0，你的是 0.295039
"""

import numpy as np


def scan(step, x, mask, state):
    outputs = []
    last = step(x[:, 0], state)[0]
    for t in range(x.shape[1]):
        counts = mask[:, t, None]
        output, new_state = step(x[:, t], state)
        last = np.where(counts, output, last)
        state = np.where(counts, new_state, state)
        outputs.append(last)
    return np.stack(outputs, axis=1), state
