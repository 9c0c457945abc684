"""The class `Model`: a network that can be trained.

`compile` builds one tensor from the outputs, the total loss (`compiling.py`). A model has three
functions, each made when it is first needed. A new `compile` drops the first two:

- `train_function` returns the loss and the metrics for inputs, targets and sample weights, and
  runs all updates: the optimizer's new weights, and the states of layers and metrics;
- `test_function` returns the same. It does not train: it runs only the updates of metrics and
  those in `state_updates`, such as the state of a stateful recurrent layer;
- `predict_function` returns the outputs for inputs, and runs the `state_updates` too.

`fit`, `evaluate` and `predict` choose one of these functions, convert the data to batches for it
(`feeding.py`), and pass both to a loop (`training_loop.py`). `train_on_batch`, `test_on_batch` and
`predict_on_batch` call the function once.

Keras 1 and 2 have this class in `engine/training.py`, `training_arrays.py` and
`training_generator.py`. Lessons: chapters 12 (`compile`), 14 (the functions) and 15 (`fit`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from types import MappingProxyType
from typing import Any

import numpy as np

from kerascope import display, optimizers
from kerascope.backend.atomic import reset_together
from kerascope.backend.engines import checked_engine
from kerascope.backend.function import Function, function
from kerascope.backend.graph import Constant, Placeholder, Tensor
from kerascope.backend.scopes import (
    COMPILE,
    Origin,
    current_origin,
    origin_here,
    resuming_in,
    with_origin,
)
from kerascope.backend.shapes import UNKNOWN
from kerascope.backend.state import PHASE, floatx, learning_phase
from kerascope.backend.variables import Variable
from kerascope.callbacks import History, checked_callbacks
from kerascope.callbacks.recording import as_number, in_order
from kerascope.engine import compile_rules, feeding, known_batches, rules, training_data
from kerascope.engine.arguments import (
    accepts,
    listed_with_structure,
    named_arguments,
    packed,
    to_list,
    unpack_singleton,
)
from kerascope.engine.compiling import Compilation, compile_events
from kerascope.engine.course import call_on_batch, one_at_a_time
from kerascope.engine.feeding import FitOptions
from kerascope.engine.feeds import makes_batches
from kerascope.engine.input_layer import Input
from kerascope.engine.keras1.model import ModelOfKeras1
from kerascope.engine.keras3.model import ModelOfKeras3
from kerascope.engine.network import Network
from kerascope.engine.node import mask_of
from kerascope.engine.pickling import pickle_model, unpickle_model
from kerascope.engine.policies.model_graph import call_of_model
from kerascope.engine.run import TRAINED
from kerascope.engine.training_loop import evaluate_events, predict_events, train_events
from kerascope.errors import ArgumentError, NotBuiltError, NotCompiledError
from kerascope.registry import get_custom_objects
from kerascope.spellings import dialect_options
from kerascope.stage import Stage, is_watched
from kerascope.user_frames import warn


class Model(Network, ModelOfKeras1, ModelOfKeras3):
    """A network with `compile`, `fit`, `evaluate` and `predict`.

    Two base classes contain the methods of only one version of Keras: `fit_generator` and similar
    ones in `keras1/model.py`; `compute_loss`, `_checked_updates` and `_refuse_uncalled_methods` in
    `keras3/model.py`.

    Parameters
    ----------
    inputs, outputs : Tensor or list of Tensor
        As for `Network`. A subclass with its own `call` passes neither.
    name : str, optional

    Attributes
    ----------
    optimizer : Optimizer or None
        None before `compile`.
    loss, loss_weights, metrics, weighted_metrics, sample_weight_mode : object
        As passed to `compile`.
    loss_functions : list of callable
        The loss of each output.
    targets, sample_weights : list of Tensor
        The placeholders, such as `[dense_3_target]` and `[dense_3_sample_weights]`.
    total_loss : Tensor, scalar
        The weighted sum of the losses, with all penalties.
    metrics_names : list of str
        The names of the results of training, such as `['loss', 'acc']`.
    metrics_tensors : list of Tensor
        The tensors of all `metrics_names` but the first.
    train_function, test_function, predict_function : Function or None
        Each is made when it is first needed.

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

    optimizer: Any = None
    total_loss: Any = None
    loss: Any
    loss_weights: Any
    metrics: Any
    weighted_metrics: Any
    sample_weight_mode: Any
    loss_functions: list[Any]
    targets: list[Tensor]
    sample_weights: list[Tensor]
    metrics_tensors: list[Tensor]
    metrics_names: list[str]
    metrics_updates: list[Any]
    stateful_metrics: dict[str, Any]
    sample_weight_modes: list[str | None]
    trained: list[int]
    _has_trained_on_labels: bool = False
    _known_at_compile: Mapping[str, Any] = MappingProxyType({})
    train_function: Function | None = None
    test_function: Function | None = None
    predict_function: Function | None = None
    engine: Any = None
    stop_training: bool = False
    stop_evaluating: bool = False
    stop_predicting: bool = False
    _collected_trainable_weights: list[Variable]
    _waiting_to_compile: dict[str, Any] | None = None
    _compiled_at: Origin | None = None
    _known_batches: Mapping[str, known_batches.KnownBatches] = MappingProxyType({})

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Any = None,
        sample_weight_mode: Any = None,
        weighted_metrics: Any = None,
        target_tensors: Any = None,
        engine: str | None = None,
        devices: Any = None,
        **kwargs: Any,
    ) -> None:
        """Set the loss, the metrics and the optimizer of the training.

        Parameters
        ----------
        optimizer : str or Optimizer
            "rmsprop", or an object with other settings.
        loss : str, callable, list or dict
            A loss for all outputs, or one for each. An output whose loss is None is not trained. In
            Keras 3 a model without any loss can be evaluated by its metrics, and the losses and
            metrics of an earlier `compile` are kept unless this one replaces them.
        metrics : list or dict, optional
            Reported together with the loss: "accuracy", names of metrics or losses, or functions.
        loss_weights : list or dict, optional
            Factors of the outputs' losses in the total loss. A `K.variable` can be changed during
            training.
        sample_weight_mode : {None, "temporal"}, optional
            "temporal" is for weights of each time step, of shape (samples, times).
        weighted_metrics : list, optional
            Metrics that use the sample weights.
        target_tensors : Tensor, list or dict, optional
            Used instead of placeholders for the targets.
        engine : {"numpy", "jax"}, optional
            The library that computes training, tests and predictions; by default that of
            `K.set_engine`.
        devices : int or list of str, optional
            The devices that divide each batch, with the engine JAX; by default one, or those of
            `kerascope.distribution.set_distribution`.

        Raises
        ------
        UnknownNameError
            The name of an optimizer, loss or metric is unknown.
        ArgumentError
            The arguments do not fit the outputs. The model is not changed.
        """
        arguments = locals()
        given = {name: arguments[name] for name in compile_rules.COMPILE_ARGUMENTS}
        arguments = compile_rules.complete_arguments(self, given, kwargs)
        engine = checked_engine(engine, f"{self.label}: compile", devices)
        if self.outputs:
            if any(y.shape is UNKNOWN for y in self.outputs):
                self._require_that_it_runs()
            self._compile_stage(arguments, origin_here(COMPILE, self.name)).run()
            self._compute_with(engine)
            return
        self._compiled_at = origin_here(COMPILE, self.name)
        arguments["optimizer"] = self.optimizer = optimizers.get(optimizer)
        self._waiting_to_compile = arguments  # used when the shape of the inputs is known
        self._compute_with(engine)

    def _compute_with(self, engine: Any) -> None:
        """Set the engine, NumPy or JAX, that computes the model's functions."""
        self.engine = engine
        if self.predict_function is not None:
            self.predict_function.engine = engine

    def compile_stage(self, arguments: dict[str, Any]) -> Stage:
        """Return `compile` as a stage; its events are those of `engine.compiling`."""
        origin = self._compiled_at or origin_here(COMPILE, self.name)
        return self._compile_stage(arguments, origin)

    def _compile_stage(self, arguments: dict[str, Any], origin: Origin) -> Stage:
        events = self._compile_events(dict(arguments))
        return Stage("compile", events, self, around=resuming_in(origin))

    def _compile_events(self, arguments: dict[str, Any]) -> Generator[Any, Any, None]:
        compiled: Compilation = yield from compile_events(self, arguments)
        self._compiled_at = current_origin()
        facts = vars(compiled)
        facts["_collected_trainable_weights"] = facts.pop("trainable_weights")
        vars(self).update(facts, trained=compiled.trained)
        self._waiting_to_compile = None
        self.train_function = self.test_function = None
        self._known_batches = {}  # which hold the old functions with all their arrays
        self._has_trained_on_labels = False
        self._known_at_compile = dict(get_custom_objects())

    def _forget_compilation(self) -> None:
        """Drop the total loss and the functions, because the outputs have changed.

        If the model was compiled, it is compiled again at its next use.
        """
        if self.total_loss is not None:
            self._waiting_to_compile = compile_rules.last_arguments(self)
        self.total_loss = None
        self.train_function = self.test_function = self.predict_function = None

    @property
    def output_masks_of_graph(self) -> list[Tensor | None]:
        """The mask of each output; None for an output without one."""
        return [mask_of(x) for x in self.outputs]

    @property
    def is_compiled(self) -> bool:
        """Whether `compile` has been called."""
        return self.total_loss is not None or self._waiting_to_compile is not None

    @property
    def stateful_metric_names(self) -> list[str]:
        """The names of metrics with a state, reported for all batches since a reset."""
        return list(vars(self).get("stateful_metrics", ()))

    @property
    def stateful_metric_functions(self) -> list[Any]:
        """The metrics with a state, whose names are in `stateful_metric_names`."""
        return list(vars(self).get("stateful_metrics", {}).values())

    def reset_metrics(self) -> None:
        """Reset the metrics with a state, as training does at the beginning of each epoch.

        In Keras 3 `train_on_batch` and `test_on_batch` reset them before each batch too.
        """
        reset_together(self.stateful_metric_functions, "reset_states", "reset_state")

    # --- the three functions ----------------------------------------------------------------------

    @property
    def _feed_inputs(self) -> list[Tensor]:
        return [x for x in self.inputs if isinstance(x, Placeholder)]

    @property
    def _feed_targets(self) -> list[Tensor]:
        return [x for x in self.targets if isinstance(x, Placeholder) and x not in self.inputs]

    @property
    def _feed_sample_weights(self) -> list[Tensor]:
        """The placeholders of sample weights. If no array is passed, all weights are 1."""
        return self.sample_weights if self._feed_inputs or self._feed_targets else []

    @property
    def _inputs_with_targets(self) -> list[Tensor]:
        """The placeholders of the train function and the test function.

        `PHASE` is the learning phase: 1 in training, 0 in a test.
        """
        fed = self._feed_inputs + self._feed_targets + self._feed_sample_weights
        return [*fed, PHASE] if self.uses_learning_phase else fed

    def _make_train_function(self) -> Function:
        if self.train_function is not None:
            self._check_trainable_weights_consistency()
            return self.train_function
        with one_at_a_time():  # the optimizer has one set of slots
            made: Function = Stage("make_train_function", self._train_function_events(), self).run()
            return made

    def train_function_stage(self) -> Stage:
        """Return the stage that makes `train_function`; it starts the optimizer's stage."""
        events, shortcut = self._train_function_events(), self._make_train_function
        return Stage("make_train_function", events, self, shortcut)

    def _train_function_events(self) -> Generator[Any, Any, Function]:
        self._check_trainable_weights_consistency()
        if isinstance(self.total_loss, Constant):
            raise NotCompiledError(
                f"{self.label}: it has only metrics, no loss to train with. Give compile a loss: "
                "compile(optimizer, loss='mse').",
                subject=self,
            )
        if self.train_function is None:
            TRAINED.add(self)
            inputs = self._inputs_with_targets
            training_updates = yield self._updates_stage()
            with with_origin(self._compiled_at):
                count = (self.optimizer.iterations, self.optimizer.iterations + 1)
                updates = [*self._checked_updates(self.updates), *self.metrics_updates]
                updates += [*training_updates, count]
                outputs = [self.total_loss, *self.metrics_tensors]
                self.train_function = function(
                    inputs, outputs, updates, name="train_function", engine=self.engine
                )
        return self.train_function

    def _updates_stage(self) -> Stage:
        weights = self._collected_trainable_weights
        with with_origin(self._compiled_at):
            stage: Stage = self.optimizer.updates_stage(self.total_loss, weights)
            return stage

    def _make_test_function(self) -> Function:
        if self.test_function is None:
            self.test_function = function(
                self._inputs_with_targets,
                [self.total_loss, *self.metrics_tensors],
                updates=[*self._checked_updates(self.state_updates), *self.metrics_updates],
                name="test_function",
                engine=self.engine,
            )
        return self.test_function

    def _make_predict_function(self) -> Function:
        if self.predict_function is None:
            self.predict_function = function(
                self._feed_inputs + ([PHASE] if self.uses_learning_phase else []),
                self.outputs,
                updates=self._checked_updates(self.state_updates),
                name="predict_function",
                engine=self.engine,
            )
        return self.predict_function

    def _check_trainable_weights_consistency(self) -> None:
        """Warn if `trainable` was changed after `compile`."""
        if not known_batches.are_current(self) and self._is_trainable_elsewhere():
            warn(
                f"{self.label}: Discrepancy between trainable weights and collected trainable "
                "weights: `trainable` was changed after `compile`. Call `model.compile` again for "
                "the change to take effect."
            )

    def _is_trainable_elsewhere(self) -> bool:
        """Return whether `trainable` of the model or of a layer was changed after `compile`."""
        return set(self.trainable_weights) != set(self._collected_trainable_weights)

    # --- fit, evaluate, predict -------------------------------------------------------------------

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int | None = None,
        verbose: int = 1,
        callbacks: Any = None,
        validation_split: float = FitOptions.validation_split,
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
            Number of epochs, including those before `initial_epoch`. Default 1 (in Keras 1: 10).
        verbose : {0, 1, 2}
            0 is silent, 1 shows a bar in a terminal and lines elsewhere, 2 shows lines.
        callbacks : list of Callback, optional
            Called at the beginning and end of training, of each epoch and of each batch.
        validation_split : float
            Share of the data at their end that is not trained on but evaluated.
        validation_data : tuple (x, y) or (x, y, sample_weight), generator or Sequence, optional
            Evaluated after each epoch, unless `validation_freq` excludes it.
        shuffle : {True, False, "batch"}
            Whether each epoch has a new order. Default True.
        class_weight : dict of int to float, optional
            A factor for the loss of each class's samples. Ignored if there is a `sample_weight`; in
            Keras 3, both together raise.
        sample_weight : array_like, optional
            A factor for the loss of each sample, or of each time step.
        initial_epoch : int
            Number of the first epoch, to continue an earlier run.
        steps_per_epoch, validation_steps : int, optional
            Batches in an epoch of a generator. For arrays, the number of times that an epoch uses
            all of them; in Keras 3, the number of batches, after which the next epoch continues.
        validation_batch_size : int, optional
            Default: `batch_size`.
        validation_freq : int or list of int
            2 evaluates after every second epoch, [1, 5] after the first and the fifth.
        **kwargs
            Arguments by Keras 1's names: `nb_epoch=10`.

        Returns
        -------
        History
            `history.history["loss"]` contains a number for each epoch.

        Raises
        ------
        NotCompiledError
            The model is not compiled.
        DataError
            The data do not fit the model or each other. No step was trained.

        Warns
        -----
        NumericsWarning
            The loss became NaN or infinite. The message says in which batch.
        """
        arguments = locals()
        defaults = vars(FitOptions())  # only other values are passed: generators allow fewer
        given = {n: arguments[n] for n in defaults if arguments[n] is not defaults[n]}
        return self.fit_stage(x, y, **{**given, **kwargs}).run()

    def fit_stage(self, x: Any = None, y: Any = None, *args: Any, **kwargs: Any) -> Stage:
        """Return `fit` as a stage, or `fit_generator` if `x` is a generator or a `Sequence`.

        Its events are those of `engine.training_loop`.
        """
        if y is None and not args and makes_batches(x):
            return self.fit_generator_stage(x, **kwargs)
        where = f"{self.label}: fit"
        given = named_arguments("fit", list(vars(FitOptions())), args, kwargs, where)
        feeds = functools.partial(feeding.feeds_of_arrays, self, x, y)
        return self._fit_stage(feeds, FitOptions(**given))

    def _fit_stage(self, feeds_of: Callable[..., Any], options: FitOptions) -> Stage:
        """Return `fit` as a stage. Without an observer it emits no events of batches."""

        def drain() -> Any:
            return Stage("fit", self._fit_events(feeds_of, options, emit_events=False), self).run()

        return Stage("fit", self._fit_events(feeds_of, options), self, shortcut=drain)

    def _fit_events(
        self, feeds_of: Callable[..., Any], options: FitOptions, emit_events: bool = True
    ) -> Generator[Any, Any, History]:
        callbacks = checked_callbacks(options.callbacks)
        with ExitStack() as endings:
            feed, val_feed = feeds_of(options, bool(callbacks), endings)
            return (yield from train_events(self, feed, val_feed, callbacks, options, emit_events))

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: int = 1,
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """Return the loss, or [loss, metrics...] in the order of `metrics_names`, without training.

        `x` may be a generator or a `Sequence`: see `evaluate_generator`. With `return_dict` a dict
        by name is returned, as in Keras 3. Callbacks are notified by `on_test_begin` and so on.
        """
        if y is None and makes_batches(x):
            given: dict[str, Any] = {"verbose": verbose, "callbacks": callbacks}
            numbers = self.evaluate_generator(x, steps=steps, **given)
            return self._as_returned(to_list(numbers), return_dict)
        ins = self._ins_for("test_function", x, y, (sample_weight, None), "evaluate")
        feed = feeding.labelled_feed(self, ins, batch_size, steps)
        events = evaluate_events(
            self._make_test_function(), feed, self, verbose, emit_events=False, callbacks=callbacks
        )
        return self._as_returned(Stage("evaluate", events, self).run(), return_dict)

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: int = 0,
        steps: int | None = None,
        callbacks: Any = None,
    ) -> Any:
        """Return the outputs for `x`: an array, or a list or dict, with a row for each sample.

        `x` may be a generator or a `Sequence`: see `predict_generator`. Callbacks are notified by
        `on_predict_begin` and so on.
        """
        if makes_batches(x):
            return self.predict_generator(x, steps=steps, verbose=verbose, callbacks=callbacks)
        ins = feeding.arrays_to_predict(self, x, "predict")
        f = self._make_predict_function()
        is_one = steps is None and known_batches.is_one_batch(self, ins, batch_size)
        feed = None if is_one else feeding.feed(self, ins, batch_size, steps)
        is_one = feed is None or (steps is None and feed.steps == 1)
        if is_one and not verbose and not callbacks and not is_watched():
            outs = f(ins)
            if 0 not in [out.ndim for out in outs]:
                return packed(self._output_structure, outs)
        feed = feeding.feed(self, ins, batch_size, steps) if feed is None else feed
        events = predict_events(f, feed, verbose, False, self, callbacks)
        return packed(self._output_structure, Stage("predict", events, self).run())

    # --- one batch --------------------------------------------------------------------------------

    def train_on_batch(
        self,
        x: Any,
        y: Any,
        sample_weight: Any = None,
        class_weight: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """Train on one batch. Return its loss or [loss, metrics...], computed before the update."""
        weights = sample_weight, class_weight
        ins = self._ins_for("train_function", x, y, weights, "train_on_batch")
        assert self.train_function is not None
        return self._as_returned(self._of_one_batch(self.train_function, ins), return_dict)

    def test_on_batch(
        self, x: Any, y: Any, sample_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """Return the loss of one batch, or the list [loss, metrics...], without training."""
        ins = self._ins_for("test_function", x, y, (sample_weight, None), "test_on_batch")
        return self._as_returned(self._of_one_batch(self._make_test_function(), ins), return_dict)

    def predict_on_batch(self, x: Any) -> Any:
        """Return the outputs for one batch."""
        ins = feeding.arrays_to_predict(self, x)
        return packed(self._output_structure, self._make_predict_function()(ins))

    def _of_one_batch(self, function: Function, ins: list[Any]) -> list[Any]:
        """Call a function on one batch. In Keras 3, reset the metrics with a state first."""
        return call_on_batch(self, function, ins) if self.stateful_metrics else function(ins)

    def _as_returned(self, numbers: list[Any], return_dict: bool) -> Any:
        """Return a batch's results as the loss, [loss, metrics...], or a dict by name."""
        if dialect_options().logs_so_far:
            numbers = [as_number(x) for x in numbers]
        if return_dict:
            return in_order(dict(zip(self.metrics_names, numbers, strict=True)))
        return unpack_singleton(numbers)

    # --- data that fit the model ------------------------------------------------------------------

    def _standardize_user_data(
        self,
        x: Any,
        y: Any,
        sample_weight: Any = None,
        class_weight: Any = None,
        where: str = "fit",
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Return arrays for inputs, targets and sample weights, checked against each other."""
        x, y, weights = training_data.data_as_arrays(self, x, y, sample_weight, class_weight, where)
        return x, y, [array if array.flags.writeable else array.copy() for array in weights]

    def _ins_for(
        self, name: str, x: Any, y: Any, weights: tuple[Any, Any], where: str, *, makes: bool = True
    ) -> list[Any]:
        """Return the arrays that the function called `name` takes.

        If the function is missing, it is made, unless `makes` is False. `weights` is a pair of
        sample weights and class weights. If earlier data had the same types and shapes, the data
        are not checked.
        """
        sample_weight, class_weight = weights
        ins = None
        if sample_weight is None and class_weight is None:
            phase = 1.0 if name == "train_function" else 0.0
            ins = known_batches.ready_arrays(self, name, x, y, phase)
        if ins is None:
            ins = feeding.arrays_for(self, name, x, y, weights, where, makes)
        return ins

    # --- a model whose input shape is not known yet -----------------------------------------------

    def _set_inputs(self, x: Any) -> None:
        """Build the graph of a model without Inputs, on Inputs with the shapes of the data `x`."""
        if self.outputs:
            return
        is_dict = isinstance(x, dict)
        structure, arrays = listed_with_structure(x) if is_dict else (None, to_list(x))
        if isinstance(x, (list, tuple)) and not any(hasattr(a, "shape") for a in x):
            arrays = [np.asarray(x)]
        shapes = [(None, *np.shape(a)[1:]) if np.ndim(a) > 1 else (None, 1) for a in arrays]
        self._build_on(shapes, structure)

    def _build_on(self, shapes: list[Any], input_structure: Any = None) -> None:
        """Make a subclassed model's graph: run its `call` on Inputs of these shapes."""
        if type(self).call is Network.call:
            raise NotBuiltError(
                f"{self.label}: it has neither inputs and outputs nor its own call(self, inputs). "
                "Write Model(inputs, outputs), or define call.",
                subject=self,
            )
        inputs = [Input(batch_shape=shape, dtype=floatx()) for shape in shapes]
        kwargs = {"training": learning_phase()} if accepts(self.call, "training") else {}
        with call_of_model(self, inputs), rules.phase_of_model():
            returned = rules.call_of(self, kwargs)(packed(input_structure, inputs), **kwargs)
            output_structure, outputs = listed_with_structure(returned)
            rules.wrap_operations([x for x in outputs if isinstance(x, Tensor)], {})
        for output in outputs:
            if not isinstance(output, Tensor) or output._keras_history is None:
                raise ArgumentError(
                    f"{self.label}: call: expected a layer's output as result, got {output!r}. "
                    "Wrap the last operation in Lambda.",
                    subject=self,
                )
        self.inputs, self.outputs = inputs, outputs
        self._input_structure, self._output_structure = input_structure, output_structure
        self.built = True

    def _make_ready(self, x: Any, *, to_train: bool) -> None:
        """Make sure that the model has a graph and, for training, a loss.

        Raises
        ------
        NotCompiledError
            `to_train` is True, and the model is not compiled.
        """
        if to_train and not self.is_compiled:
            raise NotCompiledError(
                f"{self.label}: You must compile a model before training/testing. "
                f"Use `model.compile(optimizer, loss)`.",
                subject=self,
            )
        self._set_inputs(x)
        if to_train and self._waiting_to_compile is not None:
            self.compile_stage(self._waiting_to_compile).run()

    def _make_ready_for(self, name: str, x: Any) -> None:
        """Make sure that the model can run its function `name`, such as "train_function"."""
        self._refuse_uncalled_methods(name)
        self._make_ready(x, to_train=name != "predict_function")

    # --- profiling and copying --------------------------------------------------------------------

    def profile(self, x: Any = None, y: Any = None, **options: Any) -> Any:
        """Measure the time and memory of each part of a step, without changing the model.

        Parameters
        ----------
        x, y : array_like, list of array_like or dict
            A batch, as for `fit`. With `y` a train step is measured, otherwise a prediction.
        **options
            As for `kerascope.profile`.

        Returns
        -------
        Profile
            A table by phase, layer and op, which can be printed and drawn.
        """
        return display.show("profile", self, x=x, y=y, **options)

    def __reduce__(self) -> Any:
        return unpickle_model, (pickle_model(self),)
