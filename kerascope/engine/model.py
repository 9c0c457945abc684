"""Model: a network that can be trained.

`compile` builds the loss graph (`compiling.py`); the first `fit` makes the train function: inputs
are the model's inputs, targets and sample weights, outputs are the loss and the metrics, updates
are what the optimizer says. `fit` then calls that function batch by batch (`training_loop.py`).
Keras 1 and 2 keep this class in `engine/training.py`.

The class grows in steps, each in a file: `Network` (the graph), `CompiledNetwork` (losses and
functions), `ArrayTraining` (fit, evaluate, predict), `GeneratorTraining` (the same on generators).
Lessons: chapters 12 to 15.
"""

from __future__ import annotations

from typing import Any

from kerascope import edge
from kerascope.engine.pickling import pickle_model, unpickle_model
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

    def profile(self, x: Any = None, y: Any = None, **options: Any) -> Any:
        """Measure where the time and the memory of a step go; nothing in the model changes.

        Parameters
        ----------
        x, y : array_like, list of array_like or dict
            A batch, as for `fit`: with `y` a train step is measured, without it a prediction.
        **options
            As for `kerascope.profile`.

        Returns
        -------
        Profile
            A table by phase, layer and op, which prints itself, and can be drawn.
        """
        return edge.show("profile", self, x=x, y=y, **options)

    def __reduce__(self) -> Any:
        return unpickle_model, (pickle_model(self),)
