"""Model: a network that can be trained.

`compile` builds the loss graph (`compiling.py`); the first `fit` makes the train function: inputs
are the model's inputs, targets and sample weights, outputs are the loss and the metrics, updates
are what the optimizer says. `fit` then calls that function batch by batch (`training_loop.py`).
Keras 1 and 2 keep this class in `engine/training.py`.

The class grows in steps, each in a file: `Network` (the graph), `CompiledNetwork` (losses and
functions), `ArrayTraining` (fit, evaluate, predict), `GeneratorTraining` (the same on generators),
and here what has to do with files and people.
Lessons: chapters 12 to 15.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kerascope.engine import saving
from kerascope.engine.summary import print_summary
from kerascope.engine.training_generator import GeneratorTraining


class Model(GeneratorTraining):
    """A network with `compile`, `fit`, `evaluate` and `predict`.

    Parameters
    ----------
    inputs, outputs : Tensor or list of Tensor
        As for `Network`. A subclass that writes its own `call` gives neither.
    name : str, optional

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope.layers import Dense, Input
    >>> inputs = Input(shape=(20,))
    >>> model = Model(inputs, Dense(1, activation="sigmoid")(inputs))
    >>> model.compile("rmsprop", "binary_crossentropy")
    >>> history = model.fit(np.ones((8, 20)), np.ones(8), epochs=2, verbose=0)
    >>> len(history.history["loss"])
    2
    """

    # --- files ------------------------------------------------------------------------------------

    def to_json(self, **kwargs: Any) -> str:
        """Return the configuration as JSON, without weights; `models.model_from_json` reads it.

        `**kwargs` go to `json.dumps`: `indent=2`, ...
        """
        config = {"class_name": type(self).__name__, "config": self.get_config()}
        return json.dumps({**config, "keras_version": saving.KERAS_VERSION}, **kwargs)

    def save(self, filepath: Any, overwrite: bool = True, include_optimizer: bool = True) -> None:
        """Write the whole model to an HDF5 file; see `engine.saving.save_model`."""
        saving.save_model(self, filepath, overwrite, include_optimizer)

    def save_weights(self, filepath: Any, overwrite: bool = True) -> None:
        """Write the weights to an HDF5 file; see `engine.saving.save_weights`."""
        saving.save_weights(self, filepath, overwrite)

    def load_weights(
        self, filepath: Any, by_name: bool = False, skip_mismatch: bool = False
    ) -> None:
        """Read weights from an HDF5 file; see `engine.saving.load_weights`."""
        saving.load_weights(self, filepath, by_name, skip_mismatch)

    # --- for people -------------------------------------------------------------------------------

    def summary(
        self,
        line_length: int | None = None,
        positions: Any = None,
        print_fn: Callable[[str], Any] | None = None,
    ) -> None:
        """Print a table of the layers: output shapes, numbers of parameters, connections.

        Parameters
        ----------
        line_length : int, optional
            Width in columns; by default that of the terminal.
        positions : list, optional
            Keras's column positions; accepted, the columns find their own.
        print_fn : callable, optional
            Receives each line instead of the terminal.
        """
        print_summary(self, line_length=line_length, print_fn=print_fn)
