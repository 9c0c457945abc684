"""The base class of columns, with loops for engines that only have a train step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.paired.workloads import WORKLOADS, Workload

Run = Callable[[int], Any]
"""Does the work n times; all results are ready when it returns."""


class Peer:
    """Base class of the columns: one engine with the net of one workload.

    A subclass builds the net in `build` and defines how it trains and predicts. If its engine has
    its own loops, it replaces `step`, `fit` and `predict`. A method returns None if the engine
    cannot do what the method measures.

    Parameters
    ----------
    name : str
        The name of the workload, such as "W1".
    x, y : ndarray
        All rows of the data.
    first_weights : list of ndarray
        In the order and the layouts of Keras.
    variant : str
        The name of one of this file's columns.
    threads : int
        The number of threads that the engine may use.

    Attributes
    ----------
    epsilon : {"outside", "inside", "corrected"}
        The place of epsilon in its rmsprop and adam: see `hand.flat.FlatWeights`.
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
        self.net: Any = None  # built by the worker
        self.start()

    # --- what a column says -----------------------------------------------------------------------

    def start(self) -> None:
        """Import the engine and set its threads."""

    def build(self) -> Any:
        """Return a new net with the initial weights."""
        raise NotImplementedError

    def train(self, net: Any, x: Any, y: Any) -> float:
        """Make one train step; return its loss, computed before the update."""
        raise NotImplementedError

    def forward(self, net: Any, x: Any) -> np.ndarray:
        """Return the outputs of one batch."""
        raise NotImplementedError

    # --- what the worker asks ---------------------------------------------------------------------

    @property
    def rows_to_predict(self) -> np.ndarray:
        """The rows for `predict`: of W1 only 32, to measure the fixed cost, otherwise all."""
        return self.x[:32] if self.name == "W1" else self.x

    def step(self, batch: int) -> Run | None:
        """Return a function (n) that runs n train steps on the first `batch` rows."""
        net, train = self.net, self.train
        x, y = self.x[:batch], self.y[:batch]

        def run(times: int) -> None:
            for _ in range(times):
                train(net, x, y)

        return run

    def fit(self, batch: int) -> Run | None:
        """Return a function (n) that trains for n epochs on shuffled rows."""
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
        """Return a function (n) that predicts all rows n times, in batches."""
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
        """Return the predictions of a new net for the first batch."""
        return np.asarray(self.forward(self.build(), self.x[: self.workload.batch]))
