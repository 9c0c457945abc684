"""Methods of Keras 3's models: a class's own loss, and updates that layers assign in `call`.

If a model class overrides `compute_loss`, compiling calls it once, on symbols. Its result is the
total loss of training and evaluation. In it, `super().compute_loss(...)` returns the loss that was
passed to `compile`.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

import numpy as np

from kerascope.backend import function, mean
from kerascope.backend.eager import eager_mode, value_of
from kerascope.backend.graph import Tensor, as_tensor, is_eager
from kerascope.backend.scopes import name_scope
from kerascope.backend.update_order import assigned_by_several_calls
from kerascope.engine.arguments import accepts, listed_with_structure, packed
from kerascope.engine.base_layer import layers_within
from kerascope.engine.compile_rules import current_rules
from kerascope.engine.compiling import Compilation, weighted_masked_objective
from kerascope.engine.node import mask_of
from kerascope.errors import ArgumentError, DtypeError, NotCompiledError, RefusedError
from kerascope.missing_names import UNCALLED_METHODS, out_of_scope
from kerascope.spellings import dialect_options

_compiling: ContextVar[Compilation | None] = ContextVar("compiling", default=None)


def writes_own_loss(model: Any) -> bool:
    """Return whether the model's class overrides `compute_loss`, so that training uses it."""
    method = type(model).compute_loss
    is_own = not method.__module__.startswith("kerascope.engine.")
    return is_own and dialect_options().calls_compute_loss


def own_total_loss(model: Any, compiled: Compilation) -> Tensor:
    """Return the total loss, from one call of the model class's own `compute_loss` on symbols."""
    trained = compiled.trained
    written = type(model).compute_loss
    targets = [current_rules().target_of_metric(written, compiled, k) for k in range(len(trained))]
    by_output = dict(zip(trained, zip(targets, compiled.sample_weights, strict=True), strict=True))
    keywords = {"training": True} if accepts(model.compute_loss, "training") else {}
    structure = model._output_structure
    token = _compiling.set(compiled)
    try:
        with name_scope("loss"):
            loss = model.compute_loss(
                x=packed(model._input_structure, model.inputs),
                y=packed(structure, [by_output[i][0] for i in range(len(model.outputs))]),
                y_pred=packed(structure, model.outputs),
                sample_weight=packed(
                    structure, [by_output[i][1] for i in range(len(model.outputs))]
                ),
                **keywords,
            )
            loss = loss if isinstance(loss, (Tensor, int, float, np.number)) else None
            if loss is None or as_tensor(loss).ndim:
                raise DtypeError(
                    f"{model.label}: compute_loss: expected a scalar such as ops.mean(...), got "
                    f"{loss!r}.",
                    subject=model,
                )
            return as_tensor(loss)
    finally:
        _compiling.reset(token)


class ModelOfKeras3:
    """The methods that only models of Keras 3 have.

    Attributes
    ----------
    targets_of_any_rank, squeezed_targets : frozenset of int
        Indices of targets with as many axes as the data: see `engine.compiling.Compilation`.
    """

    label: Any
    inputs: Any
    losses: Any
    get_losses_for: Any
    targets_of_any_rank: frozenset[int] = frozenset()
    squeezed_targets: frozenset[int] = frozenset()

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None,
        training: bool = True,
    ) -> Any:  # fmt: skip
        """Return the loss of predictions: the losses passed to `compile` plus the penalties.

        In dialect "3" a subclass may override it, with functions of `keras.ops`. Compiling runs it
        once, on symbols, and training and evaluation use its result.

        Parameters
        ----------
        x : array, optional
            Only needed for penalties on outputs of layers, which depend on `x`.
        y, y_pred, sample_weight : array, or list or dict of arrays
            The labels, predictions and sample weights of the outputs.
        training : bool
            Ignored, because the loss is the same in both phases.
        """
        compiled: Any = _compiling.get() or self
        if not compiled.loss_functions:
            raise NotCompiledError(
                f"{self.label}: compute_loss: call compile(optimizer, loss) first."
            )
        if (
            any(isinstance(one, Tensor) for one in listed_with_structure(y_pred)[1])
            and not is_eager()
        ):
            return _sum(compiled, y, y_pred, sample_weight, current_rules().penalties(self))
        penalties = current_rules().penalties(self)
        if x is None and len(self.losses) != len(self.get_losses_for(None)):
            raise ArgumentError(f"{self.label}: compute_loss: pass x; penalties depend on it.")
        inputs = listed_with_structure(x)[1] if x is not None else []
        numbers = function(self.inputs if inputs else [], penalties)(inputs) if penalties else []
        with eager_mode():
            return value_of(as_tensor(_sum(compiled, y, y_pred, sample_weight, numbers)))

    def _refuse_uncalled_methods(self, name: str) -> None:
        """Raise RefusedError if the model's class defines a method that kerascope never calls."""
        for method, instead in UNCALLED_METHODS[name].items():
            is_helper = method.startswith("compute_") and not dialect_options().calls_compute_loss
            if hasattr(type(self), method) and not is_helper:
                raise RefusedError(
                    f"{self.label}: its class defines {method}, which is never called here. "
                    f"{instead} {out_of_scope('train_step')}",
                    subject=self,
                )

    def _checked_updates(self, updates: list[Any]) -> list[Any]:
        """Return the update pairs unchanged; raise if several calls assign to the same variable."""
        variable = assigned_by_several_calls(updates)
        if variable is not None:
            own = [x for x in layers_within(self) if any(v is variable for v, _ in x.updates)]
            raise ArgumentError(
                f"{own[-1].label}: several calls in one model assign to '{variable.name}', but a "
                f"step can write only one value. Call the layer once, or make all calls in the "
                f"`call` of one layer or of a subclassed model.",
                subject=own[-1],
            )
        return updates


def _sum(compiled: Any, y: Any, y_pred: Any, sample_weight: Any, penalties: Any) -> Any:
    found: Any = 0.0
    parts = [listed_with_structure(one)[1] for one in (y, y_pred)]
    weights = listed_with_structure(sample_weight)[1] if sample_weight is not None else []
    for i, (target, predicted) in enumerate(zip(*parts, strict=True)):
        loss = compiled.loss_functions[i]
        if loss is None:
            continue
        target, predicted = as_tensor(target), as_tensor(predicted)
        if target.ndim == predicted.ndim - 1 and predicted.shape[-1] == 1:
            target = target[..., None]
        weight = as_tensor(weights[i]) if weights else None
        term = weighted_masked_objective(loss)(target, predicted, weight, mask_of(predicted))
        found = found + mean(term) * compiled.loss_weights_list[i]
    return sum(penalties, found)
