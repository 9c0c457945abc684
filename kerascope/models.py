"""Models under Keras's module name: `from kerascope.models import Model, Sequential`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kerascope.backend.graph import Tensor
from kerascope.engine.arguments import listed, packed, to_list
from kerascope.engine.base_layer import Layer
from kerascope.engine.binding import Call
from kerascope.engine.input_layer import Input, InputLayer
from kerascope.engine.layer_type import sharing_functions
from kerascope.engine.model import Model
from kerascope.engine.network import Network
from kerascope.engine.pickling import own_classes
from kerascope.engine.sequential import Sequential
from kerascope.errors import ArgumentError, ConfigError
from kerascope.missing_names import answer_missing_names
from kerascope.registry import custom_object_scope
from kerascope.spellings import override_dialect

if TYPE_CHECKING:  # imported at their first use
    from kerascope.saving import (
        load_model,
        model_from_config,
        model_from_json,
        model_from_yaml,
        save_model,
    )

__all__ = [
    "Container",
    "Functional",
    "Model",
    "Network",
    "Sequential",
    "clone_model",
    "load_model",
    "model_from_config",
    "model_from_json",
    "model_from_yaml",
    "save_model",
]


Functional = Model  # the name in tf.keras and Keras 3
Container = Network  # the name in Keras 1

_OF_FILES = ("load_model", "model_from_config", "model_from_json", "model_from_yaml", "save_model")

answer_missing_names(__name__, later=dict.fromkeys(_OF_FILES, "kerascope.saving"))


# --- a second model like the first, with layers of its own ----------------------------------------
#
# Cloning repeats the calls of the first model on new layers. It needs no class names, so custom
# layers can be cloned.


def clone_model(
    model: Any, input_tensors: Any = None, clone_function: Callable[[Layer], Layer] | None = None
) -> Any:
    """Return a copy of a model with new layers and fresh weights.

    Parameters
    ----------
    model : Model
        A Sequential or a `Model(inputs, outputs)`. Shared layers stay shared.
    input_tensors : Tensor or list of Tensor, optional
        The new model's inputs; by default, each is a new `Input`.
    clone_function : callable, optional
        Takes a layer and returns the layer of the copy: a new layer, or the same layer to share it.

    Returns
    -------
    Model
        A Sequential for a Sequential, otherwise a Model.

    Raises
    ------
    ConfigError
        If the model is a subclass with its own `call`, which has no graph of layers.
    ArgumentError
        If the number of input tensors is wrong.

    Examples
    --------
    >>> from kerascope.layers import Dense
    >>> model = Sequential([Dense(2, input_shape=(3,))])
    >>> twin = clone_model(model)
    >>> twin.layers[0].name == model.layers[0].name, twin.layers[0] is model.layers[0]
    (True, False)
    """
    if not isinstance(model, Network):
        raise ArgumentError(f"clone_model: expected a model, got {type(model).__name__}.")
    clone = clone_function or clone_layer
    tensors = to_list(input_tensors)
    if tensors and len(tensors) != len(model.inputs):
        raise ArgumentError(
            f"clone_model: {len(tensors)} input tensors came; {model.label} has "
            f"{len(model.inputs)} inputs."
        )
    if isinstance(model, Sequential) and len(model.inputs) <= 1:
        return _cloned_line(model, tensors, clone)
    if not model._is_graph_network:
        raise ConfigError(
            f"clone_model: {model.label} is a subclass with a call of its own, whose layers cannot "
            f"be connected again. Make another object of {type(model).__name__}."
        )
    return _cloned_graph(model, tensors, clone)


def clone_layer(layer: Layer) -> Layer:
    """Return a new layer of the same class and configuration; for a network, its `clone_model`."""
    if isinstance(layer, Network):
        return clone_model(layer)
    known = custom_object_scope(own_classes(layer))  # a wrapper's configuration has class names
    with known, sharing_functions(), override_dialect(ends_masks=layer._ends_masks):
        return type(layer).from_config(layer.get_config())


def _cloned_line(model: Sequential, tensors: list[Tensor], clone: Any) -> Sequential:
    twin = type(model)(name=model.name)
    if tensors:
        twin.add(_begun(tensors[0]))
    for layer in model._line:
        if not (tensors and isinstance(layer, InputLayer)):
            twin.add(clone_layer(layer) if isinstance(layer, InputLayer) else clone(layer))
    if model.outputs and not twin.outputs:
        twin.build(model.inputs[0].shape)
    if not model.trainable:
        twin.trainable = False
    return twin


def _cloned_graph(model: Network, tensors: list[Tensor], clone: Any) -> Any:
    """Return a copy of a model: repeat all calls of its graph on new layers, inputs first."""
    inputs = [_begun(x) for x in tensors] or [_input_like(x) for x in model.inputs]
    twins: dict[Tensor, Any] = dict(zip(model.inputs, inputs, strict=True))
    new_layers: dict[Layer, Layer] = {}
    for node in model.graph_map.nodes_in_decreasing_depth:
        if node.is_input:
            continue
        layer = node.outbound_layer
        if layer not in new_layers:
            new_layers[layer] = clone(layer)
        call = Call([twins.get(x, x) for x in node.input_tensors], node.arguments)
        outputs, _ = listed(new_layers[layer](call.inputs, **call.arguments))
        twins.update(zip(node.output_tensors, outputs, strict=True))
    made_by = type(model) if type(model) in (Model, Network) else Model
    twin = made_by(
        packed(model._input_structure, inputs),
        packed(model._output_structure, [twins[y] for y in model.outputs]),
        name=model.name,
    )
    if not model.trainable:
        twin.trainable = False
    return twin


def _input_like(x: Tensor) -> Any:
    layer = x._keras_history.layer
    if isinstance(layer, InputLayer):
        return clone_layer(layer).inbound_nodes[0].output_tensors[0]
    return Input(batch_shape=x.shape, dtype=x.dtype)


def _begun(x: Any) -> Any:
    """Return a tensor if a layer produced it, otherwise a new Input with the tensor's shape."""
    if isinstance(x, Tensor) and x._keras_history is not None:
        return x
    return Input(tensor=x)
