"""Watching one figure of the logs, to see whether it is there and whether it got better.

`EarlyStopping`, `ReduceLROnPlateau` and `ModelCheckpoint` watch `val_loss` or another one in the
same way.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kerascope import edge
from kerascope.errors import ArgumentError, KerascopeWarning
from kerascope.printable import printable, printable_lines
from kerascope.registry import did_you_mean

MODES = ("auto", "min", "max")
GROWS_WHEN_BETTER = ("acc", "fmeasure")


def say(text: str) -> None:
    """Tell a person what a callback with `verbose=1` did."""
    edge.show("message", printable_lines(text))


def other_accuracy(name: str) -> str | None:
    """Return the other spelling of an accuracy's name, None if it is no accuracy.

    The dialect decides whether logs have `acc` or `accuracy`; a monitor accepts both.

    Examples
    --------
    >>> other_accuracy("val_acc"), other_accuracy("accuracy"), other_accuracy("loss")
    ('val_accuracy', 'acc', None)
    """
    prefix, separator, word = name.rpartition("_")
    swapped = {"acc": "accuracy", "accuracy": "acc"}.get(word)
    return swapped and prefix + separator + swapped


def find(name: str, logs: Mapping[str, Any]) -> Any:
    """Return the value called `name`, under either spelling of accuracy; None if missing."""
    if name in logs:
        return logs[name]
    return logs.get(other_accuracy(name) or name)


def is_awaited(name: str, logs: Mapping[str, Any], params: Mapping[str, Any] | None) -> bool:
    """Tell whether logs lack what the `params` of the run promise: nothing was validated."""
    promised = dict.fromkeys((params or {}).get("metrics", ()), 0)
    return find(name, logs) is None and find(name, promised) is not None


@dataclass(frozen=True)
class Monitor:
    """Which figure is watched, and which way is better.

    Parameters
    ----------
    name : str
        Key of the logs: "val_loss".
    mode : {"auto", "min", "max"}
        Whether less or more is better; "auto": more, if the name speaks of accuracy or F-measure.
    where : str
        The callback, for messages.
    min_delta : float
        A smaller change is none.

    Raises
    ------
    ArgumentError
        There is no such mode.

    Examples
    --------
    >>> monitor = Monitor("val_acc", "auto", "EarlyStopping", min_delta=0.1)
    >>> monitor.is_better(0.95, than=0.8), monitor.is_better(0.85, than=0.8)
    (True, False)
    """

    name: str
    mode: str
    where: str
    min_delta: float = 0.0
    grows: bool = field(init=False)

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ArgumentError(
                f"{self.where}: no mode {self.mode!r}; expected 'auto', 'min' or 'max'. "
                f"{did_you_mean(str(self.mode), MODES)}".rstrip()
            )
        guess = any(word in self.name for word in GROWS_WHEN_BETTER)
        object.__setattr__(self, "grows", guess if self.mode == "auto" else self.mode == "max")

    @property
    def worst(self) -> float:
        """The value that every other one is better than."""
        return float("-inf") if self.grows else float("inf")

    def is_better(self, value: float, than: float) -> bool:
        """Tell whether `value` is better by more than `min_delta`; NaN never is."""
        gain = float(value) - float(than)
        return (gain if self.grows else -gain) > abs(self.min_delta)

    def value(self, logs: Mapping[str, Any] | None, params: Mapping[str, Any] | None) -> Any:
        """Return the watched figure; None, with a warning, if the logs do not have it.

        There is no warning for what the `params` of the run promise: after some epochs nothing is
        validated if `fit` was given `validation_freq`.

        Warns
        -----
        KerascopeWarning
            The figure is missing.
        """
        logs = logs or {}
        found = find(self.name, logs)
        if found is None and not is_awaited(self.name, logs, params):
            known = printable(", ".join(sorted(logs))) or "nothing"
            warnings.warn(
                f"{self.where}: {self.name!r} is not in the logs, so nothing is done; expected one "
                f"of their names, which are {known}. {self._remedy(logs)}".rstrip(),
                KerascopeWarning,
                stacklevel=3,
            )
        return found

    def _remedy(self, logs: Mapping[str, Any]) -> str:
        without_validation = self.name.removeprefix("val_")
        if without_validation != self.name and find(without_validation, logs) is not None:
            return "Give fit validation_data or validation_split."
        return did_you_mean(self.name, logs)
