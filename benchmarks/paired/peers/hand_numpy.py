"""The reference column: hand-written NumPy. The times of the others are divided by its times."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paired.hand.buffers import flush_subnormals
from benchmarks.paired.hand.convolutional import ConvolutionalNet
from benchmarks.paired.hand.dense import dense_net
from benchmarks.paired.hand.lstm import RecurrentNet
from benchmarks.paired.peers.base import Peer

NETS: dict[str, Any] = {
    "dense": dense_net,
    "convolutional": ConvolutionalNet,
    "recurrent": RecurrentNet,
}


class Column(Peer):
    """The column of hand-written NumPy, `hand/`. Its variant says where rmsprop adds epsilon."""

    def start(self) -> None:
        """Let this process compute numbers below 1e-38 as zero, because they are slow."""
        flush_subnormals()
        self.epsilon = self.variant or "outside"

    def build(self) -> Any:
        """Return the hand-written net for the kind of this workload, with the initial weights."""
        return NETS[self.workload.kind](self.workload, self.first_weights, self.epsilon)

    def train(self, net: Any, x: np.ndarray, y: np.ndarray) -> float:
        """Make one train step; return its loss, computed before the update."""
        return float(net.train(x, y))

    def forward(self, net: Any, x: np.ndarray) -> np.ndarray:
        """Return the outputs of one batch."""
        result: np.ndarray = net.forward(x)
        return result
