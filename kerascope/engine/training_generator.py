"""Training on batches that a generator, or a `Sequence`, makes one after the other.

The loops are those of `training_loop.py`; only the feed differs. Keras 2 has this in
`engine/training_generator.py`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from contextlib import ExitStack
from typing import Any

import numpy as np

from kerascope.callbacks import History, checked_callbacks
from kerascope.callers import warn
from kerascope.engine.arguments import to_list, unpack_singleton
from kerascope.engine.feeds import (
    Hands,
    SampleCount,
    WithFirst,
    generator_feed,
    iterator_of,
    split_item,
)
from kerascope.engine.training_arrays import ArrayTraining, named_arguments
from kerascope.engine.training_loop import evaluate_events, predict_events
from kerascope.engine.workers import numbers_of_a_pass
from kerascope.errors import DataError, SpellingWarning
from kerascope.spellings import SAMPLE_COUNTS, habits
from kerascope.stage import Stage

_FIT = (
    *("steps_per_epoch", "epochs", "verbose", "callbacks"),
    *("validation_data", "validation_steps", "class_weight"),
    *("max_queue_size", "workers", "use_multiprocessing", "shuffle", "initial_epoch"),
    *("validation_batch_size", "validation_freq"),
)
_OVER_BATCHES = ("steps", "max_queue_size", "workers", "use_multiprocessing", "verbose")


class GeneratorTraining(ArrayTraining):
    """The part of `Model` that trains on generators."""

    _is_part = True

    def fit_stage(self, x: Any = None, y: Any = None, *args: Any, **kwargs: Any) -> Stage:
        """Return `fit` as a stage; given a generator or a `Sequence`, that of `fit_generator`."""
        if y is None and not args and makes_batches(x):
            return self.fit_generator_stage(x, **kwargs)
        return super().fit_stage(x, y, *args, **kwargs)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: int = 1,
        sample_weight: Any = None,
        steps: int | None = None,
        return_dict: bool = False,
    ) -> Any:
        """Return the loss, or [loss, metrics...] in the order of `metrics_names`; train nothing.

        `x` may be a generator or a `Sequence`: see `evaluate_generator`. With `return_dict` the
        numbers come by name, as in Keras 3.
        """
        if y is None and makes_batches(x):
            told = self.evaluate_generator(x, steps=steps, verbose=verbose)
            return self._told(to_list(told), return_dict)
        return super().evaluate(x, y, batch_size, verbose, sample_weight, steps, return_dict)

    def predict(
        self, x: Any, batch_size: int | None = None, verbose: int = 0, steps: int | None = None
    ) -> Any:
        """Return the outputs for `x`: an array, or a list of them, with a row for each sample.

        `x` may be a generator or a `Sequence`: see `predict_generator`.
        """
        if makes_batches(x):
            return self.predict_generator(x, steps=steps, verbose=verbose)
        return super().predict(x, batch_size, verbose, steps)

    def fit_generator(self, generator: Any, *args: Any, **kwargs: Any) -> History:
        """Train on batches that a generator or a `Sequence` makes.

        Parameters
        ----------
        generator : generator or Sequence
            Yields (x, y) or (x, y, sample_weight), for ever; a Sequence has a length.
        steps_per_epoch : int, optional
            Needed for a generator.
        epochs, verbose, callbacks, initial_epoch, validation_batch_size, validation_freq
            As for `fit`.
        validation_data : tuple, generator or Sequence, optional
        validation_steps : int, optional
            Needed if that is a generator.
        class_weight : dict, optional
        max_queue_size : int
            How many batches the workers make ahead. Default 10.
        workers : int
            How many threads make batches; 0: none, they are made here, when they are needed. That
            is also what happens if `workers` is not given (Keras starts one thread then).
        use_multiprocessing : bool
            The workers are processes.
        shuffle : bool
            Read a Sequence's batches in another order each epoch. Default True.

        Notes
        -----
        The batches come in the same order whatever `workers` is. Threads are not the default
        because a generator that is read ahead draws its random numbers earlier, so that a seed
        would give another run each time, and because it must not use the model that is trained.
        """
        return self.fit_generator_stage(generator, *args, **kwargs).run()

    def fit_generator_stage(self, generator: Any, *args: Any, **kwargs: Any) -> Stage:
        """Return `fit_generator` as a stage; its events are those of `engine.training_loop`."""
        given, hands = _generator_arguments("fit_generator", _FIT, args, kwargs)
        return self._fit_stage_of(
            functools.partial(self._fit_generator_events, generator, hands, **given)
        )

    def _fit_generator_events(
        self,
        generator: Any,
        hands: Hands,
        steps_per_epoch: int | None = None,
        epochs: int | None = None,
        verbose: int = 1,
        callbacks: Any = None,
        validation_data: Any = None,
        validation_steps: int | None = None,
        class_weight: Any = None,
        shuffle: bool = True,
        initial_epoch: int = 0,
        validation_batch_size: int | None = None,
        validation_freq: Any = 1,
        unheard: bool = False,
    ) -> Generator[Any, Any, History]:
        callbacks = checked_callbacks(callbacks)
        generator = self._ready_for_generator(generator, "train_function")
        standardize = self._standardizer(1.0, class_weight)
        with ExitStack() as feeds:
            feed = feeds.enter_context(
                generator_feed(generator, steps_per_epoch, standardize, shuffle, hands)
            )
            val_feed = None
            if isinstance(validation_data, (tuple, list)):
                x, y, *rest = validation_data
                weights = rest[0] if rest else None
                val_ins = self._ins(x, y, weights, None, 0.0, "validation_data")
                val_ins = self._open_to_callbacks(val_ins) if callbacks else val_ins
                val_feed = self._labelled_feed(val_ins, validation_batch_size, None)
            elif validation_data is not None:
                val_feed = feeds.enter_context(
                    generator_feed(
                        validation_data, validation_steps, self._standardizer(0.0), False, hands
                    )
                )
            settings = {
                "epochs": habits().epochs if epochs is None else epochs,
                "batch_size": None,
                "verbose": verbose,
                "callbacks": callbacks,
                "initial_epoch": initial_epoch,
                "validation_freq": validation_freq,
                "unheard": unheard,
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
            As for `fit_generator`.
        """
        given, hands = _generator_arguments("evaluate_generator", _OVER_BATCHES, args, kwargs)
        generator = self._ready_for_generator(generator, "test_function")
        f = self._make_test_function()

        def loop(feed: Any, verbose: int) -> Any:
            return evaluate_events(f, feed, self, verbose, unheard=True)

        standardize = self._standardizer(0.0)
        return unpack_singleton(
            self._over_batches("evaluate", loop, generator, standardize, hands, **given)
        )

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
            As for `fit_generator`.
        """
        given, hands = _generator_arguments("predict_generator", _OVER_BATCHES, args, kwargs)
        generator = self._ready_for_generator(generator, "predict_function")
        f = self._make_predict_function()

        def standardize(item: Any) -> list[Any]:
            x, _, _ = split_item(item, with_targets=False)
            return self._standardize_inputs(x) + self._flags(0.0)

        def loop(feed: Any, verbose: int) -> Any:
            return predict_events(f, feed, verbose, unheard=True)

        return self._over_batches("predict", loop, generator, standardize, hands, **given)

    def _over_batches(
        self,
        name: str,
        loop: Callable[[Any, int], Any],
        generator: Any,
        standardize: Callable[[Any], list[Any]],
        hands: Hands,
        steps: int | None = None,
        verbose: int = 0,
    ) -> Any:
        """Run a loop once over batches: what evaluating and predicting share."""
        with generator_feed(generator, steps, standardize, False, hands) as feed:
            return Stage(name, loop(feed, verbose), self).run()

    def _standardizer(self, phase: float, class_weight: Any = None) -> Callable[[Any], list[Any]]:
        name = "train_function" if phase else "test_function"

        def standardize(item: Any) -> list[Any]:
            x, y, sample_weight = split_item(item, with_targets=True)
            is_plain = sample_weight is None and class_weight is None
            ins = self._ready_ins(name, x, y, phase) if is_plain else None
            if ins is None:
                ins = self._ins(x, y, sample_weight, class_weight, phase, "generator")
                if is_plain and getattr(self, name) is not None:
                    self._note_batch(name, x, y, ins)
            return ins

        return standardize

    def _ready_for_generator(self, generator: Any, name: str) -> Any:
        """Make the model ready to run a function; if need be, a batch tells the input shapes."""
        if self.outputs:
            self._make_ready_for(name, None)
            return generator
        if hasattr(generator, "__getitem__") and hasattr(generator, "__len__"):
            first, rest = generator[numbers_of_a_pass(generator, shuffle=False)[0]], generator
        else:
            batches = iterator_of(generator)
            try:
                first = next(batches)
            except StopIteration:
                message = "the generator ended before its first batch; expected one."
                raise DataError(message) from None
            rest = WithFirst(first, batches)
        with_targets = name != "predict_function"
        self._make_ready_for(name, split_item(first, with_targets=with_targets)[0])
        return rest


def makes_batches(x: Any) -> bool:
    """Tell a generator, or a `Sequence` of batches, from data."""
    if type(x) is np.ndarray:  # the usual case, and looking for what it lacks is slow
        return False
    is_sequence = all(hasattr(x, name) for name in ("__getitem__", "__len__", "on_epoch_end"))
    return inspect.isgenerator(x) or hasattr(x, "__next__") or is_sequence


def _generator_arguments(
    method: str, names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[dict[str, Any], Hands]:
    """Return a method's arguments by today's names, and apart from them those of the workers."""
    counts = {old: kwargs.pop(old) for old in SAMPLE_COUNTS if old in kwargs}
    given = named_arguments(method, names, args, kwargs, method)
    for old, count in counts.items():
        new = SAMPLE_COUNTS[old]
        warn(f"{method}: {old!r} counts samples; today's {new!r} counts batches.", SpellingWarning)
        given[new] = SampleCount(count)
    return given, Hands(**{name: given.pop(name) for name in Hands._fields if name in given})
