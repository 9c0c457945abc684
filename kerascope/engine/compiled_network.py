"""A network with a loss: `compile`, and the three functions that it leads to.

`compile` only builds the loss graph. `train_function`, `test_function` and `predict_function` are
made when they are first needed, and made anew after the next `compile`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import nullcontext
from typing import Any

import numpy as np

from kerascope import optimizers
from kerascope.backend.atomic import LOCKS, reset_together
from kerascope.backend.function import Function, function
from kerascope.backend.graph import Placeholder, Tensor, Variable
from kerascope.backend.scopes import name_scope
from kerascope.backend.state import PHASE, floatx, learning_phase
from kerascope.callers import warn
from kerascope.engine.arguments import accepts, to_list, unpack_singleton
from kerascope.engine.calling import call_in_its_phases, enter_operations, may_ask
from kerascope.engine.compiling import Compilation, compile_events
from kerascope.engine.input_layer import Input
from kerascope.engine.network import Network
from kerascope.engine.training_loop import TRAINED
from kerascope.errors import ArgumentError, NotBuiltError, NotCompiledError, RefusedError
from kerascope.refusals import UNCALLED_METHODS
from kerascope.registry import did_you_mean
from kerascope.spellings import changed_habits, habits, translate
from kerascope.stage import Stage, is_watched

# Arguments of Keras 3 that change how fast a step is computed, and not its numbers.
_HOW_TO_RUN = ("auto_scale_loss", "jit_compile", "run_eagerly", "steps_per_execution")

_NOT_EAGERLY = (
    "{}: compile: run_eagerly=True changes nothing here: training always runs a graph, and the "
    "layers' `call` is not run again for each batch. To see numbers inside a `call`, call the "
    "layer or the model on an array; to see them during fit, run the script with kerascope debug."
)

_COMPILE_ARGUMENTS = (
    "optimizer",
    "loss",
    "metrics",
    "loss_weights",
    "sample_weight_mode",
    "weighted_metrics",
    "target_tensors",
)


class CompiledNetwork(Network):
    """The part of `Model` that knows losses, metrics and the optimizer, but no data.

    Attributes
    ----------
    optimizer : Optimizer or None
        None before `compile`.
    loss, loss_weights, metrics, weighted_metrics, sample_weight_mode : object
        What `compile` was given.
    loss_functions : list of callable
    targets, sample_weights : list of Tensor
        `[dense_3_target]`, `[dense_3_sample_weights]`.
    total_loss : Tensor, scalar
    metrics_names : list of str
        `['loss', 'acc']`.
    metrics_tensors : list of Tensor
        What the names after the first stand for.
    train_function, test_function, predict_function : Function or None
        Made when first needed.
    """

    _is_part = True

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
    train_function: Function | None = None
    test_function: Function | None = None
    predict_function: Function | None = None
    stop_training: bool = False
    _collected_trainable_weights: list[Variable]
    _waiting_to_compile: dict[str, Any] | None = None

    def compile(
        self,
        optimizer: Any,
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Any = None,
        sample_weight_mode: Any = None,
        weighted_metrics: Any = None,
        target_tensors: Any = None,
        **kwargs: Any,
    ) -> None:
        """Say how the model is to be trained.

        Parameters
        ----------
        optimizer : str or Optimizer
            "rmsprop", or an object with other settings.
        loss : str, callable, list or dict
            One for all outputs, or one for each; None leaves an output untrained.
        metrics : list or dict, optional
            Reported beside the loss: "accuracy", or any name of a metric or loss, or a function.
        loss_weights : list or dict, optional
            Factors of the losses of several outputs in the total. A `K.variable` may be set anew
            during training.
        sample_weight_mode : {None, "temporal"}, optional
            "temporal" weights each time step: weights of shape (samples, times).
        weighted_metrics : list, optional
            Metrics that heed the sample weights.
        target_tensors : Tensor, list or dict, optional
            Used instead of placeholders for the targets.

        Raises
        ------
        UnknownNameError
            No such optimizer, loss or metric.
        ArgumentError
            The arguments do not fit the outputs. The model stays as it was.
        """
        given = translate("compile", kwargs)
        loss = given.pop("loss", loss)
        if given.get("run_eagerly"):
            warn(_NOT_EAGERLY.format(self.label))
        for option in _HOW_TO_RUN:
            given.pop(option, None)
        if given:
            unknown = sorted(given)[0]
            hint = did_you_mean(unknown, _COMPILE_ARGUMENTS)
            raise ArgumentError(f"{self.label}: compile: unknown argument {unknown!r}. {hint}")
        arguments = {
            "optimizer": optimizer,
            "loss": loss,
            "metrics": metrics,
            "loss_weights": loss_weights,
            "sample_weight_mode": sample_weight_mode,
            "weighted_metrics": weighted_metrics,
            "target_tensors": target_tensors,
        }
        if self.outputs:
            self.compile_stage(arguments).run()
            return
        arguments["optimizer"] = self.optimizer = optimizers.get(optimizer)
        self._waiting_to_compile = arguments  # until the shape of the inputs is known

    def compile_stage(self, arguments: dict[str, Any]) -> Stage:
        """Return `compile` as a stage; its events are those of `engine.compiling`."""
        return Stage("compile", self._compile_events(dict(arguments)), self)

    def _compile_events(self, arguments: dict[str, Any]) -> Generator[Any, Any, None]:
        compiled: Compilation = yield from compile_events(self, arguments)
        facts = vars(compiled)
        facts["_collected_trainable_weights"] = facts.pop("trainable_weights")
        vars(self).update(facts, trained=compiled.trained)
        self._waiting_to_compile = None
        self.train_function = self.test_function = None

    def _forget_compilation(self) -> None:
        """Become a model without loss and functions again: its outputs are no longer the same."""
        self.total_loss = None
        self.train_function = self.test_function = self.predict_function = None

    @property
    def is_compiled(self) -> bool:
        """True once `compile` has been called."""
        return self.total_loss is not None or self._waiting_to_compile is not None

    @property
    def stateful_metric_names(self) -> list[str]:
        """Metrics that average for themselves, over all batches since they were reset."""
        return list(vars(self).get("stateful_metrics", ()))

    @property
    def stateful_metric_functions(self) -> list[Any]:
        """The metrics that `stateful_metric_names` names."""
        return list(vars(self).get("stateful_metrics", {}).values())

    def reset_metrics(self) -> None:
        """Let the metrics that have a state forget all batches; training does so at each epoch.

        In dialect "3" `train_on_batch` and `test_on_batch` do so, too, before they begin.
        """
        reset_together(self.stateful_metric_functions, "reset_states", "reset_state")

    @property
    def output_masks_of_graph(self) -> list[Tensor | None]:
        """The mask of each output."""
        return [
            x._keras_history.node.output_masks[x._keras_history.tensor_index] for x in self.outputs
        ]

    # --- inputs of a model that was not told its input shape --------------------------------------

    def _set_inputs(self, x: Any) -> None:
        """Learn the input shapes from data, and build the graph on Inputs of these shapes."""
        if self.outputs:
            return
        arrays = (
            list(x.values()) if isinstance(x, dict) else x if isinstance(x, (list, tuple)) else [x]
        )
        if isinstance(x, (list, tuple)) and not any(hasattr(a, "shape") for a in x):
            arrays = [np.asarray(x)]
        shapes = [(None, *np.shape(a)[1:]) if np.ndim(a) > 1 else (None, 1) for a in arrays]
        self._build_on(shapes)

    def _build_on(self, shapes: list[Any]) -> None:
        """Make a subclassed model's graph by running its `call` on Inputs of these shapes."""
        if type(self).call is Network.call:
            raise NotBuiltError(
                f"{self.label}: has neither inputs and outputs nor a call(self, inputs) of its "
                "own. "
                f"Write Model(inputs, outputs), or define call.",
                subject=self,
            )
        inputs = [Input(batch_shape=shape, dtype=floatx()) for shape in shapes]
        kwargs = {"training": learning_phase()} if accepts(self.call, "training") else {}
        # The scope knows no line: an op of this call stands between layers, not inside of one.
        with changed_habits(wraps_operations=True), name_scope(self.name):
            if may_ask(kwargs):
                outputs = to_list(call_in_its_phases(self, unpack_singleton(inputs), kwargs))
            else:
                outputs = to_list(self.call(unpack_singleton(inputs), **kwargs))
            enter_operations([x for x in outputs if isinstance(x, Tensor)])
        for output in outputs:
            if not isinstance(output, Tensor) or output._keras_history is None:
                raise ArgumentError(
                    f"{self.label}: call returned {output!r}, which no layer made; expected the "
                    "output of a "
                    f"layer. Wrap the last operation in Lambda.",
                    subject=self,
                )
        self.inputs, self.outputs = inputs, outputs
        self.built = True

    def _make_ready(self, x: Any, *, to_train: bool) -> None:
        """Make sure that the model has a graph and, for training, a loss.

        Raises
        ------
        NotCompiledError
            There is no loss.
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
        """Make sure that the model can run one of its three functions, by name."""
        self._refuse_uncalled_methods(name)
        self._make_ready(x, to_train=name != "predict_function")

    def _refuse_uncalled_methods(self, name: str) -> None:
        """Raise RefusedError if the model's class writes what Keras 3 calls to run a function."""
        for method, instead in UNCALLED_METHODS[name].items():
            is_own_helper = method.startswith("compute_") and not habits().calls_compute_loss
            if hasattr(type(self), method) and not is_own_helper:
                raise RefusedError(
                    f"{self.label}: its class writes {method}, which nothing here would call: a "
                    f"model runs its {name}, a graph that is made once. {instead}",
                    subject=self,
                )

    # --- the three functions ----------------------------------------------------------------------

    @property
    def _feed_inputs(self) -> list[Tensor]:
        return [x for x in self.inputs if isinstance(x, Placeholder)]

    @property
    def _feed_targets(self) -> list[Tensor]:
        return [x for x in self.targets if isinstance(x, Placeholder) and x not in self.inputs]

    @property
    def _feed_sample_weights(self) -> list[Tensor]:
        """The placeholders of the weights; where no array is fed, they keep their default, 1."""
        return self.sample_weights if self._feed_inputs or self._feed_targets else []

    def _flags(self, phase: float) -> list[float]:
        """Return the value for the learning phase's placeholder, if the model has it.

        After `K.set_learning_phase` that is the number that was set.
        """
        if not self.uses_learning_phase:
            return []
        fixed = learning_phase()
        return [phase if isinstance(fixed, Placeholder) else float(fixed)]

    def _phase_inputs(self) -> list[Tensor]:
        return [PHASE] if self.uses_learning_phase else []

    def _make_train_function(self) -> Function:
        if self.train_function is not None:
            self._check_trainable_weights_consistency()
            return self.train_function
        # Of two threads one makes it: the optimizer has one set of slots.
        with nullcontext() if is_watched() else LOCKS.steps:
            made: Function = self._train_function_stage(None).run()
            return made

    def train_function_stage(self) -> Stage:
        """Return the making of `train_function` as a stage, which starts the optimizer's."""
        return self._train_function_stage(self._make_train_function)

    def _train_function_stage(self, shortcut: Callable[[], Function] | None) -> Stage:
        return Stage("make_train_function", self._train_function_events(), self, shortcut)

    def _train_function_events(self) -> Generator[Any, Any, Function]:
        self._check_trainable_weights_consistency()
        if self.train_function is None:
            TRAINED.add(self)
            inputs = self._feed_inputs + self._feed_targets + self._feed_sample_weights
            inputs = inputs + self._phase_inputs()
            training_updates = yield self.optimizer.updates_stage(
                self.total_loss, self._collected_trainable_weights
            )
            count = (self.optimizer.iterations, self.optimizer.iterations + 1)
            updates = [*self.updates, *self.metrics_updates, *training_updates, count]
            self.train_function = function(
                inputs,
                [self.total_loss, *self.metrics_tensors],
                updates=updates,
                name="train_function",
            )
        return self.train_function

    def _make_test_function(self) -> Function:
        if self.test_function is None:
            inputs = self._feed_inputs + self._feed_targets + self._feed_sample_weights
            self.test_function = function(
                inputs + self._phase_inputs(),
                [self.total_loss, *self.metrics_tensors],
                updates=[*self.state_updates, *self.metrics_updates],
                name="test_function",
            )
        return self.test_function

    def _make_predict_function(self) -> Function:
        if self.predict_function is None:
            self.predict_function = function(
                self._feed_inputs + self._phase_inputs(),
                self.outputs,
                updates=self.state_updates,
                name="predict_function",
            )
        return self.predict_function

    def _check_trainable_weights_consistency(self) -> None:
        if set(self.trainable_weights) != set(self._collected_trainable_weights):
            warn(
                f"{self.label}: Discrepancy between trainable weights and collected trainable "
                "weights: "
                f"`trainable` was changed after `compile`. Call `model.compile` again to make it "
                "count."
            )
