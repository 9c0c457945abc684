"""Network: a graph of layers that is itself a layer.

Keras 1 calls it Container, tf.keras and Keras 3 Functional.

A *graph network* is made from tensors, `Network(inputs, outputs)`: it maps the graph between them
once and runs it by falling depth whenever it is called. A *subclassed network* writes its own
`call`. Being a Layer, a network can be called on new inputs and so be nested in another.

Lessons: chapters 8 to 11.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from kerascope.backend.eager import graph_mode, is_eager
from kerascope.backend.graph import Tensor, as_tensor
from kerascope.backend.shapes import Shape, merge_shapes
from kerascope.backend.state import learning_phase, placeholder
from kerascope.callers import warn
from kerascope.engine.base_layer import Layer
from kerascope.engine.failures import remembering_graph
from kerascope.engine.graph_map import GraphMap, map_graph
from kerascope.engine.input_layer import InputLayer
from kerascope.engine.nesting import to_list, unpack_singleton
from kerascope.engine.network_books import Runs
from kerascope.engine.network_config import config_of_graph, network_from_config
from kerascope.engine.network_files import NetworkFiles
from kerascope.engine.node import Node
from kerascope.engine.operations import enter_operations
from kerascope.engine.running import run_graph
from kerascope.engine.undoing import tried_out
from kerascope.errors import ArgumentError, DtypeError, NotBuiltError, ShapeError
from kerascope.registry import did_you_mean
from kerascope.spellings import habits, translate
from kerascope.stage import Stage


class Network(NetworkFiles):
    """A directed acyclic graph of layers.

    Parameters
    ----------
    inputs : Tensor, list of Tensor, or dict of str to Tensor
        Where the graph begins: what `Input` returned.
    outputs : Tensor, list of Tensor, or dict of str to Tensor
        Where it ends.
    name : str, optional

    Attributes
    ----------
    graph_map : GraphMap
        What the walk through the graph found.
    nodes_by_depth, layers_by_depth : dict of int to list
        Deepest first; the outputs lie at depth 0.
    layers : list of Layer
        By falling depth.
    input_layers, output_layers : list of Layer
        Whose tensors the inputs and outputs are.

    Raises
    ------
    ArgumentError
        An output was not made by a layer, an input is given twice, or two layers share a name.
    DisconnectedGraphError
        An output needs an Input that is not among the inputs.
    CycleError
        A node depends on itself.
    """

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
        names_of_inputs, inputs = _named(type(self).__name__, "Input", inputs)
        names_of_outputs, outputs = _named(type(self).__name__, "Output", outputs)
        enter_operations([x for x in outputs if isinstance(x, Tensor)])
        with remembering_graph(type(self).__name__, inputs, outputs):
            _check_tensors(type(self).__name__, inputs, outputs)
            graph_map = map_graph(inputs, outputs)
            _check_names(graph_map.layers)
        super().__init__(name=name, trainable=trainable)
        self._names_of_inputs, self._names_of_outputs = names_of_inputs, names_of_outputs
        self._begin_graph(inputs, outputs, graph_map)

    def _begin_graph(
        self, inputs: list[Tensor], outputs: list[Tensor], graph_map: GraphMap | None = None
    ) -> None:
        """Become the graph between these tensors; a map that is not given is made when needed."""
        self._is_graph_network = True
        self.inputs = inputs
        self.outputs = outputs
        self._graph_map = graph_map
        self.built = True
        self._output_tensor_cache = Runs()
        self._output_mask_cache = Runs()
        self._eager_masks: dict[Any, list[Tensor | None]] = {}
        masks = [x._keras_history.node.output_masks[x._keras_history.tensor_index] for x in outputs]
        self.inbound_nodes = [node for node in self.inbound_nodes if not node.begins]
        Node(self, inputs, outputs, [None] * len(inputs), masks, begins=True)

    def _init_subclassed_network(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)

    @property
    def input(self) -> Any:
        """The network's own input tensor, or list of them."""
        return unpack_singleton(self.inputs)

    @property
    def output(self) -> Any:
        """The network's own output tensor, or list of them."""
        return unpack_singleton(self.outputs)

    # --- running it -------------------------------------------------------------------------------

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Call the network as a layer; several inputs are a list, or a dict by `input_names`."""
        if isinstance(inputs, dict) and self._is_graph_network:
            names = self.names_for(inputs)
            if inputs.keys() != set(names):
                raise ArgumentError(
                    f"{self.label}: was called on a dict of {sorted(inputs)}; expected a tensor or "
                    f"an array for each of {names}.",
                    subject=self,
                )
            inputs = unpack_singleton([inputs[name] for name in names])
        return super().__call__(inputs, *args, **kwargs)

    def call(self, inputs: Any, mask: Any = None) -> Any:
        """Run the graph on new inputs.

        The same symbolic inputs are run once: the second call returns the very tensors of the
        first. (In eager mode, where inputs are numbers, nothing is kept.)
        """
        self._require_graph("call")
        inputs = [as_tensor(x) for x in to_list(inputs)]
        masks = to_list(mask) or [None] * len(inputs)
        cache_key = (*inputs, *masks, learning_phase())
        if is_eager():
            output_tensors, output_masks, _ = self.run_internal_graph(inputs, masks)
            self._eager_masks = {cache_key: output_masks}  # compute_mask asks for them next
            return unpack_singleton(output_tensors)
        if cache_key not in self._output_tensor_cache:
            output_tensors, output_masks, _ = self.run_internal_graph(inputs, masks)
            self._output_tensor_cache[cache_key] = output_tensors
            self._output_mask_cache[cache_key] = output_masks
        return unpack_singleton(self._output_tensor_cache[cache_key])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the masks of the outputs for these inputs."""
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
            An input is unlike the network's, and does not fit a layer inside.
        """
        misfit = _misfit(self.inputs, [as_tensor(x) for x in to_list(inputs)])
        try:
            return self.run_stage(inputs, masks).run()
        except ShapeError as error:
            if misfit is None:
                raise
            raise _of_other_shape(self, *misfit, error) from error

    def run_stage(self, inputs: Any, masks: Any = None) -> Stage:
        """Return `run_internal_graph` as a stage, whose events are those of `engine.running`."""
        self._require_graph("run_stage")
        inputs = [as_tensor(x) for x in to_list(inputs)]
        return Stage("run_internal_graph", run_graph(self, inputs, masks), self)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shapes of the outputs for inputs of these shapes."""
        self._require_graph("compute_output_shape")
        several = bool(input_shape) and isinstance(input_shape[0], (list, tuple))
        shapes = input_shape if several else [input_shape]
        with graph_mode(), tried_out(self):
            inputs: list[Tensor] = [
                placeholder(shape, dtype=x.dtype)
                for shape, x in zip(shapes, self.inputs, strict=True)
            ]
            return unpack_singleton(self.run_internal_graph(inputs)[2])

    def _declared_output_shape(self, input_shape: Any, arguments: dict[str, Any]) -> Any:
        return None  # running the graph has found the shapes already

    def _require_graph(self, what: str) -> None:
        if not self._is_graph_network:
            raise NotBuiltError(
                f"{self.label}: {what} needs a graph of layers, and a subclassed network has none. "
                "Save its weights, or write this method in the class.",
                subject=self,
            )

    # --- configuration ----------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        """Return the layers' configurations and how their calls are connected, ready for JSON."""
        self._require_graph("get_config")
        return config_of_graph(self)

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Any:
        """Make a network of the same layers and connections, with fresh weights."""
        return network_from_config(cls, config, custom_objects)


def _misfit(expected: list[Tensor], inputs: list[Tensor]) -> tuple[Tensor, Tensor] | None:
    """Return the first input of another shape than a network's own; the batch may differ."""
    for x, y in zip(expected, inputs, strict=False):
        if x.ndim != y.ndim or merge_shapes(x.shape[1:], y.shape[1:]) is None:
            return x, y
    return None


def _of_other_shape(network: Network, x: Tensor, y: Tensor, inside: ShapeError) -> ShapeError:
    which = "input" if len(network.inputs) == 1 else f"the input for '{x.name}'"
    return ShapeError(
        f"{network.label}: {which} has shape {y.shape}; expected {(None, *x.shape[1:])}. {inside}",
        subject=network,
    )


def _named(where: str, what: str, given: Any) -> tuple[list[str] | None, list[Any]]:
    """Return the keys of a dict of tensors, in their order, and the tensors as a list.

    Raises
    ------
    DtypeError
        They are nested, or a key is no word.
    """
    names = None
    if isinstance(given, dict):
        if not all(isinstance(name, str) for name in given):
            raise DtypeError(f"{where}: {what} tensors have the keys {list(given)}; expected str.")
        names = sorted(given)
    tensors = to_list(given) if names is None else [given[name] for name in names]
    nested = next((x for x in tensors if isinstance(x, (list, tuple, dict))), None)
    if nested is not None:
        raise DtypeError(
            f"{where}: {what} tensors to a Model must be Keras tensors, in one list or one dict; "
            f"got {type(nested).__name__} {nested!r} among them. Write them side by side: "
            f"[a, b, c], or {{'a': a, 'b': b, 'c': c}}."
        )
    return names, tensors


def _check_tensors(where: str, inputs: list[Any], outputs: list[Any]) -> None:
    for what, tensors in (("Input", inputs), ("Output", outputs)):
        for x in tensors:
            if not isinstance(x, Tensor):
                is_array = hasattr(x, "shape")  # its numbers would fill the page
                raise DtypeError(
                    f"{where}: {what} tensors to a Model must be Keras tensors; got "
                    f"{type(x).__name__} {f'of shape {x.shape}' if is_array else repr(x)}."
                )
            if x._keras_history is None:
                made_by = f"op {x.owner.op.name}" if x.owner is not None else "no layer"
                remedy = "" if habits().wraps_operations else ' Dialect "3" does so by itself.'
                raise ArgumentError(
                    f"{where}: {what} tensors to a Model must be the output of a Keras `Layer` (or "
                    "Input); "
                    f"'{x.name}' was made by {made_by}. Wrap the operation in Lambda.{remedy}",
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
                "output of a "
                f"previous non-Input layer. '{x.name}' comes from {layer.label}."
            )


def _check_names(layers: list[Layer]) -> None:
    counts = Counter(layer.name for layer in layers)
    for name, count in counts.items():
        if count > 1:
            raise ArgumentError(
                f'The name "{name}" is used {count} times in the model. All layer names should be '
                "unique."
            )
