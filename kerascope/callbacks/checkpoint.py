"""Saving the model while it is trained."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from string import Formatter
from typing import Any

from kerascope.callbacks.base import Callback, Logs, registry
from kerascope.callbacks.monitor import Monitor, find, is_awaited, say
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean


class _Fields(dict[str, Any]):
    """What a file name's pattern may speak of; both spellings of an accuracy are found."""

    def __missing__(self, name: str) -> Any:
        value = find(name, self)
        if value is None:
            raise ArgumentError(
                f"ModelCheckpoint: the pattern of the file's name has an unknown field {name!r}; "
                f"expected one of {', '.join(sorted(self))}. {did_you_mean(name, self)}".rstrip()
            )
        return value


@registry.register
class ModelCheckpoint(Callback):
    """Saves the model at the end of an epoch.

    Parameters
    ----------
    filepath : str or path
        Where to save. May have fields: `{epoch:02d}`, from 1, and every name in the logs, as in
        `weights.{epoch:02d}-{val_loss:.2f}.h5`. Missing folders are made.
    monitor : str
        Key of the logs; `acc` and `accuracy` are the same. Read only if `save_best_only`.
    verbose : {0, 1}
        1 tells what was saved, and why not.
    save_best_only : bool
        Save only when the watched figure is better than ever before.
    save_weights_only : bool
        Call `model.save_weights` instead of `model.save`.
    mode : {"auto", "min", "max"}
        Whether less or more is better.
    period : int
        Epochs between two saves.
    save_freq : {"epoch"}
        Keras 3's word; only "epoch" is possible.

    Attributes
    ----------
    best : float
        Best value so far. It is kept when training goes on with another `fit`.

    Raises
    ------
    ArgumentError
        A bad pattern, mode, period or frequency.

    Examples
    --------
    >>> ModelCheckpoint("weights.{epoch:02d}-{val_loss:.2f}.h5").path_of(0, {"val_loss": 0.123})
    'weights.01-0.12.h5'
    """

    def __init__(
        self,
        filepath: str | os.PathLike[str],
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        period: int = 1,
        *,
        save_freq: str = "epoch",
    ) -> None:
        self.filepath = _checked_pattern(os.fspath(filepath))
        self._monitor = Monitor(monitor, mode, "ModelCheckpoint")
        if not isinstance(period, int) or period < 1:
            raise ArgumentError(
                f"ModelCheckpoint: bad period; expected a number of epochs, got {period!r}."
            )
        if save_freq != "epoch":
            raise ArgumentError(
                f"ModelCheckpoint: cannot save in the middle of an epoch; expected save_freq "
                f"'epoch', got {save_freq!r}. To save every n epochs give period=n."
            )
        self.monitor = monitor
        self.verbose = verbose
        self.save_best_only = save_best_only
        self.save_weights_only = save_weights_only
        self.mode = mode
        self.period = period
        self.best = self._monitor.worst
        self.epochs_since_last_save = 0

    def path_of(self, epoch: int, logs: Mapping[str, Any] | None = None) -> str:
        """Return the file's name for one epoch, counted from 0.

        Raises
        ------
        ArgumentError
            The pattern has a field that is not in the logs, or that cannot be written so.
        """
        fields = _Fields({**(logs or {}), "epoch": epoch + 1})
        try:
            return self.filepath.format_map(fields)
        except ArgumentError:
            raise
        except (ValueError, TypeError, AttributeError, LookupError) as error:
            raise ArgumentError(
                f"ModelCheckpoint: cannot fill the pattern {self.filepath!r}: {error}."
            ) from error

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Save, if it is time.

        If the file's name speaks of the validation, an epoch without one (`validation_freq`) is
        passed over in silence, and the next epoch that has one is saved.
        """
        self.epochs_since_last_save += 1
        waits = any(is_awaited(field, logs or {}, self.params) for field in _fields(self.filepath))
        if self.epochs_since_last_save < self.period or waits:
            return
        self.epochs_since_last_save = 0
        if not self.save_best_only:
            self._save(epoch, logs)
            return
        current = self._monitor.value(logs, self.params)
        if current is None:
            return
        if self._monitor.is_better(current, self.best):
            self._save(epoch, logs)
            self.best = current
        elif self.verbose > 0:
            say(f"Epoch {epoch + 1}: {self.monitor} is not better than {self.best:.5f}.")

    def _save(self, epoch: int, logs: Logs | None) -> None:
        """Write the file; `model.save` replaces an older one only when the new one is complete."""
        path = self.path_of(epoch, logs)
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        save = self.model.save_weights if self.save_weights_only else self.model.save
        save(path, overwrite=True)
        if self.verbose > 0:
            say(f"Epoch {epoch + 1}: the model was saved to {path}.")


def _fields(pattern: str) -> list[str]:
    return [field for _, field, _, _ in Formatter().parse(pattern) if field is not None]


def _checked_pattern(pattern: str) -> str:
    """Return `pattern`; raise ArgumentError now, not after an epoch, if its braces are wrong."""
    try:
        fields = _fields(pattern)
    except ValueError as error:
        raise ArgumentError(
            f"ModelCheckpoint: bad pattern {pattern!r}: {error}. "
            f"Write a brace twice to mean itself."
        ) from error
    if any(field == "" or field.isdigit() for field in fields):
        raise ArgumentError(
            f"ModelCheckpoint: a field without a name in the pattern {pattern!r}; "
            f"expected names as in {{epoch:02d}}."
        )
    return pattern
