"""Keras's loops over batches as functions of a model: `fit_loop`, `fit_generator` and so on.

In Keras 2, they are in `keras.engine.training_arrays` and `keras.engine.training_generator`, and
extensions of Keras call them. Each runs the loop of `training_loop`.
"""

from __future__ import annotations

from typing import Any

from kerascope.callbacks import History, checked_callbacks
from kerascope.engine import training_loop
from kerascope.engine.arguments import unpack_singleton
from kerascope.engine.feeds import feed_of
from kerascope.errors import ArgumentError
from kerascope.stage import Stage

__all__ = [
    "evaluate_generator",
    "fit_generator",
    "fit_loop",
    "predict_generator",
    "predict_loop",
    "test_loop",
]


def fit_loop(
    model: Any,
    f: Any,
    ins: list[Any],
    out_labels: list[str] | None = None,
    batch_size: int | None = None,
    epochs: int = 100,
    verbose: int = 1,
    callbacks: Any = None,
    val_f: Any = None,
    val_ins: list[Any] | None = None,
    shuffle: bool | str = True,
    callback_metrics: list[str] | None = None,
    initial_epoch: int = 0,
    steps_per_epoch: int | None = None,
    validation_steps: int | None = None,
) -> History:
    """Call a train function on batches of arrays, as `fit` does; return the History.

    Parameters
    ----------
    model : Model
        Which the callbacks are told of.
    f : Function
        Returns the loss and the metrics of a batch.
    ins : list of array
        What `f` takes.
    out_labels : list of str, optional
        Names of what `f` returns. Default: `model.metrics_names`.
    val_f, val_ins : optional
        The same for the evaluation after each epoch.
    callback_metrics : list of str, optional
        Names that callbacks may ask for. Default: `out_labels` and, with `val_f`, each as `val_`.
    batch_size, epochs, verbose, callbacks, shuffle, initial_epoch, steps_per_epoch
        As for `fit`.
    validation_steps : int, optional

    Raises
    ------
    ArgumentError
        `out_labels` are not the model's metrics.
    """
    labels = model.metrics_names
    if out_labels is not None and list(out_labels) != labels:
        raise ArgumentError(f"fit_loop: out_labels are {out_labels}; expected {labels}.")
    feed = feed_of(ins, batch_size, steps_per_epoch, shuffle)
    val_feed = feed_of(val_ins, batch_size, validation_steps, False) if val_f and val_ins else None
    told = training_loop.callbacks_of_fit(
        model, checked_callbacks(callbacks), feed, val_feed,
        batch_size, epochs, verbose, callback_metrics,
    )  # fmt: skip
    settings: dict[str, Any] = {"epochs": epochs, "initial_epoch": initial_epoch}
    if val_feed is not None:
        settings |= {"val_f": val_f, "val_feed": val_feed}
    Stage("fit", training_loop.fit_events(model, f, feed, told, **settings), model).run()
    history: History = model.history
    return history


def predict_loop(
    model: Any,
    f: Any,
    ins: list[Any],
    batch_size: int | None = 32,
    verbose: int = 0,
    steps: int | None = None,
) -> Any:
    """Call a predict function on batches of arrays; return the joined outputs."""
    feed = feed_of(ins, batch_size, steps, False)
    return unpack_singleton(
        Stage("predict", training_loop.predict_events(f, feed, verbose), model).run()
    )


def evaluate_loop(
    model: Any,
    f: Any,
    ins: list[Any],
    batch_size: int | None = None,
    verbose: int = 0,
    steps: int | None = None,
) -> Any:
    """Call a test function on batches of arrays; return the means of what it returns."""
    feed = feed_of(ins, batch_size, steps, False)
    events = training_loop.evaluate_events(f, feed, model, verbose)
    return unpack_singleton(Stage("evaluate", events, model).run())


test_loop = evaluate_loop  # Keras's name


def fit_generator(
    model: Any,
    generator: Any,
    steps_per_epoch: int | None = None,
    epochs: int = 1,
    verbose: int = 1,
    callbacks: Any = None,
    validation_data: Any = None,
    validation_steps: int | None = None,
    class_weight: Any = None,
    max_queue_size: int = 10,
    workers: int = 1,
    use_multiprocessing: bool = False,
    shuffle: bool = True,
    initial_epoch: int = 0,
) -> History:
    """Train a model on a generator: `model.fit_generator`."""
    history: History = model.fit_generator(
        generator,
        steps_per_epoch=steps_per_epoch,
        epochs=epochs,
        verbose=verbose,
        callbacks=callbacks,
        validation_data=validation_data,
        validation_steps=validation_steps,
        class_weight=class_weight,
        max_queue_size=max_queue_size,
        workers=workers,
        use_multiprocessing=use_multiprocessing,
        shuffle=shuffle,
        initial_epoch=initial_epoch,
    )
    return history


def evaluate_generator(
    model: Any,
    generator: Any,
    steps: int | None = None,
    max_queue_size: int = 10,
    workers: int = 1,
    use_multiprocessing: bool = False,
    verbose: int = 0,
) -> Any:
    """Evaluate a model on a generator: `model.evaluate_generator`."""
    return model.evaluate_generator(
        generator, steps, max_queue_size, workers, use_multiprocessing, verbose
    )


def predict_generator(
    model: Any,
    generator: Any,
    steps: int | None = None,
    max_queue_size: int = 10,
    workers: int = 1,
    use_multiprocessing: bool = False,
    verbose: int = 0,
) -> Any:
    """Return a model's outputs for a generator: `model.predict_generator`."""
    return model.predict_generator(
        generator, steps, max_queue_size, workers, use_multiprocessing, verbose
    )
