"""The methods of Keras 1 and 2 that train, evaluate and predict on what a generator yields."""

from __future__ import annotations

import functools
from typing import Any

from kerascope.callbacks import History
from kerascope.engine import feeding
from kerascope.engine.arguments import packed, unpack_singleton
from kerascope.engine.feeding import FitOptions
from kerascope.engine.feeds import generator_arguments, generator_feed
from kerascope.engine.training_loop import evaluate_events, predict_events
from kerascope.stage import Stage

_FIT_GENERATOR = (
    *("steps_per_epoch", "epochs", "verbose", "callbacks"),
    *("validation_data", "validation_steps", "class_weight"),
    *("max_queue_size", "workers", "use_multiprocessing", "shuffle", "initial_epoch"),
    *("validation_batch_size", "validation_freq"),
)
_OVER_BATCHES = (
    *("steps", "max_queue_size", "workers", "use_multiprocessing", "verbose", "callbacks"),
)


class ModelOfKeras1:
    """Methods of Keras 1 and 2."""

    _fit_stage: Any
    _make_test_function: Any
    _make_predict_function: Any
    _output_structure: Any

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
            The workers are processes: for work in Python itself, which threads do one after the
            other. They are forked on Linux. Elsewhere, and if the script told
            `multiprocessing.set_start_method` so, each is a fresh Python: the script's work must
            stand under `if __name__ == "__main__":`, and the Sequence be one that can be pickled.
        shuffle : bool
            Read a Sequence's batches in another order each epoch. Default True.

        Raises
        ------
        DtypeError
            The generator cannot be sent to a process that is not forked.
        WorkerError
            A process ended before it gave its batch; or the script has no such `if`.

        Notes
        -----
        The batches come in the same order whatever `workers` is. Threads are not the default
        because a generator that is read ahead draws its random numbers earlier, so that a seed
        would give another run each time, and because it must not use the model that is trained.
        """
        return self.fit_generator_stage(generator, *args, **kwargs).run()

    def fit_generator_stage(self, generator: Any, *args: Any, **kwargs: Any) -> Stage:
        """Return `fit_generator` as a stage; its events are those of `engine.training_loop`."""
        given, workers = generator_arguments("fit_generator", _FIT_GENERATOR, args, kwargs)
        feeds = functools.partial(feeding.feeds_of_generator, self, generator, workers)
        return self._fit_stage(feeds, FitOptions(**given))

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
        given, workers = generator_arguments("evaluate_generator", _OVER_BATCHES, args, kwargs)
        generator = feeding.ready_for_generator(self, generator, "test_function")
        f, steps = self._make_test_function(), given.pop("steps", None)
        standardize = feeding.batch_arrays(self, "test_function")
        with generator_feed(generator, steps, standardize, False, workers) as feed:
            events = evaluate_events(f, feed, self, emit_events=False, **given)
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
            As for `fit_generator`.
        """
        given, workers = generator_arguments("predict_generator", _OVER_BATCHES, args, kwargs)
        generator = feeding.ready_for_generator(self, generator, "predict_function")
        f, steps = self._make_predict_function(), given.pop("steps", None)
        standardize = feeding.batch_arrays(self, "predict_function")
        with generator_feed(generator, steps, standardize, False, workers) as feed:
            events = predict_events(f, feed, emit_events=False, model=self, **given)
            return packed(self._output_structure, Stage("predict", events, self).run())
