"""All weights of a net in one array, and the optimizer as a few calls on it."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.paired.hand.buffers import empty, number, zeros

BLOCK = 32_768
"""Numbers that are updated together: five arrays of it fit into a cache of the second level."""

FLOATS_IN_LINE = 16
RHO, BETA_1, BETA_2, EPSILON = 0.9, 0.9, 0.999, 1e-7


class FlatWeights:
    """The weights of a net, their gradients and the optimizer's moments, each in one flat array.

    The lists `weights` and `gradients` contain views of these arrays, in the shapes of the weights.

    Parameters
    ----------
    shapes : list of tuple
        The shapes of the weights.
    optimizer : {"sgd", "rmsprop", "adam"}
    learning_rate : float
    epsilon : {"outside", "inside", "corrected"}
        The place of epsilon. Rmsprop: sqrt(a) + epsilon, but with "inside"
        sqrt(a + epsilon), as in Keras 3. Adam: sqrt(v) + epsilon, but with "corrected" the root is
        first corrected for the early steps, as in torch.

    Notes
    -----
    The moments are stored divided by (1 - rho) and (1 - beta), which saves a pass over them in each
    step. The learning rate and epsilon contain these factors.
    """

    def __init__(
        self,
        shapes: list[tuple[int, ...]],
        optimizer: str,
        learning_rate: float,
        epsilon: str = "outside",
    ) -> None:
        sizes = [-(-math.prod(s) // FLOATS_IN_LINE) * FLOATS_IN_LINE for s in shapes]
        total = sum(sizes)
        self.all_weights, self.all_gradients = zeros((total,)), zeros((total,))
        begins = np.cumsum([0, *sizes])
        self.weights = views(self.all_weights, begins, shapes)
        self.gradients = views(self.all_gradients, begins, shapes)
        self.learning_rate = learning_rate
        self.steps = 0
        self.update = {
            "sgd": self.sgd,
            "rmsprop": self.rmsprop_inside if epsilon == "inside" else self.rmsprop,
            "adam": self.adam,
        }[optimizer]
        self.corrected = epsilon == "corrected"
        kept = {"sgd": 0, "rmsprop": 1, "adam": 2}[optimizer]
        moments = [zeros((total,)) for _ in range(kept)]
        if self.update == self.rmsprop_inside:
            moments[0].fill(EPSILON / (1 - RHO))
        spare = empty((min(total, BLOCK),))
        every = [self.all_weights, self.all_gradients, *moments]
        self.blocks = [
            (*(array[i : i + BLOCK] for array in every), spare[: len(every[0][i : i + BLOCK])])
            for i in range(0, total, BLOCK)
        ]
        self.rho, self.beta_1, self.beta_2 = number(RHO), number(BETA_1), number(BETA_2)
        factor = 1 / math.sqrt(1 - RHO) if optimizer == "rmsprop" else 1
        self.rate, self.small = number(learning_rate * factor), number(EPSILON * factor)
        self.tiny = number(EPSILON)

    def sgd(self) -> None:
        """Update the weights p by gradient descent, with gradients g: p = p - lr g."""
        rate = self.rate
        for p, g, spare in self.blocks:
            np.multiply(g, rate, spare)
            np.subtract(p, spare, p)

    def rmsprop(self) -> None:
        """Update the weights p by rmsprop, with gradients g and the moving mean a of g^2.

        a = rho a + (1 - rho) g^2;  p = p - lr g / (sqrt(a) + epsilon)
        """
        rho, rate, small = self.rho, self.rate, self.small
        for p, g, a, spare in self.blocks:
            np.multiply(g, g, spare)
            np.multiply(a, rho, a)
            np.add(a, spare, a)
            np.sqrt(a, spare)
            np.add(spare, small, spare)
            np.divide(g, spare, spare)
            np.multiply(spare, rate, spare)
            np.subtract(p, spare, p)

    def rmsprop_inside(self) -> None:
        """Update the weights p by rmsprop as in Keras 3, with epsilon inside the root.

        With gradients g: a = rho a + (1 - rho) g^2;  p = p - lr g / sqrt(a + epsilon).

        The stored array is s = (a + epsilon) / (1 - rho), updated by s = rho s + g^2 + epsilon.
        """
        rho, rate, tiny = self.rho, self.rate, self.tiny
        for p, g, a, spare in self.blocks:
            np.multiply(g, g, spare)
            np.add(spare, tiny, spare)
            np.multiply(a, rho, a)
            np.add(a, spare, a)
            np.sqrt(a, spare)
            np.divide(g, spare, spare)
            np.multiply(spare, rate, spare)
            np.subtract(p, spare, p)

    def adam(self) -> None:
        """Update the weights p by adam, with gradients g, first moments m and second moments v.

        m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;

        p = p - lr sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + epsilon). If `epsilon` is "corrected",
        p = p - lr / (1 - b1^t) m / (sqrt(v / (1 - b2^t)) + epsilon) instead.
        """
        self.steps += 1
        early = math.sqrt(1 - BETA_2**self.steps)
        root = math.sqrt(1 - BETA_2)
        factor = early / (1 - BETA_1**self.steps) * (1 - BETA_1) / root
        self.rate[...] = self.learning_rate * factor
        self.small[...] = EPSILON / root * (early if self.corrected else 1)
        beta_1, beta_2, rate, small = self.beta_1, self.beta_2, self.rate, self.small
        for p, g, m, v, spare in self.blocks:
            np.multiply(m, beta_1, m)
            np.add(m, g, m)
            np.multiply(g, g, spare)
            np.multiply(v, beta_2, v)
            np.add(v, spare, v)
            np.sqrt(v, spare)
            np.add(spare, small, spare)
            np.divide(m, spare, spare)
            np.multiply(spare, rate, spare)
            np.subtract(p, spare, p)


def views(flat: np.ndarray, begins: np.ndarray, shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    """Return views of a flat array, one after the other, with these shapes."""
    return [
        flat[begin : begin + math.prod(shape)].reshape(shape)
        for begin, shape in zip(begins, shapes, strict=False)
    ]
