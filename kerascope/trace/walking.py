"""`ks.walk(model, x)`: a forward pass step by step, with real arrays.

`walk` uses the stage that runs a model on symbolic tensors (`run_internal_graph`), but gives it
arrays. Each step calls a layer and adds its outputs to `tensor_map`. No mode stays active between
two steps, so you may build, train or walk other models.

Lesson: chapter 10.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerascope import display
from kerascope.backend.eager import eager_mode, value_of
from kerascope.backend.graph import Constant, Placeholder, Tensor
from kerascope.backend.state import learning_phase_scope
from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.engine.node import Node
from kerascope.engine.node_ids import call_ids, free_id
from kerascope.engine.training_data import as_arrays, check_lengths
from kerascope.errors import DtypeError
from kerascope.model_files import opened
from kerascope.printable import printable
from kerascope.stage import Stage, observing
from kerascope.trace.passes import LayerCall, PassCollector, call_of
from kerascope.trace.statistics import statistics_of
from kerascope.unsupported import got_instead


@dataclass(frozen=True, eq=False, repr=False)
class WalkStep:
    """A step of a forward pass, in which an input is fed or a layer is called.

    Attributes
    ----------
    node : Node
        The call of the layer.
    layer : Layer
        The layer that was called; an InputLayer when an input is fed.
    depth : int
        The depth of the node in its model. Outputs have depth 0.
    inputs, outputs : list of np.ndarray
        The arrays with which the layer was called, and its results.
    tensor_map : dict of str to np.ndarray
        All arrays computed so far by tensor name, including this step's outputs. If a layer is
        called several times, the name has the id of the call, as in pictures: `shared@1/add`.
    model : Network
        The model of the step; for steps in a nested model, the nested model.

    Examples
    --------
    >>> import kerascope as ks
    >>> scores = ks.layers.Dense(2, kernel_initializer="ones", input_shape=(3,), name="scores")
    >>> *_, step = ks.walk(ks.Sequential([scores]), np.ones((1, 3)))
    >>> step
    <depth 0  scores_ib-0  f32[1,2] |x|=4.243 min=3 mean=3 max=3  tensor_map: 2>
    >>> step.layer.name, step.inputs[0].tolist(), step.outputs[0].tolist()
    ('scores', [[1.0, 1.0, 1.0]], [[3.0, 3.0]])
    """

    node: Node
    layer: Layer
    depth: int
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]
    tensor_map: dict[str, np.ndarray]
    model: Network

    def __repr__(self) -> str:
        arrays = "; ".join(str(statistics_of(array)) for array in self.outputs)
        name, number = printable(self.node.name), len(self.tensor_map)
        return f"<depth {self.depth}  {name}  {arrays}  tensor_map: {number}>"


def walk(model: Any, x: Any, *, nested: bool = False) -> Iterator[WalkStep]:
    """Walk through a model's forward pass step by step, in order of decreasing depth.

    Parameters
    ----------
    model : Model or path
        A built model, a model that can be built with the shape of `x`, or the path of a model file.
    x : array_like, list of array_like, or dict by input name
        The inputs, as for `model.predict`; all samples run together. For a model of another
        library: its argument, a tuple of several arguments, or a dict of arguments by name.
    nested : bool
        Whether to include the steps inside nested models, before the step of the nested model's
        call.

    Returns
    -------
    iterator of WalkStep
        Lazy: a layer is called when its step is requested. A model of another library runs
        completely before the first step, and each step is a `foreign.CallStep`.

    Raises
    ------
    DtypeError
        `model` is not a model.
    DataError
        The arrays do not fit the model, as in `predict`.

    Notes
    -----
    The learning phase is 0 (test), so Dropout changes nothing.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.engine.model import Model
    >>> inputs = Input(shape=(3,), name="inputs")
    >>> model = Model(inputs, Dense(2, kernel_initializer="ones", name="scores")(inputs))
    >>> for step in walk(model, np.ones((1, 3))):
    ...     print(step.depth, step.layer.name, step.outputs[0].tolist(), list(step.tensor_map))
    1 inputs [[1.0, 1.0, 1.0]] ['inputs']
    0 scores [[3.0, 3.0]] ['inputs', 'scores/add']
    """
    model = opened(model)
    if not isinstance(model, Network):
        foreign: Iterator[WalkStep] | None = display.show("walk", model, _nothing, inputs=x)
        if foreign is not None:
            return foreign
    network, stage = forward_stage(model, x, "walk")
    return _steps(stage, network, nested)


def forward_stage(model: Any, x: Any, where: str) -> tuple[Network, Stage]:
    """Return a model's graph of layers as a Network, and the stage of its forward pass on `x`.

    Raises
    ------
    DtypeError
        `model` is not a model.
    DataError
        The arrays do not fit the model, as in `predict`.
    """
    if not isinstance(model, Network):
        call = f"ks.{where}(model, x)"
        raise DtypeError(f"{where}: expected a model, {got_instead(model, call)}")
    make_ready = getattr(model, "_make_ready", None)
    if make_ready is not None:
        make_ready(x, to_train=False)
    network = model
    if not model._is_graph_network and getattr(model, "outputs", None):
        network = Network(model.inputs, model.outputs, name=model.name)
    fed = [t for t in network.inputs if isinstance(t, Placeholder)]
    by_tensor = dict(zip(network.inputs, model.names_for(x), strict=True))
    names = [by_tensor[t] for t in fed]
    arrays = as_arrays(x, names, [t.shape for t in fed], "x")
    check_lengths(arrays, [], [], where)
    numbers: dict[Tensor, Constant] = {
        t: Constant(a, t.dtype, t.name) for t, a in zip(fed, arrays, strict=True)
    }
    return network, network.run_stage([numbers.get(t, t) for t in network.inputs])


def _nothing(model: Any, **options: Any) -> None:
    return None


def _steps(stage: Stage, network: Network, nested: bool) -> Iterator[WalkStep]:
    """Yield the steps of a stage. Eager mode is active only while a step is being computed."""
    events, steps = iter(stage), _Steps(network)
    while True:
        inner = PassCollector()
        observers = (inner,) if nested else ()
        with eager_mode(), learning_phase_scope(0), observing(*observers):
            event = next(events, None)
            call = call_of(event, inner.done)
            made = [] if call is None else [*steps.of(call)]
        yield from made
        if event is None:
            return


class _Steps:
    """Turns the layer calls of one model's run into steps, and collects its `tensor_map`."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.tensor_map: dict[str, np.ndarray] = {}
        self._ids = call_ids(network)

    def of(self, call: LayerCall) -> Iterator[WalkStep]:
        """Yield the steps of the calls inside a nested model, then the step of the call itself."""
        for inner in call.passes:
            steps = _Steps(inner.network)
            for one in inner.calls:
                yield from steps.of(one)
        node, depth = call.node, call.depth
        if depth is None:
            depth = self.network.graph_map.nodes_depths.get(node, 0)
        arrays = [_array(y) for y in call.outputs]
        for tensor, array in zip(call.tensors, arrays, strict=True):
            self.tensor_map[self._free_name(tensor, node)] = array
        inputs = [_array(x) for x in call.inputs]
        copied = dict(self.tensor_map)
        yield WalkStep(node, node.outbound_layer, depth, inputs, arrays, copied, self.network)

    def _free_name(self, tensor: Tensor, node: Node) -> str:
        """Return an unused key for `tensor_map`: the tensor's name, with the id of its call."""
        layer_name, call_id = node.outbound_layer.name, self._ids[node]
        name = tensor.name
        if call_id != layer_name:
            name = f"/{name}/".replace(f"/{layer_name}/", f"/{call_id}/", 1)[1:-1]
        return free_id(name, self.tensor_map)


def _array(tensor: Tensor) -> np.ndarray:
    """Return the value of a tensor as a read-only array."""
    array = np.array(value_of(tensor))
    array.flags.writeable = False
    return array
