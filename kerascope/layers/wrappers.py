"""Layers around a layer, as Keras's `layers.wrappers` has them.

`Wrapper` is the base, `TimeDistributed` applies a layer to every time step alike, `Bidirectional`
runs a recurrent layer over a sequence from both ends. In a model a wrapper is one layer; what it
holds is its own affair.
"""

from __future__ import annotations

from kerascope.layers.bidirectional import Bidirectional
from kerascope.layers.time_distributed import TimeDistributed
from kerascope.layers.wrapper import Wrapper

__all__ = ["Bidirectional", "TimeDistributed", "Wrapper"]
