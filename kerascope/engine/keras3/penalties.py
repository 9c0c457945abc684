"""Which penalties count: in Keras 3 that of a frozen weight does not, in Keras 1 and 2 it does."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from kerascope.backend.graph import Tensor
from kerascope.backend.variables import Variable
from kerascope.engine.arguments import to_list
from kerascope.spellings import habits

_weight_of: WeakKeyDictionary[Tensor, Variable] = WeakKeyDictionary()


def penalty_of(weight: Variable, penalty: Any) -> Any:
    """Return a penalty, or a list of them, noted as what `weight` was made with."""
    for one in to_list(penalty):
        if isinstance(one, Tensor):
            _weight_of[one] = weight
    return penalty


def counted_penalties(model: Any) -> list[Tensor]:
    """Return the penalties that are part of the total loss."""
    losses: list[Tensor] = model.losses
    if not habits().trains_as_keras_3:
        return losses
    trained = {id(weight) for weight in model.trainable_weights}
    weights = [_weight_of.get(loss) for loss in losses]
    return [p for p, w in zip(losses, weights, strict=True) if w is None or id(w) in trained]
