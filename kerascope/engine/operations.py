"""Layers for the operations between layers, such as `x + layer(x)`.

In Keras 3 a script may compute with the outputs of layers, and each operation becomes a part of the
layer graph. Here an op makes an Apply, and the output of the Apply has no history. So when such a
tensor reaches a layer's call or the outputs of a Model, each Apply between it and the tensors of
layers becomes a layer with a Node. Nothing is computed again: the Node's output tensors are those
of the Apply, which now receive a history.

Constants and variables that an op uses stay inside its layer, `layers.ops.operation.Operation`.

The ops in the `call` of a layer never become layers: neither while it runs, nor when a tensor from
inside it (a gradient, for example) reaches a Model.

In Keras 2 such a tensor raises an error. The dialect option `wraps_operations` decides whether
layers are made. The `call` of a subclassed model may compute between layers in each version of
Keras.

The engine imports no layers, so `kerascope.layers` registers the function that makes a layer from
an Apply.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from kerascope.backend.graph import Apply, Tensor, is_eager
from kerascope.backend.scopes import Scope
from kerascope.engine.arguments import extract_tensors
from kerascope.engine.node import Node, NodeCreated, mask_of
from kerascope.engine.policies.enclosing import is_inside_call
from kerascope.registry import Registry
from kerascope.spellings import dialect_options
from kerascope.stage import Stage
from kerascope.user_frames import boundary

if TYPE_CHECKING:
    from kerascope.engine.base_layer import Layer

makers_of_layers = Registry("maker of layers", home="kerascope.layers.ops.operation")


@boundary
def wrap_operations(tensors: list[Tensor], arguments: dict[str, Any]) -> None:
    """Make layers of the ops that computed these tensors from outputs of layers.

    Nothing happens inside the call of a layer, or if the dialect does not wrap operations.

    Parameters
    ----------
    tensors : list of Tensor
    arguments : dict
        Further arguments of a call, which may contain tensors that ops computed.
    """
    if is_eager() or not dialect_options().wraps_operations or is_inside_call():
        return
    for tensor in [*tensors, *extract_tensors(arguments, 0, lambda tensor: True)[0]]:
        if tensor._keras_history is None and tensor.owner is not None:
            for apply in operations_before(tensor):
                _enter(apply)


def operations_before(tensor: Tensor) -> list[Apply]:
    """Return the Applies between outputs of layers and this tensor, in the order of computation.

    Returns
    -------
    list of Apply
        Empty if the tensor depends on no output of a layer, or if one of these Applies was made
        inside a layer's `call`.
    """
    depends: dict[Tensor, bool] = {}
    found: list[Apply] = []
    stack = [tensor]
    while stack:
        x = stack[-1]
        if x in depends or x._keras_history is not None or x.owner is None:
            depends.setdefault(x, x._keras_history is not None)
            stack.pop()
            continue
        waiting = [y for y in x.owner.inputs if y not in depends]
        if waiting:
            stack.extend(reversed(waiting))
            continue
        needed = any(depends[y] for y in x.owner.inputs)
        depends.update(dict.fromkeys(x.owner.outputs, needed))
        if needed:
            found.append(x.owner)
    return [] if any(_is_inside_a_layer(apply) for apply in found) else found


def _is_inside_a_layer(apply: Apply) -> bool:
    """Return whether an Apply was made inside a layer's `call`.

    If so, its scope contains a line of the user's code.
    """
    return apply.scope.made_at is not None


def _enter(apply: Apply) -> None:
    layer = makers_of_layers.lookup("layer_of_apply")(apply)
    Stage("layer_call", _make_node(apply, layer), layer).run()


def _make_node(apply: Apply, layer: Layer) -> Generator[Any, Any, Node]:
    """Make the Node for an Apply that exists already. As in Keras 3, the outputs have no masks."""
    inputs = inputs_of_layers(apply)
    masks = [mask_of(x) for x in inputs]
    node = Node(layer, inputs, apply.outputs, masks, [None] * len(apply.outputs))
    apply.scope = Scope(layer.name, layer.made_at, origin=apply.scope.origin)
    for output in apply.outputs:
        output.name = apply.scope.join(output.name)
    yield NodeCreated(layer, node)
    return node


def inputs_of_layers(apply: Apply) -> list[Tensor]:
    """Return those inputs of an Apply that are outputs of layers."""
    return [x for x in apply.inputs if x._keras_history is not None]
