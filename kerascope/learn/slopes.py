"""Finite differences: what a gradient is compared with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Tensor, Variable
from kerascope.learn.texts import Text
from kerascope.learn.verdicts import Unmet

STEP = 1e-6
TOLERANCE = 1e-5


class Difference(NamedTuple):
    """Where a gradient is farthest from what finite differences give.

    Attributes
    ----------
    number : int
        Which input.
    place : tuple of int
        Which element of it.
    exact, approximate : float
        What the gradient says there, and what finite differences say.
    largest : float
        The difference between the two.
    """

    number: int
    place: tuple[int, ...]
    exact: float
    approximate: float
    largest: float

    @property
    def is_small(self) -> bool:
        """Whether the gradient is right."""
        return bool(self.largest <= TOLERANCE * max(1.0, abs(self.approximate)))


def difference_of_gradients(function: Callable[..., Tensor], arrays: Sequence[Any]) -> Difference:
    """Compare the symbolic gradient of a function with finite differences; return the worst place.

    The loss is the sum of the outputs, each times a number of its own, of either sign: with plain
    ones, a gradient that forgets what arrives from above could not be told from a right one.

    Raises
    ------
    Unmet
        A gradient has another shape than its input.

    Examples
    --------
    >>> difference_of_gradients(lambda x, y: x * K.exp(y), [[1.0, 2.0], [0.5, 3.0]]).is_small
    True
    """
    variables = [K.variable(np.asarray(array, "float64"), dtype="float64") for array in arrays]
    outputs = function(*variables)
    shape = np.shape(K.eval(outputs))
    weights = 0.5 + np.arange(1, 1 + int(np.prod(shape)), dtype="float64").reshape(shape)
    weights.flat[1::2] *= -1
    loss = K.sum(outputs * K.variable(weights, dtype="float64"))
    slopes = K.gradients(loss, variables)
    exact = [
        np.zeros(np.shape(K.get_value(v))) if slope is None else np.asarray(K.eval(slope))
        for v, slope in zip(variables, slopes, strict=True)
    ]
    _check_shapes(variables, exact)
    measure = K.function([], [loss])
    worst = Difference(0, (), 0.0, 0.0, -1.0)
    for number, variable in enumerate(variables):
        worst = max(worst, _worst_of(number, variable, exact[number], measure), key=_largest)
    return worst


def _check_shapes(variables: list[Variable], exact: list[Any]) -> None:
    for number, (variable, slope) in enumerate(zip(variables, exact, strict=True)):
        wanted, found = np.shape(K.get_value(variable)), slope.shape
        if found != wanted:
            raise Unmet(
                Text(
                    en=f"expected the gradient for input {number} to have its shape {wanted}, "
                    f"yours has {found}",
                    zh=f"第 {number} 个输入的梯度应与它同形 {wanted}，你的是 {found}",
                )
            )


def _largest(difference: Difference) -> float:
    return difference.largest


def _worst_of(number: int, variable: Variable, exact: Any, measure: Any) -> Difference:
    start = np.array(K.get_value(variable))
    worst = Difference(number, (), 0.0, 0.0, -1.0)
    for place in np.ndindex(start.shape):
        losses = []
        for sign in (1, -1):
            moved = start.copy()
            moved[place] += sign * STEP
            K.set_value(variable, moved)
            losses.append(float(measure([])[0]))
        slope = (losses[0] - losses[1]) / (2 * STEP)
        gap = abs(float(exact[place]) - slope)
        found = Difference(number, place, float(exact[place]), slope, gap if gap == gap else np.inf)
        worst = max(worst, found, key=_largest)
    K.set_value(variable, start)
    return worst
