"""Training on batches that a generator, or a `Sequence`, makes one after the other.

The loops are those of `training_loop.py`; only the feed differs. Keras 2 has this in
`engine/training_generator.py`.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Generator
from typing import Any

from kerascope.callbacks import History, checked_callbacks
from kerascope.callers import warn
from kerascope.engine.feeds import GeneratorFeed, SampleCount, feed_of, split_item
from kerascope.engine.nesting import unpack_singleton
from kerascope.engine.training_arrays import ArrayTraining, named_arguments
from kerascope.engine.training_loop import evaluate_events, predict_events
from kerascope.errors import SpellingWarning
from kerascope.spellings import SAMPLE_COUNTS, habits
from kerascope.stage import Stage


class GeneratorTraining(ArrayTraining):
    """The part of `Model` that trains on generators."""

    _is_part = True

    def fit_stage(self, x: Any = None, y: Any = None, *args: Any, **kwargs: Any) -> Stage:
        """Return `fit` as a stage; given a generator or a `Sequence`, that of `fit_generator`."""
        if y is None and not args and makes_batches(x):
            return self.fit_generator_stage(x, **kwargs)
        return super().fit_stage(x, y, *args, **kwargs)

    def fit_generator(self, generator: Any, *args: Any, **kwargs: Any) -> History:
        """Train on batches that a generator or a `Sequence` makes.

        Parameters
        ----------
        generator : generator or Sequence
            Yields (x, y) or (x, y, sample_weight), for ever; a Sequence has a length.
        steps_per_epoch : int, optional
            Needed for a generator.
        epochs, verbose, callbacks, initial_epoch
            As for `fit`.
        validation_data : tuple, generator or Sequence, optional
        validation_steps : int, optional
            Needed if that is a generator.
        class_weight : dict, optional
        max_queue_size, workers, use_multiprocessing
            Accepted; batches are made in this thread, one at a time, in order.
        shuffle : bool
            Read a Sequence's batches in another order each epoch. Default True.
        """
        return self.fit_generator_stage(generator, *args, **kwargs).run()

    def fit_generator_stage(self, generator: Any, *args: Any, **kwargs: Any) -> Stage:
        """Return `fit_generator` as a stage; its events are those of `engine.training_loop`."""
        names = (
            *("steps_per_epoch", "epochs", "verbose", "callbacks"),
            *("validation_data", "validation_steps", "class_weight"),
            *("max_queue_size", "workers", "use_multiprocessing", "shuffle", "initial_epoch"),
        )
        given = _generator_arguments("fit_generator", names, args, kwargs)
        return Stage("fit", self._fit_generator_events(generator, **given), self)

    def _fit_generator_events(
        self,
        generator: Any,
        steps_per_epoch: int | None = None,
        epochs: int | None = None,
        verbose: int = 1,
        callbacks: Any = None,
        validation_data: Any = None,
        validation_steps: int | None = None,
        class_weight: Any = None,
        shuffle: bool = True,
        initial_epoch: int = 0,
    ) -> Generator[Any, Any, History]:
        callbacks = checked_callbacks(callbacks)
        generator = self._ready_for_generator(generator, to_train=True)
        feed = GeneratorFeed(
            generator, steps_per_epoch, self._standardizer(1.0, class_weight), shuffle
        )
        val_feed = None
        if isinstance(validation_data, (tuple, list)):
            x, y, *weights = validation_data
            val_ins = self._ins(x, y, weights[0] if weights else None, None, 0.0, "validation_data")
            val_feed = feed_of(val_ins, None, None, False)
        elif validation_data is not None:
            val_feed = GeneratorFeed(validation_data, validation_steps, self._standardizer(0.0))
        settings = {
            "epochs": habits().epochs if epochs is None else epochs,
            "batch_size": None,
            "verbose": verbose,
            "callbacks": callbacks,
            "initial_epoch": initial_epoch,
        }
        history: History = yield from self._training(feed, val_feed, **settings)
        return history

    def evaluate_generator(self, generator: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the loss, or [loss, metrics...], over the batches of a generator or `Sequence`.

        Parameters
        ----------
        generator : generator or Sequence
        steps : int, optional
            Needed for a generator.
        verbose : {0, 1}
        max_queue_size, workers, use_multiprocessing
            Accepted; see `fit_generator`.
        """
        names = ("steps", "max_queue_size", "workers", "use_multiprocessing", "verbose")
        given = _generator_arguments("evaluate_generator", names, args, kwargs)
        generator = self._ready_for_generator(generator, to_train=True)
        feed = GeneratorFeed(generator, given.get("steps"), self._standardizer(0.0))
        events = evaluate_events(
            self._make_test_function(), feed, self.metrics_names, given.get("verbose", 0)
        )
        return unpack_singleton(Stage("evaluate", events, self).run())

    def predict_generator(self, generator: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the outputs for batches that a generator or a `Sequence` makes.

        Parameters
        ----------
        generator : generator or Sequence
            Yields x, or (x, y) of which y is left out.
        steps : int, optional
            Needed for a generator.
        verbose : {0, 1}
        max_queue_size, workers, use_multiprocessing
            Accepted; see `fit_generator`.
        """
        names = ("steps", "max_queue_size", "workers", "use_multiprocessing", "verbose")
        given = _generator_arguments("predict_generator", names, args, kwargs)
        generator = self._ready_for_generator(generator, to_train=False)

        def standardize(item: Any) -> list[Any]:
            x, _, _ = split_item(item, with_targets=False)
            return self._standardize_inputs(x) + self._flags(0.0)

        feed = GeneratorFeed(generator, given.get("steps"), standardize)
        events = predict_events(self._make_predict_function(), feed, given.get("verbose", 0))
        return Stage("predict", events, self).run()

    def _standardizer(self, phase: float, class_weight: Any = None) -> Callable[[Any], list[Any]]:
        def standardize(item: Any) -> list[Any]:
            x, y, sample_weight = split_item(item, with_targets=True)
            return self._ins(x, y, sample_weight, class_weight, phase, "generator")

        return standardize

    def _ready_for_generator(self, generator: Any, *, to_train: bool) -> Any:
        """Make the model ready; if it does not know its input shapes, by looking at a batch."""
        if self.outputs:
            self._make_ready(None, to_train=to_train)
            return generator
        if hasattr(generator, "__getitem__"):
            first, rest = generator[0], generator
        else:
            generator = iter(generator)
            first = next(generator)
            rest = itertools.chain([first], generator)
        self._make_ready(split_item(first, with_targets=to_train)[0], to_train=to_train)
        return rest


def makes_batches(x: Any) -> bool:
    """Tell a generator, or a `Sequence` of batches, from data."""
    is_sequence = all(hasattr(x, name) for name in ("__getitem__", "__len__", "on_epoch_end"))
    return inspect.isgenerator(x) or hasattr(x, "__next__") or is_sequence


def _generator_arguments(
    method: str, names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Return a method's arguments by today's names, without those of queues and workers."""
    counts = {old: kwargs.pop(old) for old in SAMPLE_COUNTS if old in kwargs}
    given = named_arguments(method, names, args, kwargs, method)
    for old, count in counts.items():
        new = SAMPLE_COUNTS[old]
        warn(f"{method}: {old!r} counts samples; today's {new!r} counts batches.", SpellingWarning)
        given[new] = SampleCount(count)
    return {
        n: v
        for n, v in given.items()
        if n not in ("max_queue_size", "workers", "use_multiprocessing")
    }
