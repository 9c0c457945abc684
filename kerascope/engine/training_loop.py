"""The loops over epochs and batches: fit, evaluate and predict.

`fit_events` is the whole of training: for every batch it calls the train function, which computes
the loss and commits the new weights, and tells the callbacks before and after. No layer is called
here and no graph is walked; that was done once, when the function was made. Lesson: chapter 15.

`fit` makes a `Run` before the first callback is told anything, and hands it to those that have a
`set_run` (`callbacks.BackupAndRestore`): what one must know of a run to back it up, and to begin it
in the middle. Where there is no such callback, nothing of it is ever asked.
"""

from __future__ import annotations

import functools
import math
import zlib
from collections.abc import Callable, Container, Generator, Iterable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np

from kerascope.backend.function import Function
from kerascope.backend.graph import Apply, Variable, applies_in_order, leaves
from kerascope.backend.ops.random import RandomOp
from kerascope.backend.ops.scan import Scan
from kerascope.callbacks import CallbackList, History, Progbar
from kerascope.callbacks.recording import RunningMeans, in_order
from kerascope.callers import warn
from kerascope.configured import plain
from kerascope.engine.arguments import packed, to_list
from kerascope.errors import ArgumentError, NumericsWarning
from kerascope.spellings import habits
from kerascope.stage import HeardInstead, is_watched, only_observer


class EpochBegun(NamedTuple):
    """An epoch begins."""

    epoch: int


class BatchBegun(NamedTuple):
    """A batch is about to be trained on."""

    epoch: int
    batch_index: int
    size: int
    ins_batch: list[Any]


class BatchEnded(NamedTuple):
    """A batch was trained on; `outs` are its loss and metrics."""

    epoch: int
    batch_index: int
    outs: list[Any]


class EpochEnded(NamedTuple):
    """An epoch ended; `logs` has its means, and those of the validation data."""

    epoch: int
    logs: dict[str, Any]


def train_events(
    model: Any,
    feed: Any,
    val_feed: Any,
    *,
    epochs: Any,
    batch_size: int | None = None,
    verbose: int,
    callbacks: Any,
    initial_epoch: int,
    validation_freq: Any,
    unheard: bool,
) -> Generator[Any, Any, History]:
    """Make a model's functions and run the loop: what `fit` and `fit_generator` share."""
    epochs = habits().epochs if epochs is None else epochs
    if not isinstance(epochs, (int, np.integer)) or epochs < 0:
        message = f"{model.label}: fit: epochs is {epochs!r}; expected a whole number >= 0."
        raise ArgumentError(message)
    val_epochs = validation_epochs(validation_freq, int(epochs), f"{model.label}: fit")
    if val_feed:
        model._refuse_uncalled_methods("test_function")
    f = yield model.train_function_stage()
    val_f = model._make_test_function() if val_feed else None
    told = callbacks_of_fit(model, callbacks, feed, val_feed, batch_size, int(epochs), verbose)
    with ExitStack() as endings:
        feeds = {"training": feed} | ({"validation": val_feed} if val_feed else {})
        run = Run(model, f, told.callbacks, feeds, initial_epoch, endings)
        told.set_run(run)
        yield from fit_events(
            model,
            f,
            feed,
            told,
            epochs=int(epochs),
            initial_epoch=initial_epoch,
            val_f=val_f,
            val_feed=val_feed,
            val_epochs=val_epochs,
            unheard=unheard,
            resumption=run.resumption,
        )
    return model.history


def callbacks_of_fit(
    model: Any,
    callbacks: Any,
    feed: Any,
    val_feed: Any,
    batch_size: int | None,
    epochs: int,
    verbose: int,
    names: list[str] | None = None,
) -> CallbackList:
    """Return the callbacks of a `fit`, told what it does, and give the model a new history."""
    labels = model.metrics_names
    model.history = History()
    return CallbackList.for_training(
        callbacks,
        model=model,
        params={
            "batch_size": batch_size,
            "epochs": epochs,
            "steps": feed.steps,
            "samples": feed.samples,
            "verbose": verbose,
            "do_validation": val_feed is not None,
            "metrics": names or labels + ([f"val_{label}" for label in labels] if val_feed else []),
        },
        history=model.history,
        count_mode="samples" if feed.samples else "steps",
        validation_data=getattr(val_feed, "ins", None),
    )


def fit_events(
    model: Any,
    f: Function,
    feed: Any,
    callbacks: CallbackList,
    *,
    epochs: int,
    initial_epoch: int = 0,
    val_f: Function | None = None,
    val_feed: Any = None,
    val_epochs: Container[int] | None = None,
    unheard: bool = False,
    resumption: Resumption | None = None,
) -> Generator[Any, Any, None]:
    """Train; yield events around each epoch and batch, and the function's stage in between.

    After the epochs in `val_epochs` (None: all of them) the validation data are evaluated. With a
    `resumption` training begins where that says, in the state that it restores.

    Whoever drains this and looks at no event says so by `unheard`: then those of the batches are
    left out, as long as no observer and no callback wants to hear of batches.
    """
    out_labels = model.metrics_names
    losses = LossWatch()
    model.stop_training = False
    callbacks.on_train_begin()
    epoch_logs: dict[str, Any] = {}
    wanted, done = range(initial_epoch, epochs), 0  # batches of the first of them
    if resumption is not None:
        wanted, done = resumption.begin(model, epochs)
    for epoch in wanted:
        callbacks.on_epoch_begin(epoch)
        model.reset_metrics()
        if resumption is not None and done:
            resumption.restore()
        yield EpochBegun(epoch)
        epoch_logs = {}
        others = UnheardBatches(model, f, feed, callbacks, epoch, losses, unheard)
        batches = feed.epoch(kept=not others.may_come, done=done)
        if done and model.stop_training:
            batches.close()
        for batch_index, (size, ins_batch) in others.left_out_of(batches, done):
            batch_logs = {"batch": batch_index, "size": size}
            callbacks.on_batch_begin(batch_index, batch_logs)
            yield BatchBegun(epoch, batch_index, size, ins_batch)
            outs = yield f.stage(ins_batch)
            losses.look(outs[0], epoch, batch_index)
            batch_logs.update(zip(out_labels, outs, strict=True))
            callbacks.on_batch_end(batch_index, batch_logs)
            yield BatchEnded(epoch, batch_index, outs)
            if model.stop_training:
                break
        done = 0
        is_validated = val_epochs is None or epoch in val_epochs
        is_validated &= not model.stop_training or habits().trains_as_keras_3
        if val_f is not None and is_validated:
            val_outs = yield from evaluate_events(val_f, val_feed, model, 0, unheard, callbacks)
            epoch_logs.update(
                ("val_" + label, o) for label, o in zip(out_labels, val_outs, strict=True)
            )
        callbacks.on_epoch_end(epoch, epoch_logs)
        yield EpochEnded(epoch, epoch_logs)
        if model.stop_training:
            break
    callbacks.on_train_end(epoch_logs if habits().logs_so_far else None)


def validation_epochs(validation_freq: Any, epochs: int, where: str) -> Container[int]:
    """Return after which epochs, counted from 0, the validation data are evaluated.

    Raises
    ------
    ArgumentError
        `validation_freq` is neither a whole number from 1 on nor a list of epochs, from 1 on.

    Examples
    --------
    >>> list(validation_epochs(2, 5, "fit"))
    [1, 3]
    """
    if isinstance(validation_freq, np.ndarray):
        validation_freq = validation_freq.tolist()
    if _is_count(validation_freq):
        return range(int(validation_freq) - 1, epochs, int(validation_freq))
    is_list = isinstance(validation_freq, (list, tuple, set, range))
    if is_list and all(map(_is_count, validation_freq)):
        return {number - 1 for number in validation_freq}
    raise ArgumentError(
        f"{where}: validation_freq is {validation_freq!r}; expected a whole number >= 1, or a list "
        "of epochs such as [1, 5]."
    )


def _is_count(number: Any) -> bool:
    is_whole = isinstance(number, (int, np.integer)) and not isinstance(number, bool)
    return is_whole and bool(number >= 1)


Numbered = Iterator[tuple[int, tuple[int, list[Any]]]]


class UnheardBatches:
    """Does what `fit_events` does with batches of an epoch, if nobody wants to hear of each.

    There is no event and no stage; so it is faster, and no more than that. That is so if nobody
    watches, and looks at the events, and no callback hears of batches; or if no callback hears that
    a batch begins, and the only observer has a method
    `unheard_batches`. It is asked before each batch that may have to be heard, and gives what
    computes the next ones and takes note of them as wholes (`trace/journal.py`), or None.

    Parameters
    ----------
    model, f, feed, callbacks, epoch, losses, unheard
        As in `fit_events`.

    Attributes
    ----------
    may_come : bool
        Whether there may be such batches. Then those that are heard must not be kept.
    """

    def __init__(
        self,
        model: Any,
        f: Function,
        feed: Any,
        callbacks: CallbackList,
        epoch: int,
        losses: LossWatch,
        unheard: bool,
    ) -> None:
        self.model = model
        self.callbacks = callbacks
        self.epoch = epoch
        self.losses = losses
        self._f = f
        self._feed = feed
        self._is_alone = unheard and not is_watched()
        self._ask = None if self._is_alone else getattr(only_observer(), "unheard_batches", None)
        self.may_come = callbacks.only_count_batches and self._is_alone
        self.may_come |= callbacks.only_hear_of_ends and self._ask is not None

    def left_out_of(self, batches: Generator[Any, None, None], done: int) -> Numbered:
        """Yield the batches that have to be heard; before each, train on those that need not be."""
        numbered: Numbered = enumerate(batches, done)
        while True:
            batch: Any = None
            if self.may_come:
                try:
                    self._train_on(numbered, batches)
                except HeardInstead as failed:
                    (batch,) = failed.args
            batch = batch or next(numbered, None)
            if batch is None:
                return
            yield batch

    def _train_on(self, numbered: Numbered, batches: Generator[Any, None, None]) -> None:
        """Train on as many batches as need not be heard."""
        model, callbacks, losses = self.model, self.callbacks, self.losses
        call: Callable[[list[Any]], Any] = self._f
        if not self._is_alone:
            journal = self._ask(self._f, self._feed, callbacks) if self._ask else None
            if journal is None:
                return
            call, numbered = journal.call, journal.quietly(numbered)
        out_labels = model.metrics_names
        averages = callbacks.averages_of(out_labels)
        for batch_index, (size, ins_batch) in numbered:
            outs = call(ins_batch)
            if not losses.warned and not _is_finite(outs[0]):
                losses.look(outs[0], self.epoch, batch_index)
            if averages is not None:
                averages.add_all(out_labels, outs, size)
            else:
                batch_logs = {"batch": batch_index, "size": size}
                batch_logs.update(zip(out_labels, outs, strict=True))
                callbacks.on_batch_end(batch_index, batch_logs)
            if model.stop_training:
                batches.close()  # the caller finds no batch left


def _is_finite(loss: Any) -> bool:
    """Tell whether a loss is a number: for one number Python's own test is ten times faster."""
    if isinstance(loss, (float, np.floating)):
        return math.isfinite(loss)
    return bool(np.isfinite(loss))


class LossWatch:
    """Warns of the first loss of a run that is no finite number."""

    def __init__(self) -> None:
        self.warned = False

    def look(self, loss: Any, epoch: int, batch_index: int) -> None:
        """Look at the loss of a batch."""
        if self.warned or _is_finite(loss):
            return
        self.warned = True
        warn(
            f"fit: the loss became {loss} in epoch {epoch}, batch {batch_index} (both counted "
            "from 0). The weights are likely "
            "spoilt from here on; try a smaller learning rate, clipnorm=1.0, or look for NaN in "
            "the data.",
            NumericsWarning,
        )


def evaluate_events(
    f: Function,
    feed: Any,
    model: Any,
    verbose: int = 0,
    unheard: bool = False,
    callbacks: Any = None,
) -> Generator[Any, Any, list[Any]]:
    """Run a model's test function over a feed; return its outputs' means, weighted by batch size.

    Of a metric with a state, which is reset first, the last result counts. Whoever drains this and
    looks at no event says so by `unheard`: then there is no stage for a batch if nobody watches.
    """
    told = _told(callbacks, model, feed, verbose)
    begin, end = told.hooks("on_test_batch_begin"), told.hooks("on_test_batch_end")
    labels, stateful = model.metrics_names, model.stateful_metric_names
    bar = Progbar(feed.samples or feed.steps, verbose=verbose, stateful_metrics=stateful)
    means = RunningMeans(stateful)
    model.reset_metrics()
    model.stop_evaluating = False
    told.tell("on_test_begin", {})
    seen = 0
    for step, (size, ins_batch) in enumerate(feed.epoch()):
        for hook in begin:
            hook(step, {})
        outs = f(ins_batch) if unheard and not is_watched() else (yield f.stage(ins_batch))
        for label, out in zip(labels, outs, strict=True):
            means.add(label, out, size)
        seen += size
        if verbose:
            bar.update(seen if feed.samples else step + 1, list(zip(labels, outs, strict=True)))
        for hook in end:
            hook(step, in_order(means.results()))
        if model.stop_evaluating:
            break
    told.tell("on_test_end", in_order(means.results()))
    return [means.result(label) for label in labels]


def _told(callbacks: Any, model: Any, feed: Any, verbose: int) -> CallbackList:
    """Return whom to tell of an evaluation or prediction: those of `fit`, or those given to it."""
    if isinstance(callbacks, CallbackList):
        return callbacks
    told = CallbackList(callbacks)
    told.set_model(model)
    told.set_params({"verbose": verbose, "epochs": 1, "steps": feed.steps})
    return told


def predict_events(
    f: Function,
    feed: Any,
    verbose: int = 0,
    unheard: bool = False,
    model: Any = None,
    callbacks: Any = None,
) -> Generator[Any, Any, list[np.ndarray]]:
    """Run a predict function over a feed; return its outputs joined along the samples.

    Of `unheard` see `evaluate_events`.
    """
    bar = Progbar(feed.samples or feed.steps, verbose=verbose)
    rows = Rows(feed.samples)
    told = _told(callbacks, model, feed, verbose)
    begin, end = told.hooks("on_predict_batch_begin"), told.hooks("on_predict_batch_end")
    if model is not None:
        model.stop_predicting = False
    told.tell("on_predict_begin", {})
    seen = 0
    for step, (size, ins_batch) in enumerate(feed.epoch()):
        for hook in begin:
            hook(step, {})
        outs = f(ins_batch) if unheard and not is_watched() else (yield f.stage(ins_batch))
        rows.add(to_list(outs), seen, size)
        seen += size
        if verbose:
            bar.update(seen if feed.samples else step + 1, [])
        for hook in end:
            hook(step, {"outputs": packed(model._output_structure, to_list(outs))})
        if getattr(model, "stop_predicting", False):
            break
    told.tell("on_predict_end", {})
    return [x[:seen] for x in rows.joined()] if end else rows.joined()


class Rows:
    """Outputs of batches, joined along the samples.

    Where the number of samples is known, each batch is written into its place at once.

    Parameters
    ----------
    samples : int or None
    """

    def __init__(self, samples: int | None) -> None:
        self.samples = samples
        self._results: list[np.ndarray] | None = None
        self._parts: list[list[Any]] = []

    def add(self, outs: list[Any], start: int, size: int) -> None:
        """Take the outputs of one batch, whose first sample is number `start`."""
        if start == 0 and not self._parts and self._results is None:
            self._begin(outs, size)
        if self._results is not None and not self._fit(outs, start, size):
            self._parts.append([result[:start] for result in self._results])
            self._results = None
        if self._results is None:
            self._parts.append(outs)
            return
        for result, out in zip(self._results, outs, strict=True):
            result[start : start + size] = out

    def joined(self) -> list[np.ndarray]:
        """Return each output, all its rows."""
        if self._results is not None:
            return self._results
        return [np.concatenate(parts) for parts in zip(*self._parts, strict=True)]

    def _begin(self, outs: list[Any], size: int) -> None:
        if self.samples is not None and all(np.shape(out)[:1] == (size,) for out in outs):
            self._results = [np.empty((self.samples, *x.shape[1:]), x.dtype) for x in outs]

    def _fit(self, outs: list[Any], start: int, size: int) -> bool:
        """Tell whether there is room for a batch, and its rows are such as those before."""
        assert self._results is not None
        assert self.samples is not None
        return start + size <= self.samples and all(
            out.shape == (size, *result.shape[1:]) and out.dtype == result.dtype
            for result, out in zip(self._results, outs, strict=True)
        )


# --- what a callback must know of a run -----------------------------------------------------------


_NAMES_AND_CHANCE = (
    *("name", "trainable", "seed", "batch_input_shape", "batch_shape", "function"),
    *("inbound_nodes", "input_layers", "output_layers", "layers"),
)

# Every model that has a train function.
TRAINED: WeakSet[Any] = WeakSet()


class Resumption(NamedTuple):
    """Where a run begins that goes on: an epoch, how many of its batches are done, and how.

    `restore()` is called when all callbacks have been told of the beginning.
    """

    epoch: int
    batch: int
    restore: Callable[[], None]

    def begin(self, model: Any, epochs: int) -> tuple[range, int]:
        """Return the epochs to train, and how many batches of the first are done.

        Between two epochs the state is restored here; in the middle of one, it has to begin first.
        """
        if self.batch:
            return range(self.epoch, epochs), self.batch
        self.restore()
        return range(self.epoch, self.epoch if model.stop_training else epochs), 0


class Run:
    """One call of `fit`.

    Parameters
    ----------
    model : Model
    train_function : Function
    callbacks : list of Callback
        All of them, those that `fit` adds too.
    feeds : dict of str to feed
        "training" and, if there is one, "validation".
    initial_epoch : int
    endings : ExitStack
        What has to happen when the run is over, however it ends.

    Attributes
    ----------
    resumption : Resumption or None
        Set by `begin_at`.
    """

    def __init__(
        self,
        model: Any,
        train_function: Function,
        callbacks: list[Any],
        feeds: dict[str, Any],
        initial_epoch: int,
        endings: ExitStack,
    ) -> None:
        self.model = model
        self.callbacks = callbacks
        self.feeds = feeds
        self.initial_epoch = initial_epoch
        self.endings = endings
        self.resumption: Resumption | None = None
        self._function = train_function

    def begin_at(self, epoch: int, batch: int, restore: Callable[[], None]) -> None:
        """Let the run begin when `batch` batches of an epoch are done, after `restore()`.

        Raises
        ------
        ArgumentError
            Somebody else said so already.
        """
        if self.resumption is not None:
            raise ArgumentError(
                "fit: two callbacks want to say where the run begins; expected one "
                "BackupAndRestore."
            )
        self.resumption = Resumption(epoch, batch, restore)

    @functools.cached_property
    def variables(self) -> list[Variable]:
        """All that the run reads or writes: weights, slots, rates, states, counts of draws.

        Their order depends on nothing but the graphs.
        """
        model, updates = self.model, self._function.updates
        found = leaves([*self._function.outputs, *(update.new_value for update in updates)])
        optimizer = model.optimizer
        listed = [
            *model.weights,
            *(value for value in vars(optimizer).values() if isinstance(value, Variable)),
            *(update.variable for update in updates),
            *found,
        ]
        return [x for x in dict.fromkeys(listed) if isinstance(x, Variable)]

    @functools.cached_property
    def frozen(self) -> list[Variable]:
        """The weights of the model that a step of this run leaves as they are."""
        written = {update.variable for update in self._function.updates}
        return [weight for weight in self.model.weights if weight not in written]

    def steps_of_others(self) -> dict[Any, int]:
        """Return how many steps every other model of the process was trained."""
        optimizers = {model: model.optimizer for model in TRAINED if model is not self.model}
        return {
            model: int(optimizer.iterations.get_value())
            for model, optimizer in optimizers.items()
            if hasattr(optimizer, "iterations") and optimizer is not self.model.optimizer
        }

    @functools.cached_property
    def seeds(self) -> list[int]:
        """The seeds of the random ops, in the order of the graph."""
        return [apply.op.seed for apply in self._applies if isinstance(apply.op, RandomOp)]

    @functools.cached_property
    def facts(self) -> dict[str, Any]:
        """What must be the same in a run that goes on, as plain data, the most telling first."""
        model = self.model
        names = [getattr(f, "__name__", type(f).__name__) for f in model.loss_functions]
        return {
            "model": _layer_facts(model),
            "optimizer": _optimizer_facts(model.optimizer),
            "loss": names,
            "metrics": list(model.metrics_names),
            "data": {name: feed.facts() for name, feed in self.feeds.items()},
            "graph of training": [apply.op.name for apply in self._applies],
        }

    @functools.cached_property
    def _applies(self) -> list[Apply]:
        new_values = [update.new_value for update in self._function.updates]
        return list(_with_inner(applies_in_order([*self._function.outputs, *new_values])))


def _with_inner(applies: list[Apply]) -> Iterator[Apply]:
    """Yield applies, and after each loop those of its step."""
    for apply in applies:
        yield apply
        if isinstance(apply.op, Scan):
            yield from _with_inner(apply.op.inner.applies)


def _layer_facts(layer: Any) -> dict[str, Any]:
    inner = getattr(layer, "layers", None)
    if isinstance(inner, (list, tuple)):
        return {"layers": [_layer_facts(one) for one in inner]}
    return {
        "layer": type(layer).__name__,
        "config": _fixed_config(layer),
        "weights": [list(weight.shape) for weight in getattr(layer, "weights", ())],
    }


def _optimizer_facts(optimizer: Any) -> dict[str, Any]:
    """Return its rule and what is fixed of it; the numbers that may change lie in variables."""
    numbers = [name for name, value in vars(optimizer).items() if isinstance(value, Variable)]
    return {"optimizer": type(optimizer).__name__, "config": _fixed_config(optimizer, numbers)}


def _fixed_config(configured: Any, left_out: Iterable[str] = ()) -> dict[str, Any]:
    """Return what must be the same in each run of a script."""
    try:
        config = configured.get_config()
    except Exception:  # one's own class may have none; then the rest has to tell enough
        return {}
    fixed: dict[str, Any] = _without_names({k: v for k, v in config.items() if k not in left_out})
    return fixed


def _without_names(value: Any) -> Any:
    """Return a configuration without names and what is drawn anew, as plain data."""
    if isinstance(value, dict):
        return {
            str(key): _without_names(inner)
            for key, inner in value.items()
            if key not in _NAMES_AND_CHANCE and not str(key).endswith("_initializer")
        }
    if isinstance(value, (list, tuple)):
        return [_without_names(inner) for inner in value]
    if isinstance(value, np.ndarray) and value.ndim:
        return [list(value.shape), zlib.crc32(np.ascontiguousarray(value).tobytes())]
    value = plain(value)
    if isinstance(value, float):
        return repr(value)  # NaN is equal to itself in words
    return value if isinstance(value, (bool, int, str, type(None))) else type(value).__name__
