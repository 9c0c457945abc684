"""Plain loops for `K.rnn` and the ops of `scan*.py`, and finite differences through loops."""

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Constant

STEP = 1e-5  # of the central differences


def weighted_sum(tensors):
    """Return a scalar in which every element of every tensor has another weight."""
    rng = np.random.default_rng(2)
    sums = [K.sum(y * Constant(rng.uniform(0.5, 1.5, y.shape))) for y in tensors]
    return sum(sums[1:], start=sums[0])


def differences(compute, arrays, position):
    """Return d compute / d arrays[position] by central differences."""
    result = np.zeros(arrays[position].shape)
    for place in np.ndindex(result.shape):
        values = []
        for step in (STEP, -STEP):
            moved = [np.array(x) for x in arrays]
            moved[position][place] += step
            values.append(compute(moved))
        result[place] = (values[0] - values[1]) / (2 * STEP)
    return result


def check_gradients(loss, inputs, arrays):
    """Hold the gradients of a scalar to finite differences, and those of its gradients."""
    grads = [g for g in K.gradients(loss, inputs) if g is not None]
    for scalar in (loss, weighted_sum(grads)):
        compute = K.function(inputs, scalar)
        for position, grad in enumerate(K.gradients(scalar, inputs)):
            wanted = differences(compute, arrays, position)
            found = np.zeros_like(wanted) if grad is None else K.function(inputs, grad)(arrays)
            assert found.shape == wanted.shape
            assert np.abs(found - wanted).max(initial=0) < 1e-6 * max(1, np.abs(wanted).max())


def rnn(step, inputs, initial_states, go_backwards=False, mask=None, constants=()):
    """`step` works on the arrays of one sample; so each sample may have a mask of its own."""
    batch, time = inputs.shape[:2]
    outputs, lasts = [], []
    for sample in range(batch):
        states = [state[sample] for state in initial_states]
        row, before = [], None
        for t in range(time - 1, -1, -1) if go_backwards else range(time):
            output, new_states = step(inputs[sample, t], [*states, *constants])
            before = np.zeros_like(output) if before is None else before
            if mask is None or mask[sample, t]:
                before, states = output, new_states
            row.append(before)
        outputs.append(row)
        lasts.append(states)
    outputs = np.array(outputs)
    new_states = [np.array([states[i] for states in lasts]) for i in range(len(initial_states))]
    return outputs[:, -1], outputs, new_states


def hold_last(x, mask):
    result = np.zeros_like(x)
    for sample in range(x.shape[1]):
        held = np.zeros(x.shape[2:])
        for t in range(len(x)):
            if mask[t, sample]:
                held = x[t, sample]
            result[t, sample] = held
    return result


def sum_held(x, mask):
    result = np.zeros_like(x)
    for sample in range(x.shape[1]):
        for t in range(len(x)):
            if not mask[t, sample]:
                continue
            end = t + 1
            while end < len(x) and not mask[end, sample]:
                end += 1
            for place in range(t, end):
                result[t, sample] += x[place, sample]
    return result


def map_tanh(x, w):
    return np.array([np.tanh(row * w) for row in x])


def sum_of_products(x, w):
    total = np.zeros_like(w)
    for row in x:
        total = total + row * row * w
    return total


def step_draws(draws, step):
    return np.array((int(draws) * 6364136223846793005 + int(step) + 1) % 2**63)
