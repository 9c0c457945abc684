"""Means over an epoch that grow batch by batch. `BaseLogger` and `Progbar` use them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def as_number(value: Any) -> Any:
    """Return a scalar as a Python float, anything with axes as a float64 array.

    Sums of float32 scalars would lose digits over a long epoch.
    """
    if isinstance(value, (float, int, np.number)):
        return float(value)
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else array


class RunningMeans:
    r"""Weighted means of named quantities; of a stateful metric, its last value.

    Parameters
    ----------
    stateful_metrics : iterable of str, optional
        Metrics that average for themselves.

    Notes
    -----
    After values :math:`v_i` with weights :math:`w_i` the mean is
    :math:`\sum_i w_i v_i / \sum_i w_i`; the weight of a batch is its number of samples.

    Examples
    --------
    >>> means = RunningMeans()
    >>> means.add("loss", 1.0, weight=3)
    >>> means.add("loss", 5.0, weight=1)
    >>> means.result("loss")
    2.0
    """

    def __init__(self, stateful_metrics: Iterable[str] | None = None) -> None:
        self.stateful_metrics = frozenset(stateful_metrics or ())
        self._totals: dict[str, Any] = {}
        self._weights: dict[str, float] = {}

    def restart(self) -> None:
        """Forget all values."""
        self._totals.clear()
        self._weights.clear()

    def add(self, name: str, value: Any, weight: float) -> None:
        """Take one more value into account."""
        if name in self.stateful_metrics:
            self._totals[name], self._weights[name] = as_number(value), 1
            return
        number = float(value) if isinstance(value, np.floating) else as_number(value)
        self._totals[name] = self._totals.get(name, 0.0) + number * weight
        self._weights[name] = self._weights.get(name, 0) + weight

    def add_all(self, names: Iterable[str], values: Iterable[Any], weight: float) -> None:
        """Take one more value of each quantity into account."""
        for name, value in zip(names, values, strict=True):
            self.add(name, value, weight)

    def result(self, name: str) -> Any:
        """Return the mean of one quantity so far.

        Raises
        ------
        KeyError
            There was no value yet.
        """
        return self._totals[name] / max(self._weights[name], 1)

    def get_state(self) -> dict[str, Any]:
        """Return all that is remembered: sums and weights."""
        return {"totals": dict(self._totals), "weights": dict(self._weights)}

    def set_state(self, state: dict[str, Any]) -> None:
        """Remember what `get_state` returned."""
        self._totals, self._weights = dict(state["totals"]), dict(state["weights"])

    def results(self) -> dict[str, Any]:
        """Return all means, in the order in which the names first came."""
        return {name: self.result(name) for name in self._totals}
