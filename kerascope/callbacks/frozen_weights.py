"""The weights that a run only reads: if they change, somebody else trains them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from weakref import WeakKeyDictionary

from kerascope.backend.graph import Variable
from kerascope.callbacks.kept_state import KeptState, checksum, keeps_state
from kerascope.callers import warn


class FrozenWeights:
    """Looks at weights from backup to backup, and says once that they changed.

    In a GAN a callback trains the discriminator, whose weights the model of `fit` has in it and
    leaves as they are. They are in the backup, the optimizer of the discriminator is not. Of a
    model that shares no weight with that of `fit`, nothing is.

    Parameters
    ----------
    weights : list of Variable
    steps_of_others : callable
        Returns how many steps every other model was trained.
    callbacks : iterable of KeptState
        If one that a user wrote tells its state, nothing is said: its writer thought of it.
    """

    def __init__(
        self,
        weights: list[Variable],
        steps_of_others: Callable[[], dict[Any, int]],
        callbacks: Iterable[KeptState],
    ) -> None:
        self._is_over = any(map(_is_told_by_its_writer, callbacks))
        self._weights = weights
        self._steps_of_others = steps_of_others
        self._sums: list[Any] = []
        self._steps: WeakKeyDictionary[Any, int] | None = None  # there is no first look before

    def look(self) -> None:
        """Compare the weights with those of the last time.

        Warns
        -----
        KerascopeWarning
            They changed, or another model was trained; the first time only.
        """
        if self._is_over:
            return
        before, self._sums = self._sums, [checksum(w.get_value()) for w in self._weights]
        pairs = zip(self._weights, before, self._sums, strict=False)  # there is no first `before`
        changed = [weight for weight, was, now in pairs if was != now]
        steps, self._steps = self._steps, WeakKeyDictionary(self._steps_of_others())
        if changed:
            self._warn(
                f"{changed[0].name!r}, which this training only reads, was changed while it ran. "
                "If another model is trained in a callback, its optimizer is not in the backup: a "
                "run that goes on begins with a new one, and ends with other numbers. Give that "
                "callback get_state(), which returns what is missing (optimizer.get_weights()), "
                "and set_state(state)."
            )
            return
        if steps is None:
            return
        trained = [model.name for model, n in self._steps.items() if n != steps.get(model, 0)]
        if trained:
            self._warn(
                f"the model {sorted(trained)[0]!r} was trained while this training ran, and is not "
                "in its backup: a run that goes on begins with a new one. If a callback trains it "
                "on and on, give that callback get_state(), which returns what is missing "
                "(get_weights() of the model and of its optimizer), and set_state(state)."
            )

    def _warn(self, what: str) -> None:
        self._is_over = True
        warn(f"BackupAndRestore: {what}")


def _is_told_by_its_writer(kept: KeptState) -> bool:
    is_ours = type(kept.subject).__module__.startswith("kerascope.")
    return not is_ours and keeps_state(kept.subject)
