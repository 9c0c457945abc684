"""The recurrent layers, as Keras's `layers.recurrent` has them: RNN, SimpleRNN, GRU, LSTM, cells.

Read `rnn.py` for the loop, `gates.py` for what the cells have in common, then `simple_rnn.py`,
`lstm.py` and `gru.py`, each of which says in `step` what happens in one time step.
"""

from __future__ import annotations

from kerascope.layers.gru import GRU, GRUCell
from kerascope.layers.lstm import LSTM, LSTMCell
from kerascope.layers.rnn import RNN
from kerascope.layers.simple_rnn import SimpleRNN, SimpleRNNCell
from kerascope.layers.stacked_cells import StackedRNNCells

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "GRUCell",
    "LSTMCell",
    "SimpleRNN",
    "SimpleRNNCell",
    "StackedRNNCells",
]
