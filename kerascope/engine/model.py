"""Model: a network that can be trained.

`compile` builds the loss graph (`compiling.py`); the first `fit` makes the train function: inputs
are the model's inputs, targets and sample weights, outputs are the loss and the metrics, updates
are what the optimizer says. `fit` then calls that function batch by batch (`training_loop.py`).
Keras 1 and 2 keep this class in `engine/training.py`.

The class grows in four steps, each in a file: `Network` (the graph), `CompiledNetwork` (losses and
functions), `ArrayTraining` (fit, evaluate, predict), and here what generators and people need.
Lessons: chapters 12 to 15.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Generator
from typing import Any

from kerascope.callbacks import History, checked_callbacks
from kerascope.engine import saving
from kerascope.engine.feeds import GeneratorFeed, feed_of, split_item
from kerascope.engine.nesting import named_arguments, unpack_singleton
from kerascope.engine.summary import print_summary
from kerascope.engine.training_arrays import ArrayTraining
from kerascope.engine.training_loop import evaluate_events, predict_events
from kerascope.spellings import habits
from kerascope.stage import Stage


class Model(ArrayTraining):
    """A network with `compile`, `fit`, `evaluate` and `predict`.

    Parameters
    ----------
    inputs, outputs : Tensor or list of Tensor
        As for `Network`. A subclass that writes its own `call` gives neither.
    name : str, optional

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope.layers import Dense, Input
    >>> inputs = Input(shape=(20,))
    >>> model = Model(inputs, Dense(1, activation="sigmoid")(inputs))
    >>> model.compile("rmsprop", "binary_crossentropy")
    >>> history = model.fit(np.ones((8, 20)), np.ones(8), epochs=2, verbose=0)
    >>> len(history.history["loss"])
    2
    """

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
        names = (
            *("steps_per_epoch", "epochs", "verbose", "callbacks"),
            *("validation_data", "validation_steps", "class_weight"),
            *("max_queue_size", "workers", "use_multiprocessing", "shuffle", "initial_epoch"),
        )
        given = _generator_arguments("fit_generator", names, args, kwargs)
        return Stage("fit", self._fit_generator_events(generator, **given), self).run()

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

    # --- files ------------------------------------------------------------------------------------

    def to_json(self, **kwargs: Any) -> str:
        """Return the configuration as JSON, without weights; `models.model_from_json` reads it.

        `**kwargs` go to `json.dumps`: `indent=2`, ...
        """
        config = {"class_name": type(self).__name__, "config": self.get_config()}
        return json.dumps({**config, "keras_version": saving.KERAS_VERSION}, **kwargs)

    def save(self, filepath: Any, overwrite: bool = True, include_optimizer: bool = True) -> None:
        """Write the whole model to an HDF5 file; see `engine.saving.save_model`."""
        saving.save_model(self, filepath, overwrite, include_optimizer)

    def save_weights(self, filepath: Any, overwrite: bool = True) -> None:
        """Write the weights to an HDF5 file; see `engine.saving.save_weights`."""
        saving.save_weights(self, filepath, overwrite)

    def load_weights(
        self, filepath: Any, by_name: bool = False, skip_mismatch: bool = False
    ) -> None:
        """Read weights from an HDF5 file; see `engine.saving.load_weights`."""
        saving.load_weights(self, filepath, by_name, skip_mismatch)

    # --- for people -------------------------------------------------------------------------------

    def summary(
        self,
        line_length: int | None = None,
        positions: Any = None,
        print_fn: Callable[[str], Any] | None = None,
    ) -> None:
        """Print a table of the layers: output shapes, numbers of parameters, connections.

        Parameters
        ----------
        line_length : int, optional
            Width in columns; by default that of the terminal.
        positions : list, optional
            Keras's column positions; accepted, the columns find their own.
        print_fn : callable, optional
            Receives each line instead of the terminal.
        """
        print_summary(self, line_length=line_length, print_fn=print_fn)


def _generator_arguments(
    method: str, names: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Return a method's arguments by today's names, without those of queues and workers."""
    given = named_arguments(method, names, args, kwargs, method)
    return {
        n: v
        for n, v in given.items()
        if n not in ("max_queue_size", "workers", "use_multiprocessing")
    }
