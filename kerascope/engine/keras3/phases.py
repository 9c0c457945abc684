"""A layer's `call` that contains `if training:` runs once for each phase.

Keras 3 runs `call` for training with `training` True, and for test with `training` False. Here, one
graph serves both phases, and `training` is a symbol, which is neither True nor False. If a `call`
branches on it, the call is undone and run with True and with False. The layer's output then selects
one of the two results by the learning phase.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kerascope.backend import Tensor, Variable
from kerascope.backend.eager import assigning
from kerascope.backend.state import PHASE, in_train_phase, learning_phase_scope
from kerascope.engine.arguments import Packing, listed
from kerascope.engine.policies.undo import Transaction, rolled_back
from kerascope.errors import ArgumentError, PhaseAskedError
from kerascope.spellings import dialect_options


def may_branch_on_training(arguments: dict[str, Any]) -> bool:
    """Return whether a `call` with these arguments may branch on `training`, as in Keras 3.

    It may if the argument `training` is the learning phase, in dialect "3".
    """
    return arguments.get("training") is PHASE and dialect_options().training_is_bool


def call_for_both_phases(layer: Any, inputs: Any, arguments: dict[str, Any]) -> Any:
    """Return the outputs of a layer's `call`.

    If the `call` branches on `training`, it runs once for training and once for test, and the
    learning phase selects the outputs at run time.

    Raises
    ------
    ArgumentError
        The `call` branches, and adds penalties or states, which would count in both phases, or its
        two runs have different numbers of outputs.
    """
    transaction = Transaction(layer)
    try:
        with transaction.if_it_fails():
            outputs = layer.call(inputs, **arguments)
    except PhaseAskedError:
        transaction = Transaction(layer)
        with transaction.if_it_fails():
            outputs = _choice(layer, lambda: layer.call(inputs, **arguments), arguments)
    transaction.keep()
    return outputs


def _choice(layer: Any, call: Callable[[], Any], arguments: dict[str, Any]) -> Any:
    """Run `call` for each phase; return outputs that select one result by the learning phase."""
    outcomes, packed, adds = _outcomes(layer, call, arguments)
    if adds:  # these may be only penalties on weights that this call made: run it once more
        with rolled_back(layer):
            *_, adds = _outcomes(layer, call, arguments)
    if adds or len(outcomes[0]) != len(outcomes[1]):
        raise ArgumentError(
            f"{layer.label}: its call contains `if training:`, so it runs once for training and "
            f"once for test. The two runs differ in their number of outputs, or they add penalties "
            f"or states, which would count twice or in the wrong phase. Use "
            f"K.in_train_phase(a, b, training) instead.",
            subject=layer,
        )
    choices = [in_train_phase(a, b, PHASE) for a, b in zip(*outcomes, strict=True)]
    return packed(choices)


def _outcomes(
    layer: Any, call: Callable[[], Any], arguments: dict[str, Any]
) -> tuple[list[list[Any]], Packing, bool]:
    """Run a layer's `call` for training and for test, and return the outputs of both runs.

    Also return the function that packs a list of outputs in the form that `call` returns, and
    whether the runs added penalties or states.
    """
    outcomes: list[list[Any]] = []
    new_values: list[dict[Variable, Tensor]] = []
    before = len(layer.losses) + len(layer.state_updates)
    for is_training in (True, False):
        arguments["training"] = is_training
        with learning_phase_scope(int(is_training)), assigning() as assigned:
            outcome, packed = listed(call())
        outcomes.append(outcome)
        new_values.append(assigned)
    arguments["training"] = PHASE
    for variable in {**new_values[0], **new_values[1]}:
        a, b = (values.get(variable, variable) for values in new_values)
        variable.assign(a if a is b else in_train_phase(a, b, PHASE))
    return outcomes, packed, len(layer.losses) + len(layer.state_updates) != before
