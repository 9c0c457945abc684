"""What the worker asks of a column, and the loops of those that have only a train step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.paired.workloads import WORKLOADS, Workload

Run = Callable[[int], Any]
"""Does the work n times; all results are ready when it returns."""


class Peer:
    """One engine with the net of one workload.

    A subclass makes the net in `build` and says how it trains and predicts; one whose engine has
    loops of its own replaces `step`, `fit` and `predict`. A method that returns None says that the
    engine has no such thing.

    Parameters
    ----------
    name : str
        The workload: "W1".
    x, y : ndarray
        All rows of the data.
    first_weights : list of ndarray
        In the order and the layouts of Keras.
    variant : str
        Which of the columns of this file.
    threads : int

    Attributes
    ----------
    epsilon : {"outside", "inside", "corrected"}
        Where its rmsprop and adam have their epsilon: see `hand.flat.FlatWeights`.
    """

    epsilon = "outside"

    def __init__(
        self,
        name: str,
        x: np.ndarray,
        y: np.ndarray,
        first_weights: list[np.ndarray],
        variant: str = "",
        threads: int = 1,
    ) -> None:
        self.name = name
        self.workload: Workload = WORKLOADS[name]
        self.x, self.y, self.first_weights = x, y, first_weights
        self.variant, self.threads = variant, threads
        self.net: Any = None  # the worker builds it
        self.start()

    # --- what a column says -----------------------------------------------------------------------

    def start(self) -> None:
        """Import the engine and set its threads."""

    def build(self) -> Any:
        """Return a net with the first weights."""
        raise NotImplementedError

    def train(self, net: Any, x: Any, y: Any) -> float:
        """Make one train step; return the loss before it."""
        raise NotImplementedError

    def forward(self, net: Any, x: Any) -> np.ndarray:
        """Return the outputs of one batch."""
        raise NotImplementedError

    # --- what the worker asks ---------------------------------------------------------------------

    @property
    def rows_to_predict(self) -> np.ndarray:
        """The rows that `predict` takes: 32 of W1, whose fixed cost is asked; else all."""
        return self.x[:32] if self.name == "W1" else self.x

    def step(self, batch: int) -> Run | None:
        """Return what makes train steps on the first rows."""
        net, train = self.net, self.train
        x, y = self.x[:batch], self.y[:batch]

        def run(times: int) -> None:
            for _ in range(times):
                train(net, x, y)

        return run

    def fit(self, batch: int) -> Run | None:
        """Return what trains epochs on shuffled rows."""
        net, train = self.net, self.train
        x, y, rows = self.x, self.y, len(self.x)
        rng = np.random.default_rng(0)

        def run(times: int) -> None:
            for _ in range(times):
                order, total = rng.permutation(rows), 0.0
                for begin in range(0, rows, batch):
                    chosen = order[begin : begin + batch]
                    total += train(net, x[chosen], y[chosen]) * len(chosen)

        return run

    def predict(self, batch: int) -> Run | None:
        """Return what predicts all rows in batches, as one array of NumPy."""
        net, forward, x = self.net, self.forward, self.rows_to_predict

        def run(times: int) -> None:
            for _ in range(times):
                batches = range(0, len(x), batch)
                np.concatenate([forward(net, x[begin : begin + batch]) for begin in batches])

        return run

    def losses(self, count: int) -> list[float]:
        """Return the first losses of a new net, always on the same batch."""
        net, batch = self.build(), self.workload.batch
        x, y = self.x[:batch], self.y[:batch]
        return [float(self.train(net, x, y)) for _ in range(count)]

    def outputs(self) -> np.ndarray:
        """Return what a new net predicts for the first batch."""
        return np.asarray(self.forward(self.build(), self.x[: self.workload.batch]))
