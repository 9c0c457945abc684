"""Recurrent layers in plain NumPy loops: one sample and one time step after the other.

Every function takes x (batch, time, features), the weights as Keras orders them, first states or
None, a mask (batch, time) or None, and `go_backwards`; it returns all outputs (batch, time, units)
and the list of last states.
"""

import numpy as np


def hard_sigmoid(x):
    return np.clip(0.2 * x + 0.5, 0.0, 1.0)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def loop(step, x, sizes, states=None, mask=None, go_backwards=False):
    batch, time, _ = x.shape
    outputs = np.zeros((batch, time, sizes[0]))
    last = [np.zeros((batch, size)) for size in sizes]
    for sample in range(batch):
        own = [
            np.zeros(size) if states is None else states[i][sample] for i, size in enumerate(sizes)
        ]
        output = np.zeros(sizes[0])
        steps = reversed(range(time)) if go_backwards else range(time)
        for number, t in enumerate(steps):
            if mask is None or mask[sample, t]:
                output, own = step(x[sample, t], own)
            outputs[sample, number] = output
        for i, state in enumerate(own):
            last[i][sample] = state
    return outputs, last


def simple_rnn(x, kernel, recurrent_kernel, bias, **kwargs):
    def step(x_t, states):
        output = np.tanh(x_t @ kernel + states[0] @ recurrent_kernel + bias)
        return output, [output]

    return loop(step, x, [len(recurrent_kernel)], **kwargs)


def lstm(x, kernel, recurrent_kernel, bias, gate=hard_sigmoid, **kwargs):
    units = len(recurrent_kernel)

    def step(x_t, states):
        h, c = states
        sums = [
            x_t @ kernel[:, part] + h @ recurrent_kernel[:, part] + bias[part]
            for part in (slice(g * units, (g + 1) * units) for g in range(4))
        ]
        i, f, o = gate(sums[0]), gate(sums[1]), gate(sums[3])
        c = f * c + i * np.tanh(sums[2])
        h = o * np.tanh(c)
        return h, [h, c]

    return loop(step, x, [units, units], **kwargs)


def gru(x, kernel, recurrent_kernel, bias, gate=hard_sigmoid, **kwargs):
    """Reset gate before the product with a bias (3 * units,), after it with one (2, 3 * units)."""
    units = len(recurrent_kernel)
    reset_after = bias.ndim == 2
    input_bias, recurrent_bias = bias if reset_after else (bias, np.zeros_like(bias))
    z_part, r_part, h_part = (slice(g * units, (g + 1) * units) for g in range(3))

    def step(x_t, states):
        (h,) = states
        from_x = x_t @ kernel + input_bias
        from_h = h @ recurrent_kernel + recurrent_bias
        z = gate(from_x[z_part] + from_h[z_part])
        r = gate(from_x[r_part] + from_h[r_part])
        if reset_after:
            candidate = np.tanh(from_x[h_part] + r * from_h[h_part])
        else:
            candidate = np.tanh(from_x[h_part] + (r * h) @ recurrent_kernel[:, h_part])
        h = z * h + (1 - z) * candidate
        return h, [h]

    return loop(step, x, [units], **kwargs)
