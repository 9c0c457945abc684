"""The class `Network`: a graph of layers that is itself a layer.

A *graph network* is made from tensors, `Network(inputs, outputs)`. It maps the graph between them
once (`graph_map.py`); a call runs the graph on new inputs, deepest first. A *subclassed network*
defines its own `call`. A network is a Layer, so it can be nested in another network.

Running a network is one forward pass, node by node (`run_graph`). The dict `tensor_map` begins with
the inputs. For each node, its input tensors are looked up in this dict, the body of its layer runs
(`run_body`), and the results are stored under the node's own output tensors. In the end the
network's outputs are looked up too. No Node is made for the layers inside, because their calls were
recorded before, when the graph was built from tensors. The results are tensors: symbols if the
network is called on symbols, numbers if it is called on arrays.

Keras 1 calls it Container, in `engine/topology.py`; Keras 2 Network, in `engine/network.py`;
tf.keras and Keras 3 Functional. Lessons: chapters 8 and 9 (the map), 10 (running it) and 11 (the
cache of outputs).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.atomic import reset_together
from kerascope.backend.graph import Tensor, as_tensor, graph_mode, is_eager
from kerascope.backend.shapes import Shape, merge_shapes
from kerascope.backend.state import batch_get_value, batch_set_value, learning_phase, placeholder
from kerascope.backend.variables import Variable
from kerascope.engine import rules
from kerascope.engine.arguments import (
    by_names,
    distinct_names,
    listed_shapes,
    listed_tensors,
    names_in,
    packed,
    to_list,
    unpack_singleton,
)
from kerascope.engine.base_layer import ItemsByInputs, Layer, layers_within
from kerascope.engine.binding import Call
from kerascope.engine.calling import run_body
from kerascope.engine.graph_map import GraphMap, map_graph
from kerascope.engine.input_layer import InputLayer
from kerascope.engine.keras1.network import NetworkOfKeras1
from kerascope.engine.keras3.cutting import cut_out, outputs_in_order
from kerascope.engine.layer_losses import only_of_call
from kerascope.engine.network_config import check_names, config_of_graph, network_from_config
from kerascope.engine.node import Node, mask_of
from kerascope.engine.node_ids import calls_in, find_call
from kerascope.engine.policies import around_repeat, leaving_no_trace
from kerascope.engine.policies.failure import attaching_graph
from kerascope.engine.summary import print_summary
from kerascope.errors import (
    ArgumentError,
    DtypeError,
    GraphError,
    NotBuiltError,
    NotYetError,
    ShapeError,
)
from kerascope.registry import Registry, did_you_mean
from kerascope.spellings import translate
from kerascope.stage import Stage
from kerascope.user_frames import warn

# Reading a model means making layers, which the engine does not import. So the functions for files
# are in `kerascope.saving`, and are looked up in this registry when they are first used.
file_functions = Registry("function of keras.engine.saving", home="kerascope.saving")


class OutputCache(dict[Any, list[Any]]):
    """A cache of the outputs or masks of a network's runs, by inputs, masks and learning phase."""

    def forget_after(self, number: int) -> None:
        """Remove the results of all runs except the first `number`."""
        while len(self) > number:
            self.popitem()


class Network(Layer, NetworkOfKeras1):
    """A directed acyclic graph of layers.

    Parameters
    ----------
    inputs : Tensor, list of Tensor, or dict of str to Tensor
        The beginning of the graph: tensors made by `Input`. Lists and dicts may be nested.
    outputs : Tensor, list of Tensor, or dict of str to Tensor
        The end of the graph. A call of the network returns its outputs in the same form.
    name : str, optional

    Attributes
    ----------
    graph_map : GraphMap
        The nodes and layers of the graph, with their depths.
    nodes_by_depth, layers_by_depth : dict of int to list
        The nodes or layers of each depth, deepest first. Depth 0 contains only outputs. An output
        that another node needs is deeper.
    layers : list of Layer
        Deepest first.
    input_layers, output_layers : list of Layer
        The layers that made the inputs and outputs.

    Raises
    ------
    ArgumentError
        An output was not made by a layer, an input is given twice, or two layers share a name.
    DisconnectedGraphError
        An output needs an Input that is not among the inputs.
    CycleError
        A node depends on itself.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> x = Input((4,), name="x")
    >>> Network(x, Dense(1, name="b")(Dense(2, name="a")(x))).layers_by_depth
    {2: [<InputLayer x>], 1: [<Dense a>], 0: [<Dense b>]}
    """

    inputs: list[Tensor]
    outputs: list[Tensor]
    _graph_map: GraphMap | None
    _input_structure: Any  # nested lists and dicts of indices; None if `inputs` is flat
    _output_structure: Any
    _output_tensor_cache: OutputCache
    _output_mask_cache: OutputCache

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs = translate("Model", kwargs)
        is_graph = (
            len(args) >= 2
            or (args and "outputs" in kwargs)
            or {"inputs", "outputs"} <= kwargs.keys()
        )
        if is_graph:
            self._init_graph_network(*args, **kwargs)
        elif args or {"inputs", "outputs"} & kwargs.keys():
            others = sorted(kwargs.keys() - {"inputs", "outputs", "name", "trainable"})
            meant = did_you_mean(others[0], ("inputs", "outputs", "name")) if others else ""
            unknown = f" Unknown argument {others[0]!r}. {meant}" if others else ""
            raise ArgumentError(
                f"{type(self).__name__}: expected both inputs and outputs (or neither, in a "
                f"subclass with its own call).{unknown}".rstrip()
            )
        else:
            self._init_subclassed_network(**kwargs)

    def _init_graph_network(
        self, inputs: Any, outputs: Any, name: str | None = None, trainable: bool = True
    ) -> None:
        input_structure, inputs = listed_tensors(type(self).__name__, "Input", inputs)
        output_structure, outputs = listed_tensors(type(self).__name__, "Output", outputs)
        rules.wrap_operations([x for x in outputs if isinstance(x, Tensor)], {})
        with attaching_graph(type(self).__name__, inputs, outputs):
            inputs, outputs = cut_out(inputs, outputs)
            _check_tensors(type(self).__name__, inputs, outputs)
            self._init_subclassed_network(name=name, trainable=trainable)
            self.inputs, self.outputs = inputs, outputs
            graph_map = map_graph(inputs, outputs, network=self)
            nodes = [node for nodes in graph_map.nodes_by_depth.values() for node in nodes]
            self.outputs = outputs_in_order(self, nodes, outputs)
            if self.outputs is not outputs:
                outputs = self.outputs
                graph_map = map_graph(inputs, outputs, network=self)
            check_names((layer.name for layer in graph_map.layers), ArgumentError)
        self._input_structure, self._output_structure = input_structure, output_structure
        self._begin_graph(inputs, outputs, graph_map)

    def _begin_graph(
        self, inputs: list[Tensor], outputs: list[Tensor], graph_map: GraphMap | None = None
    ) -> None:
        """Set inputs and outputs. Without a `graph_map`, the graph is mapped at its first use."""
        self._is_graph_network = True
        self.inputs = inputs
        self.outputs = outputs
        self._graph_map = graph_map
        self.built = True
        self._output_tensor_cache = OutputCache()
        self._output_mask_cache = OutputCache()
        self._eager_masks: dict[Any, list[Tensor | None]] = {}
        masks = [mask_of(x) for x in outputs]
        self.inbound_nodes = [node for node in self.inbound_nodes if not node.begins]
        Node(self, inputs, outputs, [None] * len(inputs), masks, begins=True)

    def _init_subclassed_network(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.inputs = []
        self.outputs = []
        self._is_graph_network = False
        self._graph_map = None
        self._input_structure = self._output_structure = None
        self._shape_of_build: Any = None

    def build(self, input_shape: Any = None) -> None:
        """Store the input shape. The layers inside make their own weights when they are called."""
        self._shape_of_build = input_shape
        self.built = True

    # --- running it -------------------------------------------------------------------------------

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Call the network as a layer. Several inputs are a list or a dict by `input_names`."""
        if self._is_graph_network and isinstance(inputs, (dict, list, tuple)):
            given = by_names(self._input_structure, self.input_names, inputs)
            if isinstance(given, dict):
                inputs = unpack_singleton(self._in_order_of_inputs(given))
        return super().__call__(inputs, *args, **kwargs)

    def _in_order_of_inputs(self, given: dict[str, Any]) -> list[Any]:
        names = self.names_for(given)
        if given.keys() != set(names):
            raise ArgumentError(
                f"{self.label}: expected a tensor or an array for each of {names}, got a dict "
                f"with the keys {sorted(given)}.",
                subject=self,
            )
        return [given[name] for name in names]

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """Run the graph on new inputs.

        On the same symbolic inputs the graph runs only once, and a second call returns the tensors
        of the first. (If the inputs are numbers, results are not stored. In Keras 3 each call runs
        again, with new random numbers for dropout.)
        """
        self._require_graph("call")
        inputs = [as_tensor(x) for x in to_list(inputs)]
        masks = to_list(mask) or [None] * len(inputs)
        cache_key = (*inputs, *masks, learning_phase())
        if is_eager():
            output_tensors, output_masks, _ = self.run_internal_graph(inputs, masks)
            self._eager_masks = {cache_key: output_masks}  # for compute_mask, which is called next
            return packed(self._output_structure, output_tensors)
        if cache_key not in self._output_tensor_cache or rules.runs_each_call():
            output_tensors, output_masks, _ = self.run_internal_graph(inputs, masks)
            self._output_tensor_cache[cache_key] = output_tensors
            self._output_mask_cache[cache_key] = output_masks
        return packed(self._output_structure, self._output_tensor_cache[cache_key])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the masks of the outputs for these inputs; None for a subclassed network."""
        if not self._is_graph_network:
            return None
        inputs = to_list(inputs)
        masks = to_list(mask) or [None] * len(inputs)
        cache_key = (*inputs, *masks, learning_phase())
        if cache_key in self._eager_masks:
            return unpack_singleton(self._eager_masks.pop(cache_key))
        if cache_key in self._output_mask_cache:
            return unpack_singleton(self._output_mask_cache[cache_key])
        return unpack_singleton(self.run_internal_graph(inputs, masks)[1])

    def run_internal_graph(
        self, inputs: list[Tensor], masks: list[Tensor | None] | None = None
    ) -> tuple[list[Tensor], list[Tensor | None], list[Shape]]:
        """Compute output tensors, masks and shapes for new inputs, node by node.

        Raises
        ------
        ShapeError
            An input has another shape than the network's, and does not fit a layer inside.
        """
        misfit = _misfit(self.inputs, [as_tensor(x) for x in to_list(inputs)])
        try:
            return self.run_stage(inputs, masks).run()
        except ShapeError as error:
            if misfit is None:
                raise
            raise _of_other_shape(self, *misfit, error) from error

    def run_stage(self, inputs: Any, masks: Any = None) -> Stage:
        """Return `run_internal_graph` as a stage, with the events `InputFed` and `NodeComputed`."""
        self._require_graph("run_stage")
        inputs = [as_tensor(x) for x in to_list(inputs)]
        return Stage("run_internal_graph", run_graph(self, inputs, masks), self)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shapes of the outputs for inputs of these shapes."""
        self._require_graph("compute_output_shape")
        given = by_names(self._input_structure, self.input_names, input_shape)
        is_dict = isinstance(given, dict)
        shapes = self._in_order_of_inputs(given) if is_dict else listed_shapes(given)
        with graph_mode(), leaving_no_trace(self):
            inputs: list[Tensor] = [
                placeholder(shape, dtype=x.dtype)
                for shape, x in zip(shapes, self.inputs, strict=True)
            ]
            return packed(self._output_structure, self.run_internal_graph(inputs)[2])

    def _declared_output_shape(self, input_shape: Any, arguments: dict[str, Any]) -> Any:
        return None  # the shapes are known from running the graph

    def _require_graph(self, what: str) -> None:
        if not self._is_graph_network:
            raise NotBuiltError(
                f"{self.label}: {what} needs a graph of layers; a subclassed network has none. "
                "Save its weights, or write this method in the class.",
                subject=self,
            )

    def _layers_that_cannot_run(self) -> list[Layer]:
        """Return the layers, also nested ones, whose class was unknown when a file was loaded."""
        return [layer for layer in layers_within(self) if layer._why_it_cannot_run is not None]

    def _require_that_it_runs(self) -> None:
        """Raise NotYetError if a layer of the network, also a nested one, cannot run."""
        for layer in self._layers_that_cannot_run():
            raise NotYetError(str(layer._why_it_cannot_run), subject=layer)

    # --- its graph --------------------------------------------------------------------------------

    @property
    def graph_map(self) -> GraphMap:
        """The nodes and layers of the graph with their depths: see `engine.graph_map`.

        Raises
        ------
        NotBuiltError
            The network has no inputs yet.
        """
        if not self.outputs:
            raise NotBuiltError(
                f"{self.label}: it has no graph yet. Give the first layer an input_shape, or call "
                "build(input_shape).",
                subject=self,
            )
        if self._graph_map is None:
            self._graph_map = map_graph(self.inputs, self.outputs, network=self)
        return self._graph_map

    @property
    def layers(self) -> list[Layer]:
        """The layers, deepest first. In a subclassed network, the layers among its attributes."""
        return self.graph_map.layers if self._is_graph_network else super()._sublayers

    @property
    def _sublayers(self) -> list[Layer]:
        return self.layers

    @property
    def nodes_by_depth(self) -> dict[int, list[Node]]:
        """The nodes of the graph grouped by depth, deepest first."""
        return self.graph_map.nodes_by_depth

    @property
    def layers_by_depth(self) -> dict[int, list[Layer]]:
        """The layers of the graph grouped by depth, deepest first."""
        return self.graph_map.layers_by_depth

    @property
    def network_nodes(self) -> list[str]:
        """The name of each node of the graph, such as `dense_1_ib-0`."""
        return self.graph_map.network_nodes

    _network_nodes = network_nodes
    _nodes_by_depth = nodes_by_depth
    _layers_by_depth = layers_by_depth

    @property
    def input(self) -> Any:
        """The network's own input tensor, or a list or dict of them."""
        return packed(self._input_structure, self.inputs)

    @property
    def output(self) -> Any:
        """The network's own output tensor, or a list or dict of them."""
        return packed(self._output_structure, self.outputs)

    @property
    def input_layers(self) -> list[Layer]:
        """The layer that each input comes from."""
        return [x._keras_history.layer for x in self.inputs]

    @property
    def input_layers_node_indices(self) -> list[int]:
        """For each input, the index of the call that made it among its layer's calls."""
        return [x._keras_history.node_index for x in self.inputs]

    @property
    def input_layers_tensor_indices(self) -> list[int]:
        """For each input, its index among the outputs of the call that made it."""
        return [x._keras_history.tensor_index for x in self.inputs]

    @property
    def output_layers(self) -> list[Layer]:
        """The layer that each output comes from."""
        return [x._keras_history.layer for x in self.outputs]

    @property
    def output_layers_node_indices(self) -> list[int]:
        """For each output, the index of the call that made it among its layer's calls."""
        return [x._keras_history.node_index for x in self.outputs]

    @property
    def output_layers_tensor_indices(self) -> list[int]:
        """For each output, its index among the outputs of the call that made it."""
        return [x._keras_history.tensor_index for x in self.outputs]

    @property
    def input_names(self) -> list[str]:
        """The name of each input, which is the key of its array in a dict of data.

        If the model was made from a dict of inputs, the names are its sorted keys. Otherwise they
        are the names of the layers.
        """
        return names_in(self._input_structure, [layer.name for layer in self.input_layers])

    def names_for(self, data: Any) -> list[str]:
        """Return the names by which `data` contains the inputs.

        If the keys of a dict `data` are the names of the input layers, these names are returned.
        Otherwise the names are `input_names`.
        """
        own = [layer.name for layer in self.input_layers]
        has_own = isinstance(data, dict) and data.keys() == set(own)
        return own if has_own and set(own) != set(self.input_names) else self.input_names

    @property
    def output_names(self) -> list[str]:
        """The name of each output, which is its key in a dict of targets or losses.

        If the model was made from a dict of outputs, the names are its sorted keys. Otherwise they
        are the names of the layers.
        """
        own = [layer.name for layer in self.output_layers]
        return distinct_names(names_in(self._output_structure, own))

    @property
    def internal_output_shapes(self) -> list[Shape]:
        """The shape of each output."""
        return [x.shape for x in self.outputs]

    def get_layer(self, name: str | None = None, index: int | None = None) -> Layer:
        """Return a layer by its name or its index in `layers`.

        Raises
        ------
        ArgumentError
            No layer has this name or index. The message suggests a similar name.
        """
        if index is not None:
            if not -len(self.layers) <= index < len(self.layers):
                raise ArgumentError(
                    f"{self.label}: get_layer: there is no layer {index}. Pass an index from "
                    f"{-len(self.layers)} to {len(self.layers) - 1}."
                )
            return self.layers[index]
        for layer in self.layers:
            if layer.name == name:
                return layer
        known = [layer.name for layer in self.layers]
        if name is None:
            raise ArgumentError(f"{self.label}: get_layer: expected a name or an index.")
        raise ArgumentError(
            f"{self.label}: No such layer: {name!r}. {did_you_mean(str(name), known)}Use one "
            f"of: {', '.join(known)}."
        )

    @property
    def node_ids(self) -> dict[str, Node]:
        """The nodes of the graph by their ids in pictures, tables and exports.

        `Node.name` is Keras's name of the same call: `shared_ib-1`.
        """
        return {call.id: call.node for call in calls_in(self)}

    def node(self, node_id: str) -> Node:
        """Return one call by its id in pictures, tables and exports.

        Parameters
        ----------
        node_id : str
            "dense_1" for a layer with a single call; "shared@0" and "shared@1" for the calls of a
            layer with several; "encoder@1/dense_1" for a call inside a nested model. (All calls of
            a nested model run the same nodes.)

        Raises
        ------
        ArgumentError
            No call has this id. The message suggests a similar id.

        Examples
        --------
        >>> from kerascope.engine.input_layer import Input
        >>> from kerascope.engine.model import Model
        >>> x, shared = Input(shape=(4,), name="x"), Layer(name="shared")
        >>> Model(x, shared(shared(x))).node("shared@1").node_index
        1
        """
        return find_call(self, node_id)

    # --- losses, updates and states ---------------------------------------------------------------

    @property
    def _collections(self) -> tuple[Any, ...]:
        if not self._is_graph_network:
            return super()._collections
        return (*super()._collections, self._output_tensor_cache, self._output_mask_cache)

    @property
    def losses(self) -> list[Tensor]:
        """The penalties of weights, of this graph's calls of layers, and of the network itself."""
        return self._collected("get_losses_for", self._losses)

    @property
    def updates(self) -> list[tuple[Variable, Any]]:
        """The update pairs of this graph's calls of layers, and of the network itself.

        If the network is frozen, they are only those of states kept between batches.
        """
        if not self.trainable:
            return self.state_updates
        return self._collected("get_updates_for", self._updates)

    @property
    def state_updates(self) -> list[tuple[Variable, Any]]:
        """The updates of states kept between batches, which tests and predictions run too."""
        return self._collected("get_state_updates_for", self._own_state_updates)

    def get_state_updates_for(self, inputs: Any) -> list[tuple[Variable, Any]]:
        """Return the updates of states kept between batches, if they depend on exactly `inputs`."""
        return self._items_for(inputs, "get_state_updates_for", self._own_state_updates)

    @property
    def _own_state_updates(self) -> ItemsByInputs:
        return self._updates if self._assigns else ItemsByInputs()

    def _collected(self, getter: str, own: ItemsByInputs) -> list[Any]:
        """Return the losses or updates of the graph's calls and of the network itself.

        `getter` is the name of the layers' method that returns them, and `own` contains those of
        the network. Items that depend on no input, such as penalties on weights, are included. Of a
        network without a graph, all items of the layers are returned.
        """
        if not self.outputs:
            whole = getter.removeprefix("get_").removesuffix("_for")
            return own.all() + [item for layer in self._sublayers for item in getattr(layer, whole)]
        found = self._of_own_calls(getter) + self._items_for(None, getter, own)
        found += own.of(self.inputs) if self._is_graph_network else own.all()
        # Two calls on the same tensor share an entry, whose items must not count twice.
        return list({id(item): item for item in found}.values())

    def _of_own_calls(self, getter: str) -> list[Any]:
        if not self._is_graph_network:
            return self._of_inner_layers(getter, self.inputs)
        found: list[Any] = []
        for nodes in self.nodes_by_depth.values():
            for node in nodes:
                if not node.is_input:
                    with only_of_call(node.input_tensors):
                        found += getattr(node.outbound_layer, getter)(node.input_tensors)
        return found

    def _items_for(self, inputs: Any, getter: str, own: ItemsByInputs) -> list[Any]:
        if self._is_graph_network and inputs is not None and to_list(inputs) == self.inputs:
            return own.of(inputs) + self._of_own_calls(getter)
        return own.of(inputs) + self._of_inner_layers(getter, inputs)

    @property
    def uses_learning_phase(self) -> bool:
        """Whether an output of the network differs between training and test."""
        return any(x._uses_learning_phase for x in self.outputs)

    @property
    def stateful(self) -> bool:
        """Whether a layer, also a nested one, keeps a state from batch to batch."""
        return self._is_stateful or any(layer.stateful for layer in self._sublayers)

    @stateful.setter
    def stateful(self, value: bool) -> None:
        self._is_stateful = bool(value)

    def reset_states(self) -> None:
        """Reset the states of all stateful layers, also in nested networks."""
        reset_together(self._resets_inside(), "reset_states")

    def _resets_inside(self) -> list[Any]:
        stateful = [layer for layer in self._sublayers if layer.stateful]
        return [layer for layer in stateful if hasattr(layer, "reset_states")]

    # --- weights, layer by layer ------------------------------------------------------------------

    def get_weights(self) -> list[np.ndarray]:
        """Return the values of all weights, layer by layer."""
        return batch_get_value(self._weights_by_layer())

    def set_weights(self, weights: list[Any]) -> None:
        """Set the values of all weights, layer by layer. If one does not fit, none is changed."""
        own = self._weights_by_layer()
        if len(weights) != len(own):
            raise ArgumentError(
                f"{self.label}: set_weights: expected {len(own)} arrays, got {len(weights)}.",
                subject=self,
            )
        batch_set_value(zip(own, weights, strict=True))

    def _weights_by_layer(self) -> list[Variable]:
        by_layer = [w for layer in self._sublayers for w in layer.weights]
        return list(dict.fromkeys([*by_layer, *self.weights]))

    # --- configuration and files ------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        """Return the layers' configurations and the connections of their calls, for JSON."""
        self._require_graph("get_config")
        return config_of_graph(self)

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Any:
        """Make a network of the same layers and connections, with newly initialized weights."""
        return network_from_config(cls, config, custom_objects)

    def to_json(self, **kwargs: Any) -> str:
        """Return the configuration as JSON, without weights; `models.model_from_json` reads it.

        The configuration has the form that an .h5 file contains. For scripts of Keras 3, and for
        models that only Keras 3 can represent, it has the form of Keras 3.

        `**kwargs` are passed to `json.dumps`, for example `indent=2`.
        """
        version, config = file_functions.lookup("written_config")(self)
        return json.dumps({**config, "keras_version": version}, **kwargs)

    def to_yaml(self, **kwargs: Any) -> str:
        """Return the configuration as YAML; `models.model_from_yaml` reads it.

        The text is JSON, which is also valid YAML, so no other package is needed. `**kwargs` are
        passed to `json.dumps`.
        """
        return self.to_json(**{"indent": 2, **kwargs})

    def save(self, filepath: Any, overwrite: bool = True, include_optimizer: bool = True) -> None:
        """Write the whole model to a .keras or .h5 file; see `kerascope.saving.save_model`."""
        file_functions.lookup("save_model")(self, filepath, overwrite, include_optimizer)

    def save_weights(self, filepath: Any, overwrite: bool = True) -> None:
        """Write the weights to a .weights.h5 or .h5 file; see `kerascope.saving.save_weights`."""
        file_functions.lookup("save_weights")(self, filepath, overwrite)

    def load_weights(
        self,
        filepath: Any,
        by_name: bool = False,
        skip_mismatch: bool = False,
        reshape: bool = False,
    ) -> None:
        """Read weights from a file of weights or a model; see `kerascope.saving.load_weights`."""
        load = file_functions.lookup("load_weights")
        load(self, filepath, by_name, skip_mismatch, reshape)

    # --- summary ----------------------------------------------------------------------------------

    def summary(
        self,
        line_length: int | None = None,
        positions: Any = None,
        print_fn: Callable[[str], Any] | None = None,
        expand_nested: bool = False,
        show_trainable: bool = False,
        layer_range: tuple[str, str] | None = None,
        *,
        calls: bool = False,
        fold: bool = False,
        flops: bool = False,
        memory: bool = False,
    ) -> None:
        """Print a table of the layers: output shapes, numbers of parameters, connections.

        Parameters
        ----------
        line_length : int, optional
            Width in characters. Default: that of the terminal, or 80 for `print_fn`.
        positions : list, optional
            Keras's column positions; accepted and ignored.
        print_fn : callable, optional
            Called with each line, instead of printing it.
        expand_nested : bool
            Whether to show rows for the layers inside nested models, wrappers, cells and custom
            layers.
        show_trainable : bool
            Whether to show which layers are trained: Y, N, or - for a layer without weights.
        layer_range : tuple of 2 str, optional
            Names of the first and last layer to show, or patterns for the beginnings of names. The
            totals are those of the whole model.
        calls : bool
            Whether to show a row for each call of a layer, with its shapes and its id: `shared@1`.
            Otherwise each layer has one row.
        fold : bool
            Whether to show repeated blocks of rows once, under a line with the number of blocks. By
            default each layer has a row, as in Keras.
        flops : bool
            Whether to show the multiply-adds for one sample: see `engine.costs`.
        memory : bool
            Whether to show the bytes of weights, and of outputs for one sample (1 KB is 1024).

        Notes
        -----
        "Optimizer params" are the numbers that the optimizer keeps for each weight. They exist
        from the first training on, and are not part of the total.
        """
        print_summary(
            self,
            line_length,
            positions,
            print_fn,
            expand_nested,
            show_trainable,
            layer_range,
            calls=calls,
            fold=fold,
            flops=flops,
            memory=memory,
        )


# --- the tensors that a network is made of --------------------------------------------------------


def _check_tensors(where: str, inputs: list[Any], outputs: list[Any]) -> None:
    for what, tensors in (("Input", inputs), ("Output", outputs)):
        for x in tensors:
            if not isinstance(x, Tensor):
                is_array = hasattr(x, "shape")  # too long to print
                raise DtypeError(
                    f"{where}: {what} tensors to a Model must be Keras tensors, got "
                    f"{type(x).__name__} {f'of shape {x.shape}' if is_array else repr(x)}."
                )
            if x._keras_history is None:
                made_by = f"op {x.owner.op.name}" if x.owner is not None else "no layer"
                raise ArgumentError(
                    f"{where}: {what} tensors to a Model must be the output of a Keras `Layer` (or "
                    f"Input); '{x.name}' was made by {made_by}. "
                    f"{rules.remedy_for_operation()}",
                    subject=x,
                )
    if len(set(inputs)) != len(inputs):
        raise ArgumentError(
            f"{where}: The list of inputs passed to the model is redundant: {inputs}."
        )
    for x in inputs:
        layer = x._keras_history.layer
        if not isinstance(layer, InputLayer):
            warn(
                f"{where}: Model inputs must come from a Keras Input layer, they cannot be the "
                f"output of a previous non-Input layer. '{x.name}' comes from {layer.label}."
            )


# --- one forward pass -----------------------------------------------------------------------------


class InputFed(NamedTuple):
    """Event: an input of the network was stored in `tensor_map`."""

    tensor: Tensor
    computed: Tensor


class NodeComputed(NamedTuple):
    """Event: a layer's `call` ran, without a new Node, and `tensor_map` contains the outputs.

    Attributes
    ----------
    node : Node
        The call of the layer.
    depth : int
        The node's depth in this network.
    computed_tensors : list of Tensor
        The inputs of the layer in this run.
    output_tensors : list of Tensor
        The outputs of the layer in this run.
    """

    node: Node
    depth: int
    computed_tensors: list[Tensor]
    output_tensors: list[Tensor]


TensorsMasksShapes = tuple[list[Tensor], list[Tensor | None], list[Shape]]


def run_graph(
    network: Network, inputs: list[Tensor], masks: list[Tensor | None] | None = None
) -> Generator[Any, Any, TensorsMasksShapes]:
    """Run a network's graph, yielding events. Return the output tensors, masks and shapes."""
    if len(inputs) != len(network.inputs):
        raise ArgumentError(
            f"{network.label}: expected {len(network.inputs)} inputs {network.input_names}, "
            f"got {len(inputs)}.",
            subject=network,
        )
    masks = masks or [None] * len(inputs)
    tensor_map: dict[Tensor, tuple[Tensor, Tensor | None]] = {}
    for x, y, mask in zip(network.inputs, inputs, masks, strict=True):
        tensor_map[x] = (y, mask)
        yield InputFed(x, y)

    for depth, nodes in network.nodes_by_depth.items():
        for node in nodes:
            if node.is_input:
                continue
            computed_data = [_computed(x, tensor_map, node) for x in node.input_tensors]
            computed_tensors = [y for y, _ in computed_data]
            computed_masks = [mask for _, mask in computed_data]
            layer = node.outbound_layer
            call = Call(computed_tensors, node.arguments)
            with around_repeat(layer, call):
                layer.assert_input_compatibility(call.own_tensors)
                output_tensors, output_masks, _ = run_body(layer, call, computed_masks, again=True)
            for x, y, mask in zip(node.output_tensors, output_tensors, output_masks, strict=True):
                tensor_map[x] = (y, mask)
            network.record_inner_call(layer, computed_tensors, inputs)
            yield NodeComputed(node, depth, computed_tensors, output_tensors)

    outputs = [_output(x, tensor_map) for x in network.outputs]
    return [y for y, _ in outputs], [mask for _, mask in outputs], [y.shape for y, _ in outputs]


def _computed(x: Tensor, tensor_map: dict[Tensor, Any], node: Node) -> tuple[Tensor, Tensor | None]:
    if x in tensor_map:
        return tensor_map[x]
    if x._keras_history is None:  # a constant or variable
        return x, None
    raise GraphError(f"node {node.name}: its input '{x.name}' has not been computed.", subject=node)


def _output(x: Tensor, tensor_map: dict[Tensor, Any]) -> tuple[Tensor, Tensor | None]:
    if x not in tensor_map:
        raise GraphError(f"Could not compute output {x}.", subject=x)
    return tensor_map[x]


def _misfit(expected: list[Tensor], inputs: list[Tensor]) -> tuple[Tensor, Tensor] | None:
    """Return the first input of another shape than the network's; None if all shapes agree.

    The result is a pair (the network's own input tensor, the given input). Batch sizes are not
    compared.
    """
    for x, y in zip(expected, inputs, strict=False):
        if x.ndim != y.ndim or merge_shapes(x.shape[1:], y.shape[1:]) is None:
            return x, y
    return None


def _of_other_shape(network: Network, x: Tensor, y: Tensor, inside: ShapeError) -> ShapeError:
    which = "an input" if len(network.inputs) == 1 else f"the input for '{x.name}'"
    return ShapeError(
        f"{network.label}: expected {which} of shape {(None, *x.shape[1:])}, got {y.shape}. "
        f"{inside}",
        subject=network,
    )
