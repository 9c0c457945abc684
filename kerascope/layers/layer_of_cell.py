"""LayerOfCell: the base of SimpleRNN, GRU, LSTM and ConvLSTM2D."""

from __future__ import annotations

from typing import Any

from kerascope.backend.graph import Variable
from kerascope.configured import constructor_parameters
from kerascope.engine.base_layer import Layer
from kerascope.layers.rnn import RNN


class LayerOfCell(RNN):
    """Base of SimpleRNN, GRU and LSTM: an RNN that makes its own cell and speaks for it.

    The arguments and weights of the cell are attributes of the layer too: `lstm.units`.
    """

    _is_part = True

    def __init__(self, cell: Layer, *loop: Any, **kwargs: Any) -> None:
        super().__init__(cell, *loop, **kwargs)
        cell.name = self.name  # so its weights are called lstm_1/kernel

    def __getattr__(self, name: str) -> Any:
        if hasattr(type(self), name):  # a property, such as `output`, that raised: it says why
            return super().__getattribute__(name)
        cell = vars(self).get("cell")
        if cell is not None and not name.startswith("__"):
            value = getattr(cell, name, None)
            if name in constructor_parameters(type(cell)) or isinstance(value, Variable):
                return value
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @staticmethod
    def cell_keywords(kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the keywords of `Layer` that the cell gets too."""
        return {"name": "cell", "dtype": kwargs.get("dtype")}
