"""The list through which the training loop calls all callbacks.

`CallbackList.for_training` puts the callbacks of `fit` in order. Most callbacks act only at epochs.
So at a batch the list calls only the callbacks that override the batch hook.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kerascope.callbacks.base import HOOKS, Callback, Logs, Params, is_callback, missing_hooks
from kerascope.callbacks.progress import ProgbarLogger
from kerascope.callbacks.recording import BaseLogger, History, RunningMeans, in_order
from kerascope.errors import DtypeError
from kerascope.spellings import dialect_options

OLD_PARAMETERS = {"epochs": "nb_epoch", "samples": "nb_sample"}


def checked_callbacks(callbacks: Any) -> list[Any]:
    """Return the callbacks as a list. Accepts one callback, a list or None.

    Raises
    ------
    DtypeError
        An item does not have the methods of a callback. The message contains its position and type.

    Examples
    --------
    >>> checked_callbacks([History()])
    [<kerascope.callbacks.recording.History object at ...>]
    >>> checked_callbacks([History])
    Traceback (most recent call last):
        ...
    kerascope.errors.DtypeError: callbacks[0]: expected an instance, got the class History. ...
    """
    if callbacks is None:
        return []
    if is_callback(callbacks):
        return [callbacks]
    if isinstance(callbacks, (str, bytes, Mapping)) or not isinstance(callbacks, Iterable):
        raise DtypeError(f"callbacks: expected a list of callbacks, got {_described(callbacks)}.")
    found = list(callbacks)
    for index, callback in enumerate(found):
        _check(callback, f"callbacks[{index}]")
    return found


def _described(item: Any) -> str:
    return f"the class {item.__name__}" if isinstance(item, type) else type(item).__name__


def _check(item: Any, where: str) -> None:
    """Raise DtypeError if `item` lacks a method of a callback."""
    if is_callback(item):
        return
    if isinstance(item, type) and not missing_hooks(item):
        raise DtypeError(
            f"{where}: expected an instance, got the class {item.__name__}. "
            f"Write {item.__name__}().",
            subject=item,
        )
    missing = missing_hooks(item)
    lacks = "" if len(missing) == len(HOOKS) else f" It lacks {', '.join(missing)}."
    remedy = (
        "Wrap a function: LambdaCallback(on_epoch_end=function)."
        if callable(item) and len(missing) == len(HOOKS)
        else "Inherit from kerascope.callbacks.Callback."
    )
    raise DtypeError(
        f"{where}: expected a callback, an object with the methods of Callback, "
        f"got {_described(item)}.{lacks} {remedy}",
        subject=item,
    )


class CallbackList:
    """Callbacks in the order in which they are called.

    Parameters
    ----------
    callbacks : list of Callback, optional
        Objects with the methods of a callback.
    queue_length : int
        An argument of older Keras versions. It has no effect.

    Attributes
    ----------
    callbacks : list of Callback

    Raises
    ------
    DtypeError
        An item of the list is not a callback.

    Examples
    --------
    >>> history = History()
    >>> callbacks = CallbackList([history])
    >>> callbacks.on_train_begin()
    >>> callbacks.on_epoch_end(0, {"loss": 0.5})
    >>> history.history
    {'loss': [0.5]}
    """

    def __init__(self, callbacks: Any = None, queue_length: int = 10) -> None:
        self.callbacks = checked_callbacks(callbacks)
        self.queue_length = queue_length
        self.params: dict[str, Any] = {}
        self.model: Any = None
        self._so_far: RunningMeans | None = None
        self._find_batch_hooks()

    @classmethod
    def for_training(
        cls,
        callbacks: Any,
        *,
        model: Any,
        params: Params,
        history: Any = None,
        count_mode: str = "samples",
        validation_data: list[Any] | None = None,
    ) -> CallbackList:
        """Return the list that `fit` uses: averages, progress, the caller's callbacks, history.

        Callbacks whose `comes_last` is true follow the history.

        Parameters
        ----------
        callbacks : list of Callback, Callback or None
            The argument of `fit`.
        model : Model
            The list uses its `stateful_metric_names`.
        params : mapping
            See `Callback.params`. With `verbose` 0 no progress is shown.
        history : History, optional
            Called after the caller's callbacks, so that it records the values they add to the logs.
        count_mode : {"samples", "steps"}
            Whether the progress counts samples or steps.
        validation_data : list, optional
            The arrays of the validation, for each callback's `validation_data`: inputs, targets,
            sample weights, and the flag of the learning phase if the model has one.

        Raises
        ------
        DtypeError
            An item is not a callback. No callback has been called yet.
        """
        own = checked_callbacks(callbacks)
        stateful = list(getattr(model, "stateful_metric_names", ()))
        averages = BaseLogger(stateful_metrics=stateful)
        ordered: list[Any] = [averages]
        if params.get("verbose"):
            ordered.append(ProgbarLogger(count_mode, stateful_metrics=stateful))
            ordered[-1].means = averages.means
        ordered += [callback for callback in own if not _comes_last(callback)]
        ordered.append(History() if history is None else history)
        ordered += filter(_comes_last, own)
        callback_list = cls()
        callback_list.callbacks = ordered
        callback_list._so_far = averages.means if dialect_options().logs_so_far else None
        callback_list._find_batch_hooks()
        callback_list.set_model(model)
        callback_list.set_params(params)
        for callback in ordered:
            callback.validation_data = validation_data
        return callback_list

    def append(self, callback: Any) -> None:
        """Add a callback at the end."""
        _check(callback, f"callbacks[{len(self.callbacks)}]")
        self.callbacks.append(callback)
        self._find_batch_hooks()

    def set_params(self, params: Params) -> None:
        """Set the parameters of the run for all callbacks, also under Keras 1's names."""
        self.params = dict(params)
        for name, old_name in OLD_PARAMETERS.items():
            if name in self.params:
                self.params.setdefault(old_name, self.params[name])
        for callback in self.callbacks:
            callback.set_params(self.params)

    def set_model(self, model: Any) -> None:
        """Set the model for all callbacks."""
        self.model = model
        for callback in self.callbacks:
            callback.set_model(model)

    def set_run(self, run: Any) -> None:
        """Pass the run, an `engine.run.Run`, to the callbacks that back up runs."""
        for callback in self.callbacks:
            if hasattr(callback, "set_run"):
                callback.set_run(run)

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Call `on_train_begin` of all callbacks."""
        logs = {} if logs is None else logs
        for callback in self.callbacks:
            callback.on_train_begin(logs)
        self._find_batch_hooks()

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Call `on_train_end` of all callbacks. In dialect "3", omit logs that callbacks added."""
        logs = {} if logs is None else logs
        if self._so_far is not None:
            measured = self.params.get("metrics", ())
            logs = {name: value for name, value in logs.items() if name in measured}
        for callback in self.callbacks:
            callback.on_train_end(logs)

    def hooks(self, name: str) -> list[Callable[..., None]]:
        """Return the overridden hooks called `name`, such as "on_test_begin"."""
        found = [getattr(callback, name, None) for callback in self.callbacks]
        empty = getattr(Callback, name)
        return [hook for hook in found if hook and getattr(hook, "__func__", None) is not empty]

    def tell(self, name: str, *args: Any) -> None:
        """Call the overridden hooks called `name`, such as "on_test_begin"."""
        for hook in self.hooks(name):
            hook(*args)

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Call `on_epoch_begin` of all callbacks."""
        logs = {} if logs is None else logs
        for callback in self.callbacks:
            callback.on_epoch_begin(epoch, logs)
        self._find_batch_hooks()

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Call `on_epoch_end` of all callbacks. Each of them can add to `logs`."""
        logs = {} if logs is None else logs
        for callback in self.callbacks:
            callback.on_epoch_end(epoch, logs)

    def on_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Call the overridden `on_batch_begin` hooks."""
        if not self._batch_begin_hooks:
            return
        logs = {} if logs is None or self._so_far is not None else logs
        for hook in self._batch_begin_hooks:
            hook(batch, logs)

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Call the overridden `on_batch_end` hooks."""
        if not self._batch_end_hooks:
            return
        logs = {} if logs is None else logs
        so_far = self._so_far
        for hook in self._batch_end_hooks:
            if so_far is not None and not _counts(hook):  # callbacks that count batches come first
                logs, so_far = in_order(so_far.results()), None
            hook(batch, logs)

    def _find_batch_hooks(self) -> None:
        """Find the overridden batch hooks, once per epoch, because callbacks can be changed."""
        self._batch_begin_hooks = _written_hooks(self.callbacks, "on_batch_begin")
        self._batch_end_hooks = _written_hooks(self.callbacks, "on_batch_end")

    @property
    def only_count_batches(self) -> bool:
        """Whether no callback has hooks for batches.

        The callbacks that `fit` adds to count and average are ignored.
        """
        return not self._batch_begin_hooks and all(map(_counts, self._batch_end_hooks))

    @property
    def needs_batch_end_only(self) -> bool:
        """Whether no callback has a hook for the beginning of a batch."""
        return not self._batch_begin_hooks

    only_hear_of_ends = needs_batch_end_only  # the former name

    def averages_of(self, names: list[str]) -> RunningMeans | None:
        """Return the running means of `BaseLogger`, if no other callback has hooks for batches.

        Return None if another callback has such hooks, or if `BaseLogger` averages other quantities
        than `names`.
        """
        hooks = self._batch_end_hooks
        logger = getattr(hooks[0], "__self__", None) if len(hooks) == 1 else None
        if type(logger) is not BaseLogger or self._batch_begin_hooks:
            return None
        wanted = list(logger.params.get("metrics", ()))
        are_these = wanted[: len(names)] == names and not {"batch", "size"}.intersection(wanted)
        return logger.means if are_these else None


def _counts(hook: Any) -> bool:
    """Return whether a hook is a method of the `BaseLogger` or `ProgbarLogger` that `fit` adds."""
    return type(getattr(hook, "__self__", None)) in (BaseLogger, ProgbarLogger)


def _comes_last(callback: Any) -> bool:
    """Return whether a callback must be called after all other callbacks."""
    return bool(getattr(callback, "comes_last", False))


def _written_hooks(callbacks: list[Any], name: str) -> list[Callable[..., None]]:
    """Return the hooks `name`, such as `on_batch_begin`, of the callbacks that override it.

    If a callback overrides the hook with Keras 3's name, `on_train_batch_begin`, this hook is
    returned instead. In the base class it calls `on_batch_begin`.
    """
    newer = name.replace("on_", "on_train_")
    empty, empty_newer = getattr(Callback, name), getattr(Callback, newer)
    found = []
    for callback in callbacks:
        hook = getattr(callback, newer, None)
        if hook is None or getattr(hook, "__func__", None) is empty_newer:
            hook = getattr(callback, name)
        if getattr(hook, "__func__", None) is not empty:
            found.append(hook)
    return found
