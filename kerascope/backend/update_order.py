"""Several updates of one variable by layer calls: each starts from the result of the previous one.

A layer that is called twice computes two new values of its moving mean, each from the variable. But
a function writes a variable once. So `chained` computes the second new value again, from the first
new value instead of the variable. Only ops between the inputs of the second call and its new value
are repeated, and only if they depend on the variable.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kerascope.backend.graph import Apply, Tensor, applies_in_order, as_tensor
from kerascope.backend.scopes import root_scope
from kerascope.backend.variables import Variable


class CallUpdate(tuple[Variable, Any]):
    """A pair (variable, new value) that a layer call has added.

    Attributes
    ----------
    inputs : list of Tensor
        The inputs of the call.
    chain : list of Tensor or None
        For values that were assigned during the call, as in Keras 3: the inputs of the outermost
        call or model. Assignments in the same chain already contain the earlier ones.
    """

    inputs: list[Tensor]
    chain: list[Tensor] | None

    @classmethod
    def of(cls, pair: Any, inputs: list[Tensor], chain: list[Tensor] | None = None) -> CallUpdate:
        """Return `pair` as a `CallUpdate` of a layer call with these inputs.

        If the call assigned the value, as in Keras 3, `chain` contains the inputs of the outermost
        call, so that later assignments in it follow this one. Otherwise it is None.
        """
        made = cls(pair)
        made.inputs, made.chain = inputs, chain
        return made


def chained(pairs: Iterable[tuple[Variable, Any]]) -> list[tuple[Variable, Any]]:
    """Return the update pairs, with the updates of a variable by layer calls applied in sequence.

    All of these pairs get the variable's last new value, since a function writes it only once.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> from kerascope.layers import BatchNormalization, Input
    >>> norm, x, y = BatchNormalization(momentum=0.5), Input((1,)), Input((1,))
    >>> _ = norm(x), norm(y)
    >>> (_, mean), *_ = chained([*norm.get_updates_for(x), *norm.get_updates_for(y)])
    >>> K.function([x, y], mean)([[[1.0], [3.0]], [[10.0], [20.0]]]).tolist()
    [8.0]
    """
    distinct = {id(pair): pair for pair in pairs}.values()
    values: dict[Variable, Any] = {}
    for pair in distinct:
        if isinstance(pair, CallUpdate):
            starts_anew = pair.chain is not None or pair[0] not in values
            values[pair[0]] = pair[1] if starts_anew else _started_from(values[pair[0]], pair)
    return [
        (pair[0], values[pair[0]]) if isinstance(pair, CallUpdate) else pair for pair in distinct
    ]


def _started_from(value: Any, update: CallUpdate) -> Tensor:
    """Return the new value of an update, computed from `value` instead of the variable."""
    variable, new_value = update[0], as_tensor(update[1], like=update[0])
    new: dict[Tensor, Tensor] = {variable: as_tensor(value, like=variable)}
    for apply in applies_in_order([new_value], fed=update.inputs):
        if any(x in new for x in apply.inputs):
            repeated = _repeated(apply, [new.get(x, x) for x in apply.inputs])
            new.update(zip(apply.outputs, repeated.outputs, strict=True))
    return new.get(new_value, new_value)


def _repeated(apply: Apply, inputs: list[Tensor]) -> Apply:
    """Return a copy of an Apply on other inputs, with the same name, scope and user frames."""
    with root_scope(apply.scope):
        repeated = Apply(apply.op, inputs, apply.name)
    repeated.frames = apply.frames
    for old, new in zip(apply.outputs, repeated.outputs, strict=True):
        new.shape = old.shape
    return repeated


def assigned_by_several_calls(pairs: Iterable[tuple[Variable, Any]]) -> Variable | None:
    """Return a variable that several outermost calls of layers assign; None if there is none."""
    chains: dict[Variable, int] = {}
    for pair in pairs:
        chain = pair.chain if isinstance(pair, CallUpdate) else None
        if chain is not None and chains.setdefault(pair[0], id(chain)) != id(chain):
            return pair[0]
    return None


def depend_on(values: Iterable[Any], inputs: list[Tensor]) -> bool:
    """Return whether any of the values depends on any of the inputs."""
    tensors = [value for value in values if isinstance(value, Tensor)]
    used = [x for apply in applies_in_order(tensors, fed=inputs) for x in apply.inputs]
    return not {*tensors, *used}.isdisjoint(inputs)
