"""The methods of Keras 1 and 2 that train, evaluate and predict on generators."""

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
    """The methods that only models of Keras 1 and 2 have."""

    _fit_stage: Any
    _make_test_function: Any
    _make_predict_function: Any
    _output_structure: Any

    def fit_generator(self, generator: Any, *args: Any, **kwargs: Any) -> History:
        """Train on batches that a generator or a `Sequence` makes.

        Parameters
        ----------
        generator : generator or Sequence
            Yields (x, y) or (x, y, sample_weight), endlessly; a Sequence has a length.
        steps_per_epoch : int, optional
            Needed for a generator.
        epochs, verbose, callbacks, initial_epoch, validation_batch_size, validation_freq
            As for `fit`.
        validation_data : tuple, generator or Sequence, optional
            As for `fit`.
        validation_steps : int, optional
            Needed if `validation_data` is a generator.
        class_weight : dict, optional
            As for `fit`.
        max_queue_size : int
            Number of batches that the workers make in advance. Default 10.
        workers : int
            Number of threads that make batches. With 0, the default, the training loop makes each
            batch when it is needed. (Keras starts one thread by default.)
        use_multiprocessing : bool
            Whether the workers are processes. Use them for work in Python itself, which threads
            cannot do at the same time. On Linux processes are forked. On other systems, or if the
            script called `multiprocessing.set_start_method`, new Python processes are started. Then
            the script's work must be under `if __name__ == "__main__":`, and it must be possible to
            pickle the Sequence.
        shuffle : bool
            Whether each epoch reads a Sequence's batches in a new order. Default True.

        Raises
        ------
        DtypeError
            The generator cannot be sent to a process that is not forked.
        WorkerError
            A process ended before it returned its batch, for example because the script's work is
            not under such an `if`.

        Notes
        -----
        The order of the batches does not depend on `workers`. Threads are not the default for two
        reasons. A generator in a thread draws random numbers at other times, so runs with the same
        seed would differ. And such a generator must not use the model that is being trained.
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
            Yields (x, y) or (x, y, sample_weight).
        steps : int, optional
            Number of batches; needed for a generator.
        verbose : {0, 1}
            With 1, show the progress.
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
            Yields x, or (x, y), whose y is ignored.
        steps : int, optional
            Number of batches; needed for a generator.
        verbose : {0, 1}
            With 1, show the progress.
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
