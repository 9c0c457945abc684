"""The seven optimizers as loops over single numbers: the reference for `kerascope.optimizers`.

Each rule is a generator of one number's life: it is sent (gradient, rate, t) and yields the number.
"""

import math

import numpy as np


def sgd(p, *, momentum=0.0, nesterov=False):
    velocity = 0.0
    while True:
        g, lr, _ = yield p
        velocity = momentum * velocity - lr * g
        p += momentum * velocity - lr * g if nesterov else velocity


def rmsprop(p, *, rho=0.9, epsilon=1e-7):
    mean_square = 0.0
    while True:
        g, lr, _ = yield p
        mean_square = rho * mean_square + (1 - rho) * g**2
        p -= lr * g / (math.sqrt(mean_square) + epsilon)


def adagrad(p, *, epsilon=1e-7):
    total = 0.0
    while True:
        g, lr, _ = yield p
        total += g**2
        p -= lr * g / (math.sqrt(total) + epsilon)


def adadelta(p, *, rho=0.95, epsilon=1e-7):
    size_of_gradients = size_of_steps = 0.0
    while True:
        g, lr, _ = yield p
        size_of_gradients = rho * size_of_gradients + (1 - rho) * g**2
        step = g * math.sqrt((size_of_steps + epsilon) / (size_of_gradients + epsilon))
        size_of_steps = rho * size_of_steps + (1 - rho) * step**2
        p -= lr * step


def adam(p, *, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False):
    mean = size = greatest = 0.0
    while True:
        g, lr, t = yield p
        mean = beta_1 * mean + (1 - beta_1) * g
        size = beta_2 * size + (1 - beta_2) * g**2
        greatest = max(greatest, size) if amsgrad else size
        # The paper's epsilon-hat form, which Keras uses.
        rate = lr * math.sqrt(1 - beta_2**t) / (1 - beta_1**t)
        p -= rate * mean / (math.sqrt(greatest) + epsilon)


def adamax(p, *, beta_1=0.9, beta_2=0.999, epsilon=1e-7):
    mean = greatest = 0.0
    while True:
        g, lr, t = yield p
        mean = beta_1 * mean + (1 - beta_1) * g
        greatest = max(beta_2 * greatest, abs(g))
        p -= lr * mean / ((1 - beta_1**t) * (greatest + epsilon))


def nadam(p, *, beta_1=0.9, beta_2=0.999, epsilon=1e-7, schedule_decay=0.004):
    mean = size = 0.0
    product = 1.0
    while True:
        g, lr, t = yield p
        now, following = (
            beta_1 * (1 - 0.5 * 0.96 ** (time * schedule_decay)) for time in (t, t + 1)
        )
        product *= now
        mean = beta_1 * mean + (1 - beta_1) * g
        size = beta_2 * size + (1 - beta_2) * g**2
        direction = (1 - now) * g / (1 - product) + following * mean / (1 - product * following)
        p -= lr * direction / (math.sqrt(size / (1 - beta_2**t)) + epsilon)


RULES = {
    "SGD": sgd,
    "RMSprop": rmsprop,
    "Adagrad": adagrad,
    "Adadelta": adadelta,
    "Adam": adam,
    "Adamax": adamax,
    "Nadam": nadam,
}


class Problem:
    """Least squares: loss(W, b) = mean (x W + b - y)^2, with its gradient by hand."""

    def __init__(self, seed=0):
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(8, 3))
        self.y = 3 * rng.normal(size=(8, 2))
        self.start = [rng.normal(size=(3, 2)), rng.normal(size=(2,))]

    def gradients(self, params):
        weights, bias = params
        slope = 2 * (self.x @ weights + bias - self.y) / self.y.size
        return [self.x.T @ slope, slope.sum(axis=0)]


def clipped(grads, clipnorm, clipvalue):
    norm = math.sqrt(sum(float(g) ** 2 for array in grads for g in array.flat))
    if clipnorm is not None and norm > clipnorm:
        grads = [g * clipnorm / norm for g in grads]
    if clipvalue is not None:
        grads = [np.minimum(np.maximum(g, -clipvalue), clipvalue) for g in grads]
    return grads


def train(rule, problem, steps, lr, decay=0.0, clipnorm=None, clipvalue=None, **options):
    """Return the parameters after some steps."""
    params = [p.copy() for p in problem.start]
    lives = [[RULES[rule](float(p), **options) for p in array.flat] for array in params]
    for life in (life for array in lives for life in array):
        next(life)
    for step in range(steps):
        rate = lr / (1 + decay * step)
        grads = clipped(problem.gradients(params), clipnorm, clipvalue)
        for array, grad, numbers in zip(params, grads, lives, strict=True):
            sent = [
                life.send((float(g), rate, step + 1))
                for life, g in zip(numbers, grad.flat, strict=True)
            ]
            array[...] = np.reshape(sent, array.shape)
    return params
