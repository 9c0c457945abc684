"""Compares the student's three gradients with finite differences, for drawn sizes and masks."""

import math

import numpy as np

from kerascope.learn import Text, check


def head(query, key, value, mask):
    """Return the results and the weights of a head, computed row by row."""
    weights = np.zeros(mask.shape)
    for n, i in np.ndindex(query.shape[:2]):
        allowed = [j for j in range(key.shape[1]) if mask[n, i, j]]
        scores = [float(query[n, i] @ key[n, j]) / math.sqrt(query.shape[-1]) for j in allowed]
        powers = [math.exp(score - max(scores)) for score in scores]
        for power, j in zip(powers, allowed, strict=True):
            weights[n, i, j] = power / sum(powers)
    return weights @ value, weights


def loss_of(query, key, value, mask, arriving):
    """Return the sum of the results of a head, each times the number that arrives at it."""
    results, _ = head(query, key, value, mask)
    return float((results * arriving).sum())


def differences(arrays, number, mask, arriving, step=1e-5):
    """Return the finite differences of the loss with respect to one of the arrays."""
    slopes = np.zeros(arrays[number].shape)
    for place in np.ndindex(slopes.shape):
        found = []
        for sign in (1, -1):
            moved = [array.copy() for array in arrays]
            moved[number][place] += sign * step
            found.append(loss_of(*moved, mask, arriving))
        slopes[place] = (found[0] - found[1]) / (2 * step)
    return slopes


def masks(batch, queries, keys, rng):
    """Yield masks with their names."""
    every = np.ones((batch, queries, keys), dtype=bool)
    yield every, Text("without a mask", "没有掩码时")
    yield np.tril(every), Text("with a causal mask", "用因果掩码时")
    lengths = rng.integers(1, keys + 1, batch)
    padded = every & (np.arange(keys) < lengths[:, None, None])
    yield padded, Text("with a padding mask", "用填充掩码时")
    empty = rng.random(every.shape) < 0.7
    empty[0, -1] = False
    yield empty, Text("with a row that may look at nothing", "有一行什么也不许看时")


@check
def against_finite_differences(student):
    attend_back = student.function("attend_back")
    for seed in range(3):
        rng = np.random.default_rng(seed)
        queries, keys, d, features = rng.choice(range(2, 6), size=4, replace=False)
        shapes = [(2, queries, d), (2, keys, d), (2, keys, features)]
        arrays = [rng.normal(size=shape) for shape in shapes]
        arriving = rng.normal(size=(2, queries, features))
        for mask, when in masks(2, queries, keys, rng):
            _, weights = head(*arrays, mask)
            found = attend_back(*[array.copy() for array in arrays], weights, arriving.copy())
            found = student.listed("attend_back(...)", found, 3)
            for number, name in enumerate(("query", "key", "value")):
                student.close(
                    Text(f"the gradient of {name} {when.en}", f"{when.zh}，送给 {name} 的梯度"),
                    found[number],
                    differences(arrays, number, mask, arriving),
                    tolerance=1e-6,
                )
