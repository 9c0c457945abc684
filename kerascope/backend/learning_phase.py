"""The placeholder that tells training from test."""

from __future__ import annotations

from kerascope.backend.graph import Placeholder
from kerascope.errors import PhaseAskedError


class LearningPhase(Placeholder):
    """0 in test and 1 in training, fed at each call."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__((), "float32", "keras_learning_phase", default=0.0)
        self._uses_learning_phase = True

    def __bool__(self) -> bool:
        raise PhaseAskedError(
            "training is a symbol here, neither true nor false: one graph serves training and "
            "test. Write K.in_train_phase(a, b, training) for `a if training else b`.",
            subject=self,
        )
