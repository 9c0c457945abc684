"""What `Model.compile` does: it makes one tensor, the total loss, from the losses of the outputs.

For each output, `build_loss_graph` makes placeholders for labels and sample weights, adds the
weighted loss to the total, and builds the metrics. Only the graph is made: no number is computed,
and the train function is made at the first `fit`. All results are collected in a `Compilation`
before they become attributes of the model, so a `compile` that fails leaves the model as it was.

The order is that of `Model.compile` in Keras 2 (`engine/training.py`). In Keras 3 each
step computes losses and metrics anew (`trainers/compile_utils.py`). Where the versions of Keras
differ, `current_rules()` of `compile_rules.py` decides.
Lesson: chapter 12.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import wraps
from operator import truediv
from typing import Any, NamedTuple

import numpy as np

from kerascope import losses, metrics, optimizers
from kerascope.backend.graph import Placeholder, Tensor, as_tensor
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.comparison import not_equal
from kerascope.backend.ops.reduction import mean
from kerascope.backend.scopes import name_scope
from kerascope.backend.state import floatx, placeholder
from kerascope.backend.variables import Variable
from kerascope.configurable import plain
from kerascope.engine.arguments import by_names, to_list
from kerascope.engine.compile_rules import counts_zero_weights, current_rules
from kerascope.engine.metric_names import is_of_a_user, key_in_logs, resolve_metric
from kerascope.engine.network import Network
from kerascope.engine.node import mask_of
from kerascope.errors import ArgumentError, DtypeError
from kerascope.losses.classes import quotient
from kerascope.metrics.classes import weights_like
from kerascope.registry import did_you_mean
from kerascope.user_frames import boundary, warn

Loss = Callable[[Any, Any], Any]


class LossTerm(NamedTuple):
    """Event: the loss of one output was added to the total loss, multiplied by `weight`."""

    output_name: str
    function: Loss
    weight: float
    loss: Tensor


class PenaltyTerm(NamedTuple):
    """Event: the penalties of the layers (regularizers) were added to the total loss."""

    penalties: list[Tensor]


class MetricTerm(NamedTuple):
    """Event: the tensor of a metric was made. It is reported, but not part of the total loss."""

    name: str
    tensor: Tensor


@dataclass
class Compilation:
    """The results of `compile`, collected before they become attributes of the model.

    Attributes
    ----------
    optimizer : Optimizer
    loss, loss_weights, metrics, weighted_metrics, sample_weight_mode : object
        As passed by the user.
    loss_functions : list of callable or None
        One for each output; None if the output has no loss.
    loss_weights_list : list of (float or Variable)
        The factor of each output's loss in the total loss.
    metrics_of_outputs : list of list
        For each output, pairs of a metric and whether sample weights apply to it.
    targets, sample_weights : list of Tensor
        One for each trained output: placeholders for the labels and their weights.
    total_loss : Tensor, scalar
    metrics_names : list of str
        "loss", then a loss for each of several outputs, then the metrics.
    metrics_tensors : list of Tensor
        The tensors of `metrics_names`, without the total loss.
    metrics_updates : list of (Variable, Tensor)
        The updates of metrics with a state; they run with each batch.
    stateful_metrics : dict of str to object
        The metrics with a state, by their names. They are reset before each epoch.
    has_own_loss : bool
        Whether the class of the model has its own `compute_loss`, as in Keras 3.
    targets_of_any_rank : frozenset of int
        Indices of targets that a loss or metric written by the user receives. In Keras 3 such
        targets have as many axes as the data. In Keras 1 and 2 this set is empty.
    squeezed_targets : frozenset of int
        Indices of those targets for a user's loss or metric whose data lack the last axis of the
        output: labels (n,) for an output (n, 1). This axis is added to the data, and removed again
        for the user's function.
    """

    optimizer: Any
    loss: Any = None
    loss_weights: Any = None
    metrics: Any = None
    weighted_metrics: Any = None
    sample_weight_mode: Any = None
    loss_functions: list[Loss | None] = field(default_factory=list)
    loss_weights_list: list[float | Variable] = field(default_factory=list)
    metrics_of_outputs: list[list[Any]] = field(default_factory=list)
    sample_weight_modes: list[str | None] = field(default_factory=list)
    targets: list[Tensor] = field(default_factory=list)
    sample_weights: list[Tensor] = field(default_factory=list)
    target_tensors: list[Tensor | None] = field(default_factory=list)
    total_loss: Any = None
    metrics_names: list[str] = field(default_factory=lambda: ["loss"])
    metrics_tensors: list[Tensor] = field(default_factory=list)
    metrics_updates: list[Any] = field(default_factory=list)
    stateful_metrics: dict[str, Any] = field(default_factory=dict)
    trainable_weights: list[Variable] = field(default_factory=list)
    has_own_loss: bool = False
    squeezed_targets: frozenset[int] | None = frozenset()
    targets_of_any_rank: frozenset[int] = frozenset()

    @property
    def trained(self) -> list[int]:
        """Indices of the outputs that have targets: those with a loss, or in Keras 3 a metric.

        If the class of the model has its own `compute_loss`, all outputs have targets.
        """
        counted = zip(self.loss_functions, self.metrics_of_outputs, strict=True)
        own = self.has_own_loss
        return [i for i, (loss, of_it) in enumerate(counted) if own or loss is not None or of_it]


@boundary
def compile_events(model: Network, arguments: dict[str, Any]) -> Generator[Any, Any, Compilation]:
    """Build the loss graph of a model; yield each term, and return the `Compilation`.

    In Keras 1 and 2 `build_loss_graph` is called once. In Keras 3 it may be called twice, for
    targets with and without a last axis. There a class may also have its own `compute_loss`, which
    then makes the total loss.
    """
    return (yield from current_rules().compiled(model, arguments, build_loss_graph))


def build_loss_graph(model: Network, arguments: dict[str, Any]) -> Generator[Any, Any, Compilation]:
    """Assign losses and metrics to the outputs; make placeholders, the total loss and metrics."""
    target_tensors = arguments.pop("target_tensors", None)
    compiled = Compilation(**{**arguments, "optimizer": _optimizer(arguments["optimizer"])})
    names = model.output_names
    compiled.loss_functions = _loss_functions(_by_names(model, compiled.loss), names)
    compiled.loss_weights_list = _loss_weights(_by_names(model, compiled.loss_weights), names)
    compiled.metrics_of_outputs = _metrics_of_outputs(model, compiled)
    compiled.sample_weight_modes = _sample_weight_modes(compiled.sample_weight_mode, names)
    compiled.target_tensors = _target_tensors(target_tensors, names)
    _make_placeholders(model, compiled)
    current_rules().find_custom_targets(model, compiled)
    yield from _add_losses(model, compiled)
    yield from _add_metrics(model, compiled)
    current_rules().put_in_reported_order(model, compiled)
    compiled.trainable_weights = list(model.trainable_weights)
    return compiled


def _optimizer(identifier: Any) -> Any:
    optimizer = optimizers.get(identifier)
    if hasattr(optimizer, "updates_stage"):
        return optimizer
    raise ArgumentError(
        f"compile: expected an optimizer, by a name such as 'rmsprop' or as an object of "
        f"kerascope.optimizers, got {identifier!r}."
    )


# --- one for each output --------------------------------------------------------------------------


def _by_names(model: Network, value: Any) -> Any:
    return by_names(model._output_structure, model.output_names, value)


def per_output(value: Any, names: list[str], what: str, default: Any = None) -> list[Any]:
    """Return a list with a value for each output, from a single value, a list or a dict.

    Raises
    ------
    ArgumentError
        A list has another length, or a key of a dict is not the name of an output.
    """
    if isinstance(value, dict) and "class_name" not in value:  # otherwise it is a configuration
        for name in value:
            if name not in names:
                raise ArgumentError(
                    f"compile: {what}: there is no output {name!r}. "
                    f"{did_you_mean(name, names)}"
                    f"Use one of: {', '.join(names)}."
                )
        return [value.get(name, default) for name in names]
    if isinstance(value, (list, tuple)):
        if len(value) != len(names):
            raise ArgumentError(
                f"compile: {what}: expected {len(names)} entries, one for each of the outputs "
                f"{names}, got {len(value)}."
            )
        return list(value)
    return [value] * len(names)


def _loss_functions(loss: Any, names: list[str]) -> list[Loss | None]:
    return [losses.get(one) for one in per_output(loss, names, "loss")]


def _loss_weights(loss_weights: Any, names: list[str]) -> list[float | Variable]:
    if loss_weights is not None and not isinstance(loss_weights, (list, tuple, dict)):
        raise ArgumentError(
            f"compile: loss_weights: expected a list or a dict with a weight for each output, got "
            f"{loss_weights!r}."
        )
    weights = per_output(loss_weights, names, "loss_weights", default=1.0)
    return [1.0 if weight is None else _loss_weight(weight) for weight in weights]


def _loss_weight(weight: Any) -> float | Variable:
    """Return the weight of a loss as a float. Return a scalar variable unchanged."""
    if isinstance(weight, Variable) and weight.ndim == 0:
        return weight
    try:
        return float(weight)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"compile: loss_weights: expected a number, or a variable with a single number such as "
            f"K.variable(1.0), whose value K.set_value changes during training, got {weight!r}."
        ) from None


def _sample_weight_modes(mode: Any, names: list[str]) -> list[str | None]:
    modes = per_output(mode, names, "sample_weight_mode")
    for one in modes:
        if one not in (None, "temporal"):
            raise ArgumentError(
                f"compile: sample_weight_mode: expected None or 'temporal', got {one!r}."
            )
    return modes


def _target_tensors(target_tensors: Any, names: list[str]) -> list[Tensor | None]:
    tensors = per_output(target_tensors, names, "target_tensors")
    return [None if x is None else as_tensor(x) for x in tensors]


def _make_placeholders(model: Network, compiled: Compilation) -> None:
    """Make the placeholders for labels and sample weights: `dense_3_target`, and so on."""
    names = model.output_names
    for i in compiled.trained:
        name, output = names[i], model.outputs[i]
        target = compiled.target_tensors[i]
        if target is None:
            target = placeholder(ndim=output.ndim, dtype=output.dtype, name=f"{name}_target")
        weight_ndim = current_rules().weight_ndim(compiled.sample_weight_modes[i], output)
        compiled.targets.append(target)
        shape, one = (None,) * weight_ndim, np.ones((1,) * weight_ndim)
        compiled.sample_weights.append(
            Placeholder(shape, floatx(), f"{name}_sample_weights", default=one)
        )


# --- losses ---------------------------------------------------------------------------------------


def _add_losses(model: Network, compiled: Compilation) -> Generator[Any, Any, None]:
    """Make the total loss: the weighted losses of all outputs plus the penalties."""
    names, masks = model.output_names, [mask_of(x) for x in model.outputs]
    total_loss: Any = None
    reported = current_rules().losses_to_report(names, compiled.loss_functions)
    # i is the index of an output, k that of its targets: some outputs have no targets.
    for k, i in enumerate(compiled.trained):
        name, function = names[i], compiled.loss_functions[i]
        weight = compiled.loss_weights_list[i]
        if function is None:
            continue
        weights = compiled.sample_weights[k]
        if weights.ndim > 1 and getattr(function, "reduction", "") == "mean_with_sample_weight":
            weights = weights_like(mean(model.outputs[i], axis=-1), weights)  # they are summed
        with name_scope(f"{name}_loss"):
            target = current_rules().target_of_loss(function, model.outputs[i], compiled, k)
            output_loss = weighted_masked_objective(function)(
                target, model.outputs[i], weights, masks[i]
            )
            if len(reported) > 1:
                compiled.metrics_tensors.append(output_loss)
                compiled.metrics_names.append(f"{name}_loss")
        with name_scope("loss"):
            term = output_loss * weight
            total_loss = term if total_loss is None else total_loss + term
        yield LossTerm(name, function, plain(weight), output_loss)
    penalties = current_rules().penalties(model)
    with name_scope("loss"):
        for penalty in penalties:
            total_loss = penalty if total_loss is None else total_loss + penalty
    if penalties:
        yield PenaltyTerm(penalties)
    total_loss = current_rules().no_loss() if total_loss is None else total_loss
    if total_loss is None:
        raise ArgumentError(
            f"{model.label}: the model cannot be compiled because it has no loss to optimize; "
            "Give compile a loss, such as loss='mse', or add a penalty with add_loss."
        )
    compiled.total_loss = total_loss


# --- metrics --------------------------------------------------------------------------------------


def _add_metrics(model: Network, compiled: Compilation) -> Generator[Any, Any, None]:
    """Make the tensor of each metric. A metric with a state also has updates."""
    names = model.output_names
    masks = [mask_of(x) for x in model.outputs]
    of_dicts: dict[str, tuple[Any, Any]] = {}  # if two have the same name, the last counts
    for k, i in enumerate(compiled.trained):
        for metric, is_weighted in compiled.metrics_of_outputs[i]:
            weights = compiled.sample_weights[k] if is_weighted else None
            name, function = resolve_metric(metric, compiled.loss_functions[i], model.outputs[i])
            before = names[i] if len(names) > 1 else ""
            name = key_in_logs(compiled.metrics_names, name, before, weights)
            target = current_rules().target_of_metric(function, compiled, k)
            arguments = target, model.outputs[i], weights, masks[i]
            with name_scope(f"{names[i]}_metrics"):
                if is_of_a_user(function):
                    found = function(*arguments[:2])
                    if isinstance(found, dict):
                        yield from _enter_several(compiled, found, before)
                        continue
                    function = _returning(found, function)
                is_kept = counts_zero_weights() and isinstance(function, metrics.Metric)
                if is_kept or getattr(function, "stateful", False):
                    function, tensor = _stateful_metric(compiled, function, *arguments)
                    compiled.stateful_metrics[name] = function
                    if isinstance(tensor, dict):
                        of_dicts.update({key: (x, function) for key, x in tensor.items()})
                        continue
                elif counts_zero_weights():
                    tensor = _mean_metric(compiled, name, function, *arguments)
                else:
                    tensor = weighted_masked_objective(function)(*arguments)
            compiled.metrics_names.append(name)
            compiled.metrics_tensors.append(tensor)
            yield MetricTerm(name, tensor)
    for key, (numbers, metric) in sorted(of_dicts.items()):
        yield from _enter_several(compiled, {key: numbers}, "")
        compiled.stateful_metrics[compiled.metrics_names[-1]] = metric


def _returning(found: Any, function: Any) -> Any:
    """Return a function that always returns a metric's result, and that has the metric's name."""
    return wraps(function)(lambda y_true, y_pred: found)


def _enter_several(
    compiled: Compilation, found: dict[str, Any], output_name: str
) -> Generator[Any, Any, None]:
    """Add a metric for each number in the dict that a user's metric returned, named by its key."""
    for key, numbers in found.items():
        name = key_in_logs(compiled.metrics_names, key, output_name, None)
        tensor = mean(as_tensor(numbers))
        compiled.metrics_names.append(name)
        compiled.metrics_tensors.append(tensor)
        yield MetricTerm(name, tensor)


def _stateful_metric(
    compiled: Compilation,
    metric: Any,
    y_true: Tensor,
    y_pred: Tensor,
    weights: Tensor | None,
    mask: Tensor | None,
) -> tuple[Any, Any]:
    """Return a metric with a state, and its result. Add its updates to `compiled.metrics_updates`.

    Raises
    ------
    ArgumentError
        The metric averages plain values and takes no targets.
    """
    if metric in compiled.stateful_metrics.values():  # each output needs a separate state
        metric = type(metric).from_config(metric.get_config())
    if isinstance(metric, metrics.Metric):
        update = type(metric).update_state
        if update is metrics.Mean.update_state:
            raise ArgumentError(
                f"{type(metric).__name__}: averages values (update_state(values)) and takes no "
                f"targets. Give compile another metric, such as 'mae'."
            )
        if mask is not None and not is_of_a_user(update):
            weights = _both(mask, weights)
    found = metric(y_true, y_pred) if weights is None else metric(y_true, y_pred, weights)
    compiled.metrics_updates.extend(metric.updates)
    return metric, found if isinstance(found, dict) else as_tensor(found)


def _mean_metric(
    compiled: Compilation,
    name: str,
    metric: Any,
    y_true: Tensor,
    y_pred: Tensor,
    weights: Tensor | None,
    mask: Tensor | None,
) -> Tensor:
    """Return the tensor that reports a metric without a state as a mean over all batches.

    Keras 3 reports such metrics in this way. Usually the tensor is the mean over one batch, and the
    training loop averages these means, weighted by the number of samples. With sample weights, with
    a mask, or if the metric returns a single number for the whole batch, variables store the sum
    and the count over all batches.
    """
    if isinstance(metric, losses.Loss):
        scores = weighted_masked_objective(metric)(y_true, y_pred, weights, mask)
    else:
        scores = scores_of(metric, y_true, y_pred)
    if scores.ndim == 0:
        if weights is not None and not isinstance(metric, losses.Loss):  # a Loss has used them
            warn(
                f"compile: weighted_metrics: {name!r} returns one number for a whole batch, so "
                "sample weights have no effect on it. Let it return one for each sample, by a mean "
                "over axis=-1."
            )
        weights = None
    elif mask is not None:
        weights = _both(mask, weights)
    elif weights is None:
        return mean(scores)
    kept = metrics.Mean(name)
    tensor = kept(scores, weights)
    compiled.metrics_updates.extend(kept.updates)
    compiled.stateful_metrics[name] = kept
    return tensor


def _both(mask: Tensor, weights: Tensor | None) -> Tensor:
    """Return the sample weights (ones if None), set to 0 where the mask is False."""
    kept = cast(mask, floatx())
    return kept * weights_like(kept, weights)


def _metrics_of_outputs(model: Network, compiled: Compilation) -> list[list[Any]]:
    """Return for each output a list of pairs (metric, whether sample weights apply)."""
    found: list[list[Any]] = [[] for _ in model.outputs]
    for given, is_weighted in ((compiled.metrics, False), (compiled.weighted_metrics, True)):
        for own, listed in zip(found, _spread_metrics(model, given), strict=True):
            own += [(metric, is_weighted) for metric in listed]
            if None in listed:
                raise ArgumentError(f"compile: metrics: leave out the None in {listed}.")
    return current_rules().metrics_to_keep(found, compiled.loss_functions)


def _spread_metrics(model: Network, given: Any) -> list[list[Any]]:
    """Return a list of metrics for each output.

    If the user passed a flat list, all its metrics are for each output. A nested list contains a
    list for each output.
    """
    names, given = model.output_names, _by_names(model, given)
    if isinstance(given, dict):
        return [to_list(one) for one in per_output(given, names, "metrics", default=[])]
    listed = to_list(given)
    if current_rules().spreads_flat_lists(listed, names) or any(
        isinstance(one, (list, tuple)) for one in listed
    ):
        return [to_list(one) for one in per_output(listed, names, "metrics")]
    return [listed for _ in names]


# --- from many values to one number, with sample weights and a mask ------------------------------


def weighted_masked_objective(fn: Callable[..., Any]) -> Callable[..., Tensor]:
    """Return a scalar version of a loss (or metric) with sample weights and a mask.

    Notes
    -----
    With losses l, sample weights w and a mask m of zeros and ones, the result is ::

        mean(l * m * w) / (mean(m) * mean(w != 0))

    So masked values and samples of weight 0 do not count. In Keras 3 samples of weight 0 do count:
    the factor mean(w != 0) is left out. A loss object (`losses.Loss`) does the reduction itself.
    """
    if fn is losses.circle:  # its reduction is not a mean over all samples
        fn = losses.Circle()
    if isinstance(fn, losses.Loss):
        if fn.reduction in (None, "none"):
            raise ArgumentError(
                f"compile: loss {type(fn).__name__}: expected a reduction to a single number, such "
                f"as 'sum_over_batch_size', got reduction={fn.reduction!r}."
            )
        return fn.weighted

    def weighted(
        y_true: Tensor, y_pred: Tensor, weights: Tensor | None, mask: Tensor | None = None
    ) -> Tensor:
        score = scores_of(fn, y_true, y_pred)
        if mask is not None:
            mask = cast(mask, score.dtype)
            share = quotient if counts_zero_weights() else truediv
            score = share(score * mask, mean(mask))
        if weights is not None:
            if weights.ndim > score.ndim > 0:  # a loss per sample, but weights per time step
                weights = mean(weights, axis=list(range(score.ndim, weights.ndim)))
            score = (
                mean(score, axis=list(range(weights.ndim, score.ndim)))
                if score.ndim > weights.ndim
                else score
            )
            score = score * weights
            if not counts_zero_weights():
                score = score / mean(cast(not_equal(weights, 0), score.dtype))
        return mean(score)

    return weighted


def scores_of(fn: Callable[..., Any], y_true: Tensor, y_pred: Tensor) -> Tensor:
    """Return the values of a loss or metric, before they are reduced to one number."""
    score = getattr(fn, "per_sample", fn)(y_true, y_pred)
    if not hasattr(score, "ndim"):
        raise DtypeError(
            f"{getattr(fn, '__name__', type(fn).__name__)}: expected a tensor of losses or metric "
            f"values as result, got {score!r}. End the function with `return ...`."
        )
    return score
