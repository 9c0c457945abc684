"""Rules of layers, calls and graphs that depend on the version of Keras whose scripts are run.

`config.dialect` chooses the version; `dialect_options()` returns its options. The engine calls
these functions and contains no dialect itself. `compile_rules.py` does the same for `compile`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from kerascope.backend.graph import Tensor
from kerascope.backend.ops import indexing
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.scopes import name_scope
from kerascope.backend.state import PHASE, learning_phase, learning_phase_scope
from kerascope.engine import operations
from kerascope.engine.arguments import accepts
from kerascope.engine.keras3.phases import call_for_both_phases, may_branch_on_training
from kerascope.engine.policies.assigned import making_model
from kerascope.spellings import dialect_options, override_dialect

if TYPE_CHECKING:
    from kerascope.engine.base_layer import Layer


wrap_operations = operations.wrap_operations


def call_of(layer: Any, arguments: dict[str, Any]) -> Callable[..., Any]:
    """Return a function that runs a layer's `call`.

    If the `call` branches on `training`, the function runs it once for training and once for test.
    """
    if not may_branch_on_training(arguments):
        return layer.call
    return lambda inputs, **arguments: call_for_both_phases(layer, inputs, arguments)


def phase_of(layer: Layer, kwargs: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return the arguments of a layer's `call`, and a context manager that sets its learning phase.

    The argument `training` decides the phase. Without it, the phase does not change.

    In dialect "3" a `call` with a parameter `training` always receives it.
    """
    kwargs, training = dict(kwargs), kwargs.get("training")
    if not accepts(layer.call, "training"):
        kwargs.pop("training", None)
    elif training is None and dialect_options().training_is_bool:
        kwargs["training"] = learning_phase()  # the phase of the inner layers
    if training is PHASE:  # even if the enclosing subclassed model fixed a phase
        return kwargs, learning_phase_scope(PHASE)
    if training is None or isinstance(training, Tensor):
        return kwargs, nullcontext()
    return kwargs, learning_phase_scope(int(bool(training)))


def runs_each_call() -> bool:
    """Return whether a network runs its graph again when it is called on the same symbolic inputs.

    The graph runs again in Keras 3, and inside the `call` of a subclassed model. Otherwise the call
    returns the tensors of the first run.
    """
    return dialect_options().wraps_operations or making_model.get() is not None


def remedy_for_operation() -> str:
    """Return the remedy in the error message about a model output that no layer made."""
    by_itself = "" if dialect_options().wraps_operations else ' Dialect "3" does so by itself.'
    return f"Wrap the operation in Lambda.{by_itself}"


def phase_of_model() -> Any:
    """Return a context manager with the learning phase for a subclassed model's `call`.

    In Keras 3 the phase is that of a test, unless `call` passes `training` to its layers. In Keras
    1 and 2 the phase does not change.
    """
    return learning_phase_scope(0) if dialect_options().trains_as_keras_3 else nullcontext()


def penalize_activity(layer: Layer, inputs: list[Tensor], outputs: list[Tensor]) -> None:
    """Add the penalties of a layer's `activity_regularizer`, if any, on the layer's outputs."""
    regularizer = getattr(layer, "activity_regularizer", None)
    if regularizer is None:
        return
    with name_scope("activity_regularizer"):
        penalties = [regularizer(y) for y in outputs]
        if dialect_options().penalty_per_sample:
            samples = [cast(indexing.shape(y)[0], y.dtype) for y in outputs]
            penalties = [p / n for p, n in zip(penalties, samples, strict=True)]
        layer.add_loss(penalties, inputs=inputs)


def word_of_class(class_name: str) -> str | None:
    """Return the start of the default names of a class's layers, such as "dense".

    None means that the names begin with the name of the class in snake case.
    """
    words = dialect_options().class_words
    return None if words is None else words.get(class_name, class_name.lower())


def numbered(word: str, number: int) -> str:
    """Return the default name, such as `dense_1`, of a class's layer with this number, from 1.

    In dialects that count from zero, layer number 1 is `dense`, and number 2 is `dense_1`.
    """
    if not dialect_options().counts_from_zero:
        return f"{word}_{number}"
    return word if number == 1 else f"{word}_{number - 1}"


def ends_masks() -> bool:
    """Return whether layers without support for masks drop masks, instead of raising an error."""
    return dialect_options().ends_masks


def freezes_inside() -> bool:
    """Return whether setting a layer's `trainable` also sets it for the layers inside the layer."""
    return dialect_options().freezes_inside


def reading_config() -> AbstractContextManager[None]:
    """Return a context manager in which `hard_sigmoid` has the slope that it has in Keras 2.

    Use it while a configuration is read, because in files the name always means this slope.
    """
    return override_dialect(has_other_slope=False)


def map_flavour() -> str:
    """Return the version of Keras whose algorithm maps a graph: "1" or "2"."""
    return dialect_options().map_flavour
