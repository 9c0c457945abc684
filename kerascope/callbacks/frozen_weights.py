"""The weights that a run only reads: if they change, somebody else trains them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kerascope.backend.graph import Variable
from kerascope.callbacks.kept_state import KeptState, checksum, keeps_state
from kerascope.callers import warn


class FrozenWeights:
    """Looks at weights from backup to backup, and says once that they changed.

    In a GAN a callback trains the discriminator, whose weights the model of `fit` has in it and
    leaves as they are. They are in the backup, the optimizer of the discriminator is not.

    Parameters
    ----------
    weights : list of Variable
    callbacks : iterable of KeptState
        If one that a user wrote tells its state, nothing is said: its writer thought of it.
    """

    def __init__(self, weights: list[Variable], callbacks: Iterable[KeptState]) -> None:
        self._weights = [] if any(map(_is_told_by_its_writer, callbacks)) else weights
        self._sums: list[Any] = []

    def look(self) -> None:
        """Compare the weights with those of the last time.

        Warns
        -----
        KerascopeWarning
            They changed; the first time only.
        """
        before, self._sums = self._sums, [checksum(w.get_value()) for w in self._weights]
        pairs = zip(self._weights, before, self._sums, strict=False)  # there is no first `before`
        changed = [weight for weight, was, now in pairs if was != now]
        if not changed:
            return
        self._weights = []
        warn(
            f"BackupAndRestore: {changed[0].name!r}, which this training only reads, was changed "
            "while it ran. If another model is trained in a callback, its optimizer is not in the "
            "backup: a run that goes on begins with a new one, and ends with other numbers. Give "
            "that callback get_state(), which returns what is missing "
            "(optimizer.get_weights()), and set_state(state)."
        )


def _is_told_by_its_writer(kept: KeptState) -> bool:
    is_ours = type(kept.subject).__module__.startswith("kerascope.")
    return not is_ours and keeps_state(kept.subject)
