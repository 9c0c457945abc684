"""Rules of Keras 3's `compile`: targets of any rank, models without a loss, order of metrics.

`Keras3Rules` overrides those methods of `engine/compile_rules.py` that differ in Keras 3.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np

from kerascope import losses, metrics
from kerascope.backend.graph import Tensor, as_tensor
from kerascope.backend.ops.shaping import squeeze
from kerascope.backend.state import floatx
from kerascope.engine.arguments import by_names
from kerascope.engine.compile_rules import CompileRules, last_arguments, rules_by_name
from kerascope.engine.keras3.model import own_total_loss, writes_own_loss
from kerascope.engine.layer_losses import weight_of_penalty
from kerascope.engine.metric_names import is_of_a_user, resolve_metric
from kerascope.engine.training_data import fed_targets, ranks_of
from kerascope.registry import custom_object_scope
from kerascope.user_frames import warn


class Keras3Rules(CompileRules):
    """The steps of `compile` as in Keras 3."""

    def arguments(self, before: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of `compile`, with missing ones taken from the last `compile`."""
        for together in (("loss", "loss_weights"), ("metrics", "weighted_metrics")):
            if all(arguments[name] is None for name in together):
                arguments.update({name: before.get(name) for name in together})
        return arguments

    def compiled(
        self, model: Any, arguments: dict[str, Any], events: Callable[..., Any]
    ) -> Generator[Any, Any, Any]:
        """Compile a model. If its class overrides `compute_loss`, this makes the total loss."""
        given = {**arguments, "has_own_loss": writes_own_loss(model)}
        compiled = yield from self._compiled(model, given, events)
        if compiled.has_own_loss:
            compiled.total_loss = own_total_loss(model, compiled)
        return compiled

    def _compiled(
        self, model: Any, arguments: dict[str, Any], events: Callable[..., Any]
    ) -> Generator[Any, Any, Any]:
        """Compile a model; if this raises, again with targets that have one axis fewer.

        At first targets have as many axes as their outputs. The second time, targets for losses and
        metrics that the user wrote lack the last axis. When data are passed, `adapt_to_targets`
        chooses between the two forms.
        """
        try:
            return (yield from events(model, arguments.copy()))
        except Exception as error:
            if "squeezed_targets" in arguments:
                raise
            try:
                return (yield from events(model, {**arguments, "squeezed_targets": None}))
            except Exception:
                raise error from None

    def find_custom_targets(self, model: Any, compiled: Any) -> None:
        """Store the indices of the targets that a loss or metric of the user receives.

        Such targets have as many axes as the data.
        """
        compiled.targets_of_any_rank = _targets_of_any_rank(model, compiled)
        if compiled.squeezed_targets is None:
            compiled.squeezed_targets = compiled.targets_of_any_rank

    def adapt_to_targets(self, model: Any, y: Any, where: str) -> None:
        """Compile again if the targets `y` have another number of axes than a user's loss expects.

        After the first training step the model is not compiled again. Instead, a warning says that
        the loss receives targets with as many axes as the first targets.
        """
        names, fed = fed_targets(model)
        ranks = dict(zip(fed, ranks_of(y, [names[k] for k in fed]), strict=True))
        flat = frozenset(
            k for k in model.targets_of_any_rank if ranks[k] == model.targets[k].ndim - 1
        )
        if flat == model.squeezed_targets:
            return
        if not model._has_trained_on_labels and where != "validation_data":
            numbers = model.optimizer.get_weights()
            state = None if model.train_function is None else numbers
            with custom_object_scope(dict(model._known_at_compile)):
                model.compile_stage({**last_arguments(model), "squeezed_targets": flat}).run()
            if state is not None:  # the optimizer's state, which may come from a file
                model._make_train_function()
                model.optimizer.set_weights(state)
            return
        name = names[min(flat ^ model.squeezed_targets)]
        warn(
            f"{model.label}: {where}: the targets of '{name}' have another number of axes than the "
            f"first targets. Your loss or metric receives them with as many axes as those. Give "
            f"all targets the same axes, or compile the model again."
        )

    def weight_ndim(self, mode: str | None, output: Tensor) -> int:
        """Return the number of axes of sample weights, which lack the last axis of the output."""
        return max(super().weight_ndim(mode, output), output.ndim - 1)

    def losses_to_report(self, names: list[str], functions: list[Any]) -> list[str]:
        """Return the names of the outputs that have a loss."""
        return [name for name, f in zip(names, functions, strict=True) if f]

    def target_of_loss(self, function: Any, output: Tensor, compiled: Any, k: int) -> Tensor:
        """Return the target placeholder of a loss.

        For a user's loss, it has as many axes as the targets that are passed to `fit`.
        """
        # Keras 3 wraps a function in a loss that adds an axis if this makes the ranks equal.
        if isinstance(function, losses.Loss) or output.shape[-1] != 1:
            return self.target_of_metric(function, compiled, k)
        return super().target_of_loss(function, output, compiled, k)

    def target_of_metric(self, function: Any, compiled: Any, k: int) -> Tensor:
        """Return the target placeholder of a metric.

        For a user's metric, it has as many axes as the targets that are passed to `fit`.
        """
        target: Tensor = compiled.targets[k]
        is_flat = k in (compiled.squeezed_targets or ()) and _takes_any_rank(function)
        return squeeze(target, -1) if is_flat else target

    def penalties(self, model: Any) -> list[Tensor]:
        """Return the model's penalties, without those on frozen weights."""
        trained = {id(weight) for weight in model.trainable_weights}
        weights = ((loss, weight_of_penalty.get(loss)) for loss in model.losses)
        return [loss for loss, weight in weights if weight is None or id(weight) in trained]

    def no_loss(self) -> Tensor | None:
        """Return 0 as the total loss of a model that has only metrics."""
        return as_tensor(np.zeros((), floatx()))

    def metrics_to_keep(self, found: list[Any], functions: list[Any]) -> list[Any]:
        """Return the metrics of all outputs, also of outputs without a loss."""
        return found

    def spreads_flat_lists(self, listed: list[Any], names: list[str]) -> bool:
        """Return whether a flat list contains one metric for each output.

        This is so if there are at least two outputs and as many metrics. Otherwise all metrics of
        the list are for every output.
        """
        return 1 < len(listed) == len(names)

    def put_in_reported_order(self, model: Any, compiled: Any) -> None:
        """Sort the reported values: losses in the order of a dict `loss`, then metrics by name."""
        if len(model.output_names) <= 1:
            return
        given = by_names(model._output_structure, model.output_names, compiled.loss)
        has_order = isinstance(given, dict) and isinstance(model._output_structure, dict)
        names = list(given) if has_order else model.output_names
        first = [f"{name}_loss" for name in names]
        own = dict(zip(compiled.metrics_names[1:], compiled.metrics_tensors, strict=True))
        ordered = [name for name in first if name in own]
        ordered += sorted(own.keys() - set(ordered))
        compiled.metrics_names[1:] = ordered
        compiled.metrics_tensors = [own[name] for name in ordered]


def _targets_of_any_rank(model: Any, compiled: Any) -> frozenset[int]:
    found = set()
    for k, i in enumerate(compiled.trained):
        loss, output = compiled.loss_functions[i], model.outputs[i]
        asked = [resolve_metric(one, loss, output)[1] for one, _ in compiled.metrics_of_outputs[i]]
        is_fed = compiled.target_tensors[i] is None and output.ndim > 1
        if is_fed and (
            compiled.has_own_loss or _takes_any_rank(loss) or any(map(_takes_any_rank, asked))
        ):
            found.add(k)
    return frozenset(found)


def _takes_any_rank(function: Any) -> bool:
    """Return whether a user wrote this loss or metric.

    If so, its targets have as many axes as the data, because it may expect any number of axes.
    """
    if isinstance(function, metrics.Metric):
        return is_of_a_user(type(function).update_state)
    return is_of_a_user(type(function).call if isinstance(function, losses.Loss) else function)


@rules_by_name.register
def keras3() -> CompileRules:
    """Return the rules of `compile` for dialect "3"."""
    return _RULES


_RULES = Keras3Rules()
