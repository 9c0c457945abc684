import numpy as np


def scan(step, x, mask, state):
    on = mask.astype(float)[..., np.newaxis]
    outputs = []
    for t in range(mask.shape[1]):
        output, new_state = step(x[:, t, :], state)
        before = outputs[-1] if outputs else np.zeros(output.shape)
        outputs += [on[:, t] * output + (1 - on[:, t]) * before]
        state = on[:, t] * new_state + (1 - on[:, t]) * state
    return np.concatenate([one[:, None] for one in outputs], axis=1), state
