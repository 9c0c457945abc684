"""The steps of `compile` that depend on the dialect. Those of Keras 3 are in `engine/keras3`."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from kerascope.backend.graph import Tensor
from kerascope.errors import ArgumentError
from kerascope.registry import Registry, did_you_mean
from kerascope.spellings import dialect_options, translate
from kerascope.user_frames import warn

rules_by_name = Registry("rules of compile", home="kerascope.engine.keras3.compile_rules")


COMPILE_ARGUMENTS = (
    *("optimizer", "loss", "metrics", "loss_weights"),
    *("sample_weight_mode", "weighted_metrics", "target_tensors"),
)


_HOW_TO_RUN = ("auto_scale_loss", "jit_compile", "run_eagerly", "steps_per_execution")

_NOT_EAGERLY = (
    "{}: compile: run_eagerly=True changes nothing here: training always runs a graph, and the "
    "layers' `call` does not run again for each batch. To see numbers inside a `call`, call the "
    "layer or the model on an array; to see them during fit, run the script with kerascope debug."
)


class CompileRules:
    """The steps of `compile` as in Keras 1 and 2. `Keras3Rules` overrides those that differ."""

    def arguments(self, before: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of `compile` unchanged.

        Keras 3 takes missing arguments from the last `compile`.
        """
        return arguments

    def compiled(
        self, model: Any, arguments: dict[str, Any], events: Callable[..., Any]
    ) -> Generator[Any, Any, Any]:
        """Build the loss graph by the generator function `events`, and return the `Compilation`."""
        return (yield from events(model, arguments.copy()))

    def find_custom_targets(self, model: Any, compiled: Any) -> None:
        """Do nothing, because in Keras 1 and 2 the output decides how many axes its target has."""

    def adapt_to_targets(self, model: Any, y: Any, where: str) -> None:
        """Do nothing. `Keras3Rules` compiles again if targets have an unexpected rank."""

    def weight_ndim(self, mode: str | None, output: Tensor) -> int:
        """Return the number of axes of an output's sample weights."""
        return 2 if mode == "temporal" else 1

    def losses_to_report(self, names: list[str], functions: list[Any]) -> list[str]:
        """Return all output names, because the loss of each of several outputs is reported."""
        return names

    def target_of_loss(self, function: Any, output: Tensor, compiled: Any, k: int) -> Tensor:
        """Return the target placeholder for the loss of trained output number `k`."""
        return compiled.targets[k]

    def target_of_metric(self, function: Any, compiled: Any, k: int) -> Tensor:
        """Return the target placeholder for a metric of trained output number `k`."""
        return compiled.targets[k]

    def penalties(self, model: Any) -> list[Tensor]:
        """Return the model's penalties that are part of the total loss."""
        return model.losses

    def no_loss(self) -> Tensor | None:
        """Return None as the total loss of a model without losses, so that `compile` raises."""
        return None

    def metrics_to_keep(self, found: list[Any], functions: list[Any]) -> list[Any]:
        """Return the metrics of each output; in Keras 1 and 2 an output without a loss has none."""
        kept = zip(found, functions, strict=True)
        return [own if loss is not None else [] for own, loss in kept]

    def spreads_flat_lists(self, listed: list[Any], names: list[str]) -> bool:
        """Return False, because all metrics of a flat list are for every output."""
        return False

    def put_in_reported_order(self, model: Any, compiled: Any) -> None:
        """Do nothing, because losses and metrics are reported in the order of the outputs."""


_COMMON = CompileRules()


def adapt_to_targets(model: Any, y: Any, where: str) -> None:
    """Compile a model again if its losses expect targets with another number of axes than `y` has.

    Only models compiled by Keras 3's rules have losses for targets of any rank.
    """
    if model.targets_of_any_rank:
        rules_by_name.lookup("keras3")().adapt_to_targets(model, y, where)


def complete_arguments(
    model: Any, arguments: dict[str, Any], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments of `compile`, with the old names among `kwargs` translated.

    Raises
    ------
    ArgumentError
        `kwargs` contains a name that no version of Keras has.
    """
    given = translate("compile", kwargs)
    arguments = {**arguments, "loss": given.pop("loss", arguments["loss"])}
    arguments = current_rules().arguments(model._waiting_to_compile or vars(model), arguments)
    if given.get("run_eagerly"):
        warn(_NOT_EAGERLY.format(model.label))
    for option in _HOW_TO_RUN:
        given.pop(option, None)
    if given:
        unknown = sorted(given)[0]
        hint = did_you_mean(unknown, COMPILE_ARGUMENTS)
        raise ArgumentError(f"{model.label}: compile: unknown argument {unknown!r}. {hint}")
    return arguments


def counts_zero_weights() -> bool:
    """Return whether samples of weight zero count in a mean, as in Keras 3."""
    return dialect_options().counts_zero_weights


def last_arguments(model: Any) -> dict[str, Any]:
    """Return the arguments of a model's last `compile`."""
    return {name: vars(model)[name] for name in COMPILE_ARGUMENTS}


def current_rules() -> CompileRules:
    """Return the rules of `compile` for the current dialect."""
    if not dialect_options().trains_as_keras_3:
        return _COMMON
    return rules_by_name.lookup("keras3")()
