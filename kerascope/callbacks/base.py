"""The base class of callbacks: the methods that `fit` calls, and the attributes they can read.

`CallbackList` calls the methods. A callback inherits from `Callback` and overrides only the hooks
that it needs. Hooks that are not overridden cost nothing, because the list skips them.
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
    """Return whether `item` has all methods of a callback. Its class does not matter."""
    return not isinstance(item, type) and not missing_hooks(item)


def missing_hooks(item: Any) -> list[str]:
    """Return the names of the callback methods that `item` lacks."""
    return [name for name in HOOKS if not callable(getattr(item, name, None))]


def get(identifier: Any) -> Any:
    """Turn a name, a configuration or a callback into a callback.

    Raises
    ------
    UnknownNameError
        The name is unknown. The message suggests a similar name.

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
    """Base class of callbacks. Every hook exists and does nothing.

    Attributes
    ----------
    model : Model or None
        The model that is trained. It is set before training begins.
    params : mapping
        The arguments of the run by name: "batch_size", "epochs", "steps", "samples", "verbose",
        "do_validation", "metrics" (the keys that logs may have), and Keras 1's "nb_epoch" and
        "nb_sample".
    validation_data : list or None
        The arrays of the validation data: inputs, targets, sample weights. None without validation,
        or if a generator makes the validation batches.

    Notes
    -----
    At the end of a batch of training, `logs` contains "batch", "size" and the batch's loss and
    metrics. At the end of an epoch, `logs` contains the means over the epoch. With validation, it
    also contains the means over the validation data, with the prefix `val_`. A callback can add
    values to the logs of an epoch for the callbacks that are called later. `History` is called last
    and records these values too.

    In dialect "3", the logs at the end of a batch contain the means over the epoch so far, without
    "batch" and "size". In every dialect, the batches of `evaluate` and of the validation in `fit`
    have such logs. The logs of a batch of `predict` contain "outputs".

    `BackupAndRestore` continues a run that was killed. It restores the attributes of a callback
    that are plain data (numbers, texts, arrays, containers of them). If your callback has other
    state, return this state as plain data from a method `get_state()`, and restore it in a method
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
        """Set the parameters of the run; see the attribute `params`."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Set the model that will be trained."""
        self.model = model

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Run at the beginning of training."""

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Run at the end of training, unless it failed."""

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Run at the beginning of an epoch. Epochs are numbered from 0."""

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Run at the end of an epoch, after its validation."""

    def on_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Run at the beginning of a batch. In each epoch, batches are numbered from 0."""

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Run at the end of a batch."""

    def on_test_begin(self, logs: Logs | None = None) -> None:
        """Run at the beginning of an evaluation, including the validation in `fit`."""

    def on_test_end(self, logs: Logs | None = None) -> None:
        """Run at the end of an evaluation. `logs` contains its loss and metrics."""

    def on_test_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Run at the beginning of a batch of an evaluation."""

    def on_test_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Run at the end of a batch of an evaluation."""

    def on_predict_begin(self, logs: Logs | None = None) -> None:
        """Run at the beginning of a prediction."""

    def on_predict_end(self, logs: Logs | None = None) -> None:
        """Run at the end of a prediction."""

    def on_predict_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Run at the beginning of a batch of a prediction."""

    def on_predict_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Run at the end of a batch of a prediction. `logs` contains its "outputs"."""

    def on_train_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Run at the beginning of a batch of training: Keras 3's name of `on_batch_begin`."""
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Run at the end of a batch of training: Keras 3's name of `on_batch_end`."""
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
        Functions for the other hooks of `Callback`. Other arguments become attributes.

    Raises
    ------
    DtypeError
        A hook is not a function.
    ArgumentError
        An argument that begins with `on_` is not the name of a hook.

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
                    f"LambdaCallback: {name}: expected a function, got {type(function).__name__}."
                )
        for name in kwargs:
            if name.startswith("on_"):
                raise ArgumentError(
                    f"LambdaCallback: unknown hook {name!r}. {did_you_mean(name, hooks)}"
                    f"Use one of: {', '.join(hooks)}."
                )
        vars(self).update(kwargs)
        vars(self).update(given)
