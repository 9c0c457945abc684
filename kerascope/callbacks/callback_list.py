"""The one object that the training loop talks to; it passes everything on to the callbacks.

`CallbackList.for_training` puts the callbacks of `fit` in order. Batches are many and most
callbacks care only for epochs, so the list calls, at a batch, only those that wrote the hook.
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
    """Return the callbacks as a list; one alone makes a list of one, None an empty list.

    Raises
    ------
    DtypeError
        Something is no callback; the message has its position and type.

    Examples
    --------
    >>> checked_callbacks([History()])
    [<kerascope.callbacks.recording.History object at ...>]
    >>> checked_callbacks([History])
    Traceback (most recent call last):
        ...
    kerascope.errors.DtypeError: callbacks[0]: it is the class History; expected an instance. ...
    """
    if callbacks is None:
        return []
    if is_callback(callbacks):
        return [callbacks]
    if isinstance(callbacks, (str, bytes, Mapping)) or not isinstance(callbacks, Iterable):
        raise DtypeError(
            f"callbacks: not a list; expected a list of callbacks, got {_described(callbacks)}."
        )
    found = list(callbacks)
    for index, callback in enumerate(found):
        _check(callback, f"callbacks[{index}]")
    return found


def _described(item: Any) -> str:
    return f"the class {item.__name__}" if isinstance(item, type) else f"a {type(item).__name__}"


def _check(item: Any, where: str) -> None:
    """Raise DtypeError if `item` has not all the methods of a callback."""
    if is_callback(item):
        return
    if isinstance(item, type) and not missing_hooks(item):
        raise DtypeError(
            f"{where}: it is the class {item.__name__}; expected an instance. "
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
        f"{where}: no callback; expected an object with the methods of Callback, "
        f"got {_described(item)}.{lacks} {remedy}",
        subject=item,
    )


class CallbackList:
    """Callbacks in the order in which they are told.

    Parameters
    ----------
    callbacks : list of Callback, optional
        Any object with the methods of a callback will do.
    queue_length : int
        Keras's older argument: over how many batches it measured its own speed. Nothing reads it.

    Attributes
    ----------
    callbacks : list of Callback

    Raises
    ------
    DtypeError
        Something in the list is no callback.

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

        A callback with `comes_last` comes after the history.

        Parameters
        ----------
        callbacks : list of Callback, Callback or None
            What the caller of `fit` gave.
        model : Model
            Read: `stateful_metric_names`.
        params : mapping
            See `Callback.params`; `verbose` 0 leaves the progress out.
        history : History, optional
            Comes after them, so that it records what the others write into the logs.
        count_mode : {"samples", "steps"}
            What the progress counts.
        validation_data : list, optional
            The arrays of the validation, each callback's `validation_data`: inputs, targets, sample
            weights, and the flag of the learning phase if the model has one.

        Raises
        ------
        DtypeError
            Something is no callback. No callback has been told anything yet.
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
        """Tell the facts of the run; Keras 1's names for them are added."""
        self.params = dict(params)
        for name, old_name in OLD_PARAMETERS.items():
            if name in self.params:
                self.params.setdefault(old_name, self.params[name])
        for callback in self.callbacks:
            callback.set_params(self.params)

    def set_model(self, model: Any) -> None:
        """Tell which model will be trained."""
        self.model = model
        for callback in self.callbacks:
            callback.set_model(model)

    def set_run(self, run: Any) -> None:
        """Tell those that back runs up which run it is: an `engine.training_run.Run`."""
        for callback in self.callbacks:
            if hasattr(callback, "set_run"):
                callback.set_run(run)

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Tell that training begins."""
        logs = {} if logs is None else logs
        for callback in self.callbacks:
            callback.on_train_begin(logs)
        self._find_batch_hooks()

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Tell that training ended; in dialect "3" without what callbacks wrote into the logs."""
        logs = {} if logs is None else logs
        if self._so_far is not None:
            measured = self.params.get("metrics", ())
            logs = {name: value for name, value in logs.items() if name in measured}
        for callback in self.callbacks:
            callback.on_train_end(logs)

    def hooks(self, name: str) -> list[Callable[..., None]]:
        """Return the hooks of evaluating and predicting, `on_test_begin` say, that do something."""
        found = [getattr(callback, name, None) for callback in self.callbacks]
        empty = getattr(Callback, name)
        return [hook for hook in found if hook and getattr(hook, "__func__", None) is not empty]

    def tell(self, name: str, *args: Any) -> None:
        """Call these hooks."""
        for hook in self.hooks(name):
            hook(*args)

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Tell that an epoch begins."""
        logs = {} if logs is None else logs
        for callback in self.callbacks:
            callback.on_epoch_begin(epoch, logs)
        self._find_batch_hooks()

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Tell that an epoch ended; the callbacks may add to `logs`, one after the other."""
        logs = {} if logs is None else logs
        for callback in self.callbacks:
            callback.on_epoch_end(epoch, logs)

    def on_batch_begin(self, batch: int, logs: Logs | None = None) -> None:
        """Tell that a batch begins."""
        if not self._batch_begin_hooks:
            return
        logs = {} if logs is None or self._so_far is not None else logs
        for hook in self._batch_begin_hooks:
            hook(batch, logs)

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        """Tell that a batch ended."""
        if not self._batch_end_hooks:
            return
        logs = {} if logs is None else logs
        so_far = self._so_far
        for hook in self._batch_end_hooks:
            if so_far is not None and not _counts(hook):  # those that count come first
                logs, so_far = in_order(so_far.results()), None
            hook(batch, logs)

    def _find_batch_hooks(self) -> None:
        """Note who wants to hear of batches; again at every epoch, since hooks may be assigned."""
        self._batch_begin_hooks = _written_hooks(self.callbacks, "on_batch_begin")
        self._batch_end_hooks = _written_hooks(self.callbacks, "on_batch_end")

    @property
    def only_count_batches(self) -> bool:
        """Whether no callback needs batches, except those that `fit` adds to count and average."""
        return not self._batch_begin_hooks and all(map(_counts, self._batch_end_hooks))

    @property
    def needs_batch_end_only(self) -> bool:
        """Whether no callback needs the beginning of a batch."""
        return not self._batch_begin_hooks

    only_hear_of_ends = needs_batch_end_only  # the former name

    def averages_of(self, names: list[str]) -> RunningMeans | None:
        """Return the means to add the figures of a batch to, if nothing else is done with them.

        None if somebody else hears of batches, or other figures than these are averaged.
        """
        hooks = self._batch_end_hooks
        logger = getattr(hooks[0], "__self__", None) if len(hooks) == 1 else None
        if type(logger) is not BaseLogger or self._batch_begin_hooks:
            return None
        wanted = list(logger.params.get("metrics", ()))
        are_these = wanted[: len(names)] == names and not {"batch", "size"}.intersection(wanted)
        return logger.means if are_these else None


def _counts(hook: Any) -> bool:
    """Tell whether a hook is of a callback that `fit` adds to count and to average."""
    return type(getattr(hook, "__self__", None)) in (BaseLogger, ProgbarLogger)


def _comes_last(callback: Any) -> bool:
    """Tell whether a callback wants to know what all others did at the same moment."""
    return bool(getattr(callback, "comes_last", False))


def _written_hooks(callbacks: list[Any], name: str) -> list[Callable[..., None]]:
    """Return the hooks called `name` that differ from the empty one of `Callback`.

    A callback that has one of Keras 3's name is told by that, which calls the other one or not.
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
