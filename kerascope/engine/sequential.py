"""The class `Sequential`: a model whose layers form a chain.

Each layer that is added extends the graph if the shape of the input is known: from the first
layer's `input_shape`, from `build(input_shape)`, or from the first data. Until then the model is
*deferred*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import as_shape
from kerascope.engine.arguments import unpack_singleton
from kerascope.engine.base_layer import Layer
from kerascope.engine.builders import add_layer, make_layer, mask_rules
from kerascope.engine.input_layer import Input, InputLayer
from kerascope.engine.model import Model
from kerascope.engine.network import Network
from kerascope.engine.node import Node, get_source_inputs
from kerascope.engine.policies.assigned import making_model
from kerascope.engine.policies.enclosing import is_inside_call
from kerascope.engine.policies.undo import Transaction
from kerascope.errors import ArgumentError, ConfigError, DtypeError
from kerascope.registry import custom_object_scope
from kerascope.spellings import dialect_options


@dataclass
class Branches:
    """The models whose outputs a Merge of Keras 1 joins as the first layer of a Sequential."""

    models: list[Any]

    @property
    def have_config(self) -> bool:
        """Whether all branches are networks and no two share a layer, as `get_config` requires."""
        models = list(dict.fromkeys(self.models))
        inside = [layer for model in models for layer in _layers_inside(model)]
        return all(isinstance(m, Network) for m in models) and len(inside) == len(set(inside))

    def get_config(self) -> list[Any]:
        """Return the configuration of each branch.

        If a model is used for a second branch, the index of its first branch takes the place of the
        configuration.
        """
        return [
            {"class_name": type(model).__name__, "config": model.get_config()}
            if self.models.index(model) == place
            else self.models.index(model)
            for place, model in enumerate(self.models)
        ]

    @classmethod
    def from_config(cls, config: list[Any]) -> Branches:
        """Make the branches from their configurations."""
        models: list[Any] = []
        for entry in config:
            models.append(models[entry] if isinstance(entry, int) else deserialized(entry))
        return cls(models)


def deserialized(entry: dict[str, Any]) -> Any:
    """Make a layer from `{"class_name", "config"}`. Call a Merge on the outputs of its branches."""
    layer = make_layer(entry)
    if "branches" in entry:
        layer._branches = Branches.from_config(entry["branches"])
        layer([model.outputs[0] for model in layer._branches.models])
    return layer


def _layers_inside(model: Any) -> list[Layer]:
    if isinstance(model, Sequential):
        return model.flattened_layers
    return list(model.layers) if isinstance(model, Network) else [model]


class Sequential(Model):
    """A model whose layers form a chain: each is called on the output of the layer before.

    Parameters
    ----------
    layers : list of Layer, optional
        Added one after the other.
    name : str, optional

    Examples
    --------
    >>> from kerascope.layers import Dense
    >>> model = Sequential([Dense(32, input_shape=(500,)), Dense(10, activation="softmax")])
    >>> model.count_params()
    16362
    """

    def __init__(self, layers: list[Layer] | None = None, name: str | None = None) -> None:
        super().__init__(name=name)
        self._line: list[Layer] = []
        self._named: dict[str, Layer] = {}
        for layer in layers or []:
            self.add(layer)

    @property
    def layers(self) -> list[Layer]:
        """The layers in order, without the InputLayer."""
        return [layer for layer in self._line if not isinstance(layer, InputLayer)]

    @property
    def flattened_layers(self) -> list[Layer]:
        """All layers but the InputLayers. Layers in branches of a Merge (Keras 1) come first."""
        if not self._line or not self.outputs:
            return self.layers
        branches = getattr(self._line[0], "_branches", None)
        found = [x for model in branches.models for x in _layers_inside(model)] if branches else []
        known = {*found, *self._line}
        in_graph = [x for x in self._sublayers if x not in known]
        joined = [x for x in [*found, *in_graph] if not isinstance(x, InputLayer)]
        line = self.layers[1:] if branches else self.layers
        return list(dict.fromkeys([*joined, *line]))

    @property
    def _sublayers(self) -> list[Layer]:
        """All layers of the graph, including those in the branches of a Merge at its start."""
        return self.graph_map.layers if self.outputs else self._line

    @property
    def model(self) -> Sequential:
        """The Sequential itself. In Keras 1 this attribute was an inner model."""
        return self

    @property
    def validation_data(self) -> Any:
        """The validation arrays of the last `fit`, or None (Keras 1)."""
        return getattr(getattr(self, "history", None), "validation_data", None)

    @property
    def training_data(self) -> Any:
        """Raise AttributeError, because the model does not store its training data."""
        raise AttributeError(f"{self.label}: the model does not store its training data.")

    @property
    def input(self) -> Any:
        """The model's own input; in dialect "3", the input of its first call by another model."""
        call = self._first_call()
        return super().input if call is None else unpack_singleton(call.input_tensors)

    @property
    def output(self) -> Any:
        """The model's own output; in dialect "3", the output of its first call by another model."""
        call = self._first_call()
        return super().output if call is None else unpack_singleton(call.output_tensors)

    def _first_call(self) -> Node | None:
        """Return the model's first call as a layer, whose tensors are `input` and `output`.

        Return None before the first call, and in other dialects than "3".
        """
        calls = [node for node in self.inbound_nodes if not node.begins]
        return calls[0] if calls and dialect_options().wraps_operations else None

    def add(self, layer: Any) -> None:
        """Add a layer at the end of the chain.

        Raises
        ------
        DtypeError
            `layer` is not a layer.
        ShapeError
            The layer does not fit the output of the layer before. The model is not changed.
        """
        if isinstance(layer, Tensor) and layer._keras_history is not None and not self._line:
            layer = layer._keras_history.layer  # Keras 3's Sequential([Input((5,)), ...])
        if not isinstance(layer, Layer):
            remedy = f"Write {layer.__name__}(...)." if isinstance(layer, type) else ""
            raise DtypeError(
                f"{self.label}: add: expected a layer, got {layer!r}. {remedy}", subject=self
            )
        if self._named.get(layer.name, layer) is not layer:
            raise ArgumentError(
                f'{self.label}: The name "{layer.name}" is used 2 times in the model. All layer '
                "names should be unique."
            )
        if self.outputs:
            self._extend(self.inputs, layer)
        elif not self._line:
            self._begin(layer)
        self._line.append(layer)
        self._named[layer.name] = layer

    def _begin(self, layer: Layer) -> None:
        """Start the graph if the shape of the first layer's input is known."""
        if isinstance(layer, InputLayer):
            x = layer.inbound_nodes[0].output_tensors[0]
            self._begin_graph([x], [x])
        elif layer.inbound_nodes and not layer.inbound_nodes[-1].begins:
            # A Merge of Keras 1 has been called already, on the outputs of other models.
            outputs = layer.inbound_nodes[-1].output_tensors
            self._begin_graph(get_source_inputs(outputs[0]), outputs)
        elif isinstance(layer, Network) and layer.inputs:
            first = layer.inputs[0]
            self._extend(
                [Input(batch_shape=first.shape, dtype=first.dtype, name=f"{layer.name}_input")],
                layer,
            )
        elif layer.batch_input_shape is not None:
            name = f"{layer.name}_input"
            self._extend(
                [Input(batch_shape=layer.batch_input_shape, dtype=layer.dtype, name=name)], layer
            )

    def _extend(self, inputs: list[Any], layer: Layer) -> None:
        output = layer(self.outputs[0] if self.outputs else inputs[0])
        if isinstance(output, list):
            raise ArgumentError(
                f"{self.label}: {layer.label} has {len(output)} outputs; all layers of a "
                "Sequential should have a single output tensor. For several, use Model(inputs, "
                "outputs).",
                subject=layer,
            )
        self._begin_graph(inputs, [output])
        self._forget_compilation()

    def pop(self) -> None:
        """Remove the last layer.

        Raises
        ------
        ArgumentError
            The model has no layers.
        """
        if not self.layers:
            raise ArgumentError(f"{self.label}: pop: there are no layers in the model.")
        last = self._line.pop()
        if last not in self._line:
            self._named.pop(last.name, None)
        self._forget_compilation()
        if not self.outputs:
            return
        if not self._line:
            self.inputs, self.outputs, self._graph_map = [], [], None
            self.built = self._is_graph_network = False
            return
        node = self.outputs[0]._keras_history.node
        for layer in node.inbound_layers:
            layer.outbound_nodes.remove(node)
        if last.inbound_nodes[-1] is node:  # a later call keeps its index
            last.inbound_nodes.pop()
        self._begin_graph(self.inputs, [node.input_tensors[0]])

    def build(self, input_shape: Any = None) -> None:
        """Make the graph, and so the weights, of a deferred model.

        Parameters
        ----------
        input_shape : tuple of int or None
            Shape of the input with the batch, such as `(None, 500)`.
        """
        if self.outputs:
            return
        if input_shape is None or not self._line:
            missing = "an input_shape" if self._line else "a layer. Call add() first"
            raise ArgumentError(f"{self.label}: build needs {missing}.", subject=self)
        first = self._line[0]
        x = y = Input(
            batch_shape=as_shape(input_shape), dtype=first.dtype, name=f"{first.name}_input"
        )
        with Transaction(self).if_it_fails():
            for layer in self._line:
                y = layer(y)
        self._begin_graph([x], [y])

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Call the model. A call on an array first builds a deferred model, for any batch size."""
        is_deferred = bool(self._line) and not self.outputs
        is_stateful = any(getattr(layer, "stateful", False) for layer in self._line)
        is_deferred = is_deferred and not is_inside_call() and making_model.get() is None
        if is_deferred and not is_stateful and isinstance(inputs, np.ndarray) and inputs.ndim > 1:
            self.build((None, *inputs.shape[1:]))
        return super().__call__(inputs, *args, **kwargs)

    def _build_on(self, shapes: list[Any], input_structure: Any = None) -> None:
        if len(shapes) != 1:
            raise ArgumentError(
                f"{self.label}: expected one array, got {len(shapes)}.", subject=self
            )
        self.build(shapes[0])

    def predict_proba(self, x: Any, batch_size: int | None = 32, verbose: int = 0) -> Any:
        """Return `predict(x)`, the probabilities of a classifier."""
        return self.predict(x, batch_size=batch_size, verbose=verbose)

    def predict_classes(self, x: Any, batch_size: int | None = 32, verbose: int = 0) -> np.ndarray:
        """Return the most likely class of each sample; for one unit, 1 if it is above 0.5."""
        probabilities = self.predict(x, batch_size=batch_size, verbose=verbose)
        if probabilities.shape[-1] > 1:
            return probabilities.argmax(axis=-1)
        return (probabilities > 0.5).astype("int32")

    def get_config(self) -> dict[str, Any]:
        """Return the layers' configurations in order, as plain data for JSON."""
        layers = [
            {"class_name": type(layer).__name__, "config": layer.get_config(), **mask_rules(layer)}
            for layer in self._line
        ]
        if len(self.inputs) > 1 or len(self._sublayers) > len(self._line) + 1:
            branches = getattr(self._line[0], "_branches", None)
            if branches is None or not branches.have_config:
                raise ConfigError(
                    f"{self.label}: it begins with a Merge of layers that are not models, or that "
                    f"share layers, so it has no configuration. To save it, make it with "
                    f"Model(inputs, outputs).",
                    subject=self,
                )
            layers[0]["branches"] = branches.get_config()
        config: dict[str, Any] = {"name": self.name, "trainable": self.trainable, "layers": layers}
        if len(self.inputs) == 1:
            config["build_input_shape"] = list(self.inputs[0].shape)
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Sequential:
        """Make a model of the same layers, with newly initialized weights."""
        entries = config if isinstance(config, list) else config["layers"]
        facts: dict[str, Any] = {} if isinstance(config, list) else config
        model = cls(name=facts.get("name"))
        with custom_object_scope(custom_objects or {}):
            for entry in entries:
                add_layer(model, deserialized(entry))
        if not model.outputs and facts.get("build_input_shape"):
            model.build(facts["build_input_shape"])
        if not facts.get("trainable", True):
            model.trainable = False
        return model
