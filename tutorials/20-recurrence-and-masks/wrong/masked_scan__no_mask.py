"""The mask is not used.

en: mask 1100: your outputs are those of a loop without a mask
zh: 掩码 1100：你的输出与不带掩码的循环相同
"""

import numpy as np


def scan(step, x, mask, state):
    outputs = []
    last = 0.0
    for t in range(x.shape[1]):
        counts = mask[:, t, None]
        output, new_state = step(x[:, t], state)
        last = output
        state = new_state
        outputs.append(last)
    return np.stack(outputs, axis=1), state
