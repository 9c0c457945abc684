"""What a callback is: eight methods that `fit` calls, and what it may read while it is called.

`CallbackList` calls them. A callback inherits from `Callback` and writes only the hooks that it
wants; the others cost nothing, since the list skips them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from types import MappingProxyType
from typing import Any

from kerascope.errors import ArgumentError, DtypeError
from kerascope.registry import Registry, did_you_mean

Logs = MutableMapping[str, Any]
Params = Mapping[str, Any]

EVENT_HOOKS = (
    "on_train_begin",
    "on_train_end",
    "on_epoch_begin",
    "on_epoch_end",
    "on_batch_begin",
    "on_batch_end",
)
HOOKS = ("set_params", "set_model", *EVENT_HOOKS)

registry = Registry("callback")


def is_callback(item: Any) -> bool:
    """Tell whether `item` is an object with all the methods of a callback, whatever its class."""
    return not isinstance(item, type) and not missing_hooks(item)


def missing_hooks(item: Any) -> list[str]:
    """Return the names of the callback methods that `item` lacks."""
    return [name for name in HOOKS if not callable(getattr(item, name, None))]


def get(identifier: Any) -> Any:
    """Turn a name, a configuration or a callback into a callback.

    Raises
    ------
    UnknownNameError
        No callback has this name; the message suggests the nearest one.

    Examples
    --------
    >>> get("History").history
    {}
    >>> get("EarlyStoping")
    Traceback (most recent call last):
        ...
    kerascope.errors.UnknownNameError: Unknown callback 'EarlyStoping'. Did you mean ...
    """
    return identifier if is_callback(identifier) else registry.get(identifier)


class Callback:
    """Base of callbacks: every hook is there and does nothing.

    Attributes
    ----------
    model : Model or None
        The model that is trained; set before training begins.
    params : mapping
        "batch_size", "epochs", "steps", "samples", "verbose", "do_validation", "metrics" (the names
        that logs may have), and Keras 1's "nb_epoch" and "nb_sample".
    validation_data : list or None
        The arrays of the validation: inputs, targets, sample weights; None without validation, or
        if a generator makes its batches.

    Notes
    -----
    `logs` at the end of a batch has "batch", "size" and the batch's loss and metrics; at the end of
    an epoch the means over the epoch and, with validation, the same with `val_` before the name.
    What a callback writes into the logs of an epoch, the callbacks after it read; `History` is
    last.

    In dialect "3" the figures at the end of a batch are the means so far, and there is no "batch"
    and no "size". So they are everywhere in `evaluate`, `predict` and the validation of `fit`: a
    batch of prediction has "outputs".

    A run that was killed can go on: see `BackupAndRestore`. Attributes that are plain data
    (numbers, texts, arrays, containers of them) come back by themselves; what else a callback has
    to remember, it returns as plain data by a method `get_state()`, and takes by
    `set_state(state)`.

    Examples
    --------
    >>> class Losses(Callback):
    ...     def on_train_begin(self, logs=None):
    ...         self.losses = []
    ...
    ...     def on_batch_end(self, batch, logs=None):
    ...         self.losses.append(logs["loss"])
    """

    model: Any = None
    validation_data: Any = None
    params: Params = MappingProxyType({})

    def set_params(self, params: Params) -> None:
        """Receive the facts of the run; see the attribute `params`."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Receive the model that will be trained."""
        self.model = model

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Training begins."""

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Training ended; not called if it failed."""

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Epoch number `epoch`, from 0, begins."""

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Epoch number `epoch` ended, its validation too."""

    def on_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Batch number `batch` of the epoch, from 0, begins."""

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Batch number `batch` of the epoch ended."""

    def on_test_begin(self, logs: Logs | None = None) -> None:
        """Hear that an evaluation begins, also that of the validation data in `fit`."""

    def on_test_end(self, logs: Logs | None = None) -> None:
        """Hear that an evaluation ended; `logs` has its loss and metrics."""

    def on_test_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Batch number `batch` of an evaluation begins."""

    def on_test_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Batch number `batch` of an evaluation ended."""

    def on_predict_begin(self, logs: Logs | None = None) -> None:
        """Hear that a prediction begins."""

    def on_predict_end(self, logs: Logs | None = None) -> None:
        """Hear that a prediction ended."""

    def on_predict_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Batch number `batch` of a prediction begins."""

    def on_predict_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Batch number `batch` of a prediction ended; `logs` has its "outputs"."""

    def on_train_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Keras 3's name: a batch of training begins; calls `on_batch_begin`."""
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Keras 3's name: a batch of training ended; calls `on_batch_end`."""
        self.on_batch_end(batch, logs)


@registry.register
class LambdaCallback(Callback):
    """A callback made of functions.

    Parameters
    ----------
    on_epoch_begin, on_epoch_end : callable, optional
        Called as `function(epoch, logs)`.
    on_batch_begin, on_batch_end : callable, optional
        Called as `function(batch, logs)`.
    on_train_begin, on_train_end : callable, optional
        Called as `function(logs)`.
    **kwargs
        Functions for the other hooks of `Callback`; all else becomes attributes of the callback.

    Raises
    ------
    DtypeError
        A hook is no function.
    ArgumentError
        There is no such hook.

    Examples
    --------
    >>> callback = LambdaCallback(on_epoch_end=lambda epoch, logs: print(epoch, logs["loss"]))
    >>> callback.on_epoch_end(0, {"loss": 0.5})
    0 0.5
    """

    def __init__(
        self,
        on_epoch_begin: Callable[..., object] | None = None,
        on_epoch_end: Callable[..., object] | None = None,
        on_batch_begin: Callable[..., object] | None = None,
        on_batch_end: Callable[..., object] | None = None,
        on_train_begin: Callable[..., object] | None = None,
        on_train_end: Callable[..., object] | None = None,
        **kwargs: Any,
    ) -> None:
        hooks = {name: value for name, value in locals().items() if name.startswith("on_")}
        hooks |= {name: kwargs.pop(name) for name in list(kwargs) if hasattr(Callback, name)}
        given = {name: function for name, function in hooks.items() if function is not None}
        for name, function in given.items():
            if not callable(function):
                raise DtypeError(
                    f"LambdaCallback: {name} cannot be called; expected a function, "
                    f"got {type(function).__name__}."
                )
        for name in kwargs:
            if name.startswith("on_"):
                raise ArgumentError(
                    f"LambdaCallback: no hook {name!r}; expected one of {', '.join(hooks)}. "
                    f"{did_you_mean(name, hooks)}".rstrip()
                )
        vars(self).update(kwargs)
        vars(self).update(given)
