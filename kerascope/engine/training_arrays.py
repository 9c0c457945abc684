"""Training on arrays: fit, evaluate and predict.

Each makes the data fit the model (`training_batches.py`), makes the function that it needs, and
hands both to a loop (`training_loop.py`). Keras 2 has this in `engine/training.py` and
`engine/training_arrays.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator
from contextlib import ExitStack
from typing import Any

import numpy as np

from kerascope.callbacks import CallbackList, History, checked_callbacks
from kerascope.engine.arguments import named_arguments, unpack_singleton
from kerascope.engine.feeds import feed_of
from kerascope.engine.training_batches import BatchTraining
from kerascope.engine.training_data import check_lengths, split_off_validation
from kerascope.engine.training_loop import (
    Run,
    evaluate_events,
    fit_events,
    predict_events,
    validation_epochs,
)
from kerascope.errors import ArgumentError, DataError
from kerascope.spellings import habits
from kerascope.stage import Stage, is_watched

# The arguments of `fit` after x and y, in Keras's order, and what each is if it is not given.
_FIT: dict[str, Any] = {
    "batch_size": None,
    "epochs": None,
    "verbose": 1,
    "callbacks": None,
    "validation_split": 0.0,
    "validation_data": None,
    "shuffle": True,
    "class_weight": None,
    "sample_weight": None,
    "initial_epoch": 0,
    "steps_per_epoch": None,
    "validation_steps": None,
    "validation_batch_size": None,
    "validation_freq": 1,
}


class ArrayTraining(BatchTraining):
    """The part of `Model` that trains on arrays."""

    _is_part = True

    def _feed(
        self, ins: list[Any], batch_size: int | None, steps: int | None, shuffle: bool | str = False
    ) -> Any:
        """Return the arrays in batches: of the size that the Inputs demand, if they do.

        Raises
        ------
        DataError
            The model carries states of such batches on, and the last batch would be smaller.
        """
        sizes = {x.shape[0] for x in self._feed_inputs if x.ndim} - {None}
        if batch_size is None and steps is None and len(sizes) == 1:
            (batch_size,) = sizes
        feed = feed_of(ins, batch_size, steps, shuffle)
        if sizes and feed.samples and feed.samples % feed.batch_size and self.stateful:
            raise DataError(
                f"{self.label}: In a stateful network, you should only pass inputs with a number "
                f"of samples that can be divided by the batch size; found {feed.samples} samples "
                f"and batches of {feed.batch_size}. Leave the last samples out."
            )
        return feed

    # --- fit --------------------------------------------------------------------------------------

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int | None = None,
        verbose: int = 1,
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool | str = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: Any = 1,
        **kwargs: Any,
    ) -> History:
        """Train for a number of epochs.

        Parameters
        ----------
        x, y : array_like, list of array_like, or dict by name
            Samples along the first axis.
        batch_size : int
            Default 32.
        epochs : int
            Number of the last epoch. Default 1 (in dialect "1.2": 10).
        verbose : {0, 1, 2}
            0 silent, 1 a bar in a terminal and lines elsewhere, 2 lines.
        callbacks : list of Callback, optional
        validation_split : float
            Share of the data, taken from the end, that is only evaluated.
        validation_data : tuple (x, y) or (x, y, sample_weight), optional
        shuffle : {True, False, "batch"}
            Anew for each epoch. Default True.
        class_weight : dict of int to float, optional
        sample_weight : array_like, optional
        initial_epoch : int
            To go on with an earlier run.
        steps_per_epoch, validation_steps : int, optional
            Batches in an epoch where no array tells.
        validation_batch_size : int, optional
            Default: `batch_size`.
        validation_freq : int or list of int
            2 evaluates after every second epoch, [1, 5] after the first and the fifth.
        **kwargs
            The same in Keras 1's words: `nb_epoch=10`.

        Returns
        -------
        History
            `history.history["loss"]` has a number for each epoch.

        Raises
        ------
        NotCompiledError
            There is no loss yet.
        DataError
            The data do not fit the model or each other. Nothing was trained.

        Warns
        -----
        NumericsWarning
            The loss became NaN or infinite; the message names the batch.
        """
        listed = (
            *(batch_size, epochs, verbose, callbacks, validation_split, validation_data, shuffle),
            *(class_weight, sample_weight, initial_epoch, steps_per_epoch, validation_steps),
            *(validation_batch_size, validation_freq),
        )
        given = {
            name: value
            for (name, default), value in zip(_FIT.items(), listed, strict=True)
            if value is not default
        }
        return self.fit_stage(x, y, **{**given, **kwargs}).run()

    def fit_stage(self, x: Any = None, y: Any = None, *args: Any, **kwargs: Any) -> Stage:
        """Return `fit` as a stage; its events are those of `engine.training_loop`."""
        given = named_arguments("fit", list(_FIT), args, kwargs, f"{self.label}: fit")
        return self._fit_stage_of(functools.partial(self._fit_events, x, y, **given))

    def _fit_stage_of(self, events: Callable[..., Generator[Any, Any, History]]) -> Stage:
        """Return `fit` as a stage; if nobody watches it, its events are made `unheard`."""

        def drain() -> Any:
            return Stage("fit", events(unheard=True), self).run()

        return Stage("fit", events(), self, shortcut=drain)

    def _fit_events(
        self,
        x: Any,
        y: Any,
        batch_size: int | None = None,
        epochs: int | None = None,
        verbose: int = 1,
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool | str = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: Any = 1,
        unheard: bool = False,
    ) -> Generator[Any, Any, History]:
        callbacks = checked_callbacks(callbacks)
        is_plain = sample_weight is None and class_weight is None and not validation_split
        ins = self._ready_ins("train_function", x, y, 1.0) if is_plain else None
        if ins is None:
            self._make_ready_for("train_function", x)
            ins = self._ins(x, y, sample_weight, class_weight, 1.0, "fit")
            if is_plain and self.train_function is not None:
                self._note_batch("train_function", x, y, ins)
        ins, val_ins = self._with_validation(ins, validation_data, validation_split)
        if callbacks:
            val_ins = self._open_to_callbacks(val_ins)
        feed = self._labelled_feed(ins, batch_size, steps_per_epoch, shuffle)
        val_size = validation_batch_size or batch_size
        val_feed = self._labelled_feed(val_ins, val_size, validation_steps) if val_ins else None
        settings = {
            "epochs": habits().epochs if epochs is None else epochs,
            "batch_size": getattr(feed, "batch_size", batch_size or 32),
            "verbose": verbose,
            "callbacks": callbacks,
            "initial_epoch": initial_epoch,
            "validation_freq": validation_freq,
            "unheard": unheard,
        }
        history: History = yield from self._training(feed, val_feed, **settings)
        return history

    def _labelled_feed(
        self, ins: list[Any], batch_size: int | None, steps: int | None, shuffle: bool | str = False
    ) -> Any:
        """Return a feed of inputs, targets and weights of samples, which knows the weights."""
        feed = self._feed(ins, batch_size, steps, shuffle)
        feed.first_weight = len(self._feed_inputs) + len(self._feed_targets)
        return feed

    def _open_to_callbacks(self, ins: list[Any]) -> list[Any]:
        """Return the arrays of the validation with weights that a callback may write to.

        Callbacks find these arrays in their `validation_data`, and known ones are for reading only.
        """
        first = len(self._feed_inputs) + len(self._feed_targets)
        weights = [w.copy() if isinstance(w, np.ndarray) else w for w in ins[first:]]
        return ins[:first] + weights

    def _with_validation(
        self, ins: list[Any], validation_data: Any, validation_split: float
    ) -> tuple[list[Any], list[Any]]:
        """Return the arrays to train on and those to evaluate on."""
        if validation_data is not None:
            if not isinstance(validation_data, (list, tuple)) or len(validation_data) not in (2, 3):
                raise DataError(
                    "fit: validation_data: expected a tuple (x, y) or (x, y, sample_weight)."
                )
            x, y, *weights = validation_data
            return ins, self._ins(
                x, y, weights[0] if weights else None, None, 0.0, "validation_data"
            )
        if validation_split:
            flags = self._flags(1.0)
            arrays, held_out = split_off_validation(ins[: len(ins) - len(flags)], validation_split)
            return arrays + flags, held_out + self._flags(0.0)
        return ins, []

    def _training(
        self,
        feed: Any,
        val_feed: Any,
        *,
        epochs: Any,
        batch_size: int | None,
        verbose: int,
        callbacks: Any,
        initial_epoch: int,
        validation_freq: Any,
        unheard: bool,
    ) -> Generator[Any, Any, History]:
        """Make the functions and run the loop: what `fit` and `fit_generator` share."""
        if not isinstance(epochs, (int, np.integer)) or epochs < 0:
            message = f"{self.label}: fit: epochs is {epochs!r}; expected a whole number >= 0."
            raise ArgumentError(message)
        val_epochs = validation_epochs(validation_freq, int(epochs), f"{self.label}: fit")
        if val_feed:
            self._refuse_uncalled_methods("test_function")
        f = yield self.train_function_stage()
        val_f = self._make_test_function() if val_feed else None
        labels = self.metrics_names
        params = {
            "batch_size": batch_size,
            "epochs": epochs,
            "steps": feed.steps,
            "samples": feed.samples,
            "verbose": verbose,
            "do_validation": val_feed is not None,
            "metrics": labels + ([f"val_{label}" for label in labels] if val_feed else []),
        }
        self.history = History()
        told = CallbackList.for_training(
            callbacks,
            model=self,
            params=params,
            history=self.history,
            count_mode="samples" if feed.samples else "steps",
            validation_data=getattr(val_feed, "ins", None),
        )
        with ExitStack() as endings:
            feeds = {"training": feed} | ({"validation": val_feed} if val_feed else {})
            run = Run(self, f, told.callbacks, feeds, initial_epoch, endings)
            told.set_run(run)
            yield from fit_events(
                self,
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
        return self.history

    # --- evaluate and predict ---------------------------------------------------------------------

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
        """Return the loss, or [loss, metrics...] in the order of `metrics_names`; train nothing."""
        ins = self._ready_ins("test_function", x, y, 0.0) if sample_weight is None else None
        if ins is None:
            self._make_ready_for("test_function", x)
            ins = self._ins(x, y, sample_weight, None, 0.0, "evaluate")
            self._make_test_function()
            if sample_weight is None:
                self._note_batch("test_function", x, y, ins)
        feed = self._labelled_feed(ins, batch_size, steps)
        events = evaluate_events(self._make_test_function(), feed, self, verbose, unheard=True)
        return self._told(Stage("evaluate", events, self).run(), return_dict)

    def predict(
        self, x: Any, batch_size: int | None = None, verbose: int = 0, steps: int | None = None
    ) -> Any:
        """Return the outputs for `x`: an array, or a list of them, with a row for each sample."""
        ins = self._ready_ins("predict_function", x, None, 0.0)
        if ins is None:
            self._make_ready_for("predict_function", x)
            arrays = self._standardize_inputs(x)
            check_lengths(arrays, [], [], "predict")
            ins = arrays + self._flags(0.0)
            self._make_predict_function()
            self._note_batch("predict_function", x, None, ins)
        f = self._make_predict_function()
        known = self._known_batches["predict_function"]
        is_one = steps is None and known.is_one_batch(ins, batch_size)
        feed = None if is_one else self._feed(ins, batch_size, steps)
        if (feed is None or feed.steps == 1) and not verbose and not is_watched():
            outs = f(ins)
            if 0 not in [out.ndim for out in outs]:
                return unpack_singleton(outs)
        feed = self._feed(ins, batch_size, steps) if feed is None else feed
        return Stage("predict", predict_events(f, feed, verbose, unheard=True), self).run()
