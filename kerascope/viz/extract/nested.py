"""The graph that one call of a nested model runs, with the shapes of that call.

A graph network runs the same graph whenever it is called. Its own graph knows the shapes for its
own inputs; a call on inputs of other shapes has others. A network that writes its own `call` has a
graph of its own after it has seen data; before, its `call` is run once to find one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kerascope.backend.eager import graph_mode
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.backend.state import placeholder
from kerascope.engine.calling import tried_out
from kerascope.engine.network import InputFed, Network, NodeComputed
from kerascope.errors import GraphError, KerascopeError
from kerascope.viz.extract.layer_facts import CallFacts
from kerascope.viz.extract.subclassed import graph_model_on, nothing_changes


@dataclass(frozen=True)
class NestedRun:
    """A network with a graph, and the shapes that its tensors have in one run of it.

    Parameters
    ----------
    network : Network
    shapes : mapping of Tensor to Shape
        Where they differ from what the tensor itself says.
    """

    network: Network
    shapes: Mapping[Tensor, Shape] = field(default_factory=dict)

    def shape_of(self, tensor: Tensor) -> Shape:
        """Return the shape of a tensor of the graph in this run."""
        return self.shapes.get(tensor, tensor.shape)


def nested_run(network: Network, facts: CallFacts) -> NestedRun | None:
    """Return what a call of a network inside another model runs.

    Returns
    -------
    NestedRun or None
        None if that is not known, or if the call has further tensors beside the network's inputs.
    """
    shapes = [shape for shape in facts.inputs if shape is not None]
    all_known = len(shapes) == len(facts.inputs)
    if not network._is_graph_network and all_known and shapes != _own_shapes(network):
        try:
            found = graph_model_on(network, shapes)
        except GraphError:  # its call needs more than its inputs
            return None
        return _fitting(NestedRun(found), facts) if found is not None else None
    if not network.outputs:
        return None
    run = NestedRun(network)
    if _fitting(run, facts) and all_known and shapes != _own_shapes(network):
        run = NestedRun(network, _shapes_for(network, shapes))
    return _fitting(run, facts)


def _own_shapes(network: Network) -> list[Shape]:
    return [tuple(x.shape) for x in network.inputs]


def _fitting(run: NestedRun, facts: CallFacts) -> NestedRun | None:
    """Return the run if its ends are those of the call."""
    network = run.network
    fits = (len(network.inputs), len(network.outputs)) == (len(facts.inputs), len(facts.outputs))
    return run if fits else None


def _shapes_for(network: Network, shapes: list[Shape]) -> dict[Tensor, Shape]:
    """Run a graph on placeholders of these shapes, and return the shape of each of its tensors."""
    found: dict[Tensor, Shape] = {}
    try:
        with nothing_changes(network), graph_mode(), tried_out(network):
            inputs = [
                placeholder(shape, dtype=x.dtype)
                for shape, x in zip(shapes, network.inputs, strict=True)
            ]
            for event in network.run_stage(inputs):
                if isinstance(event, InputFed):
                    found[event.tensor] = event.computed.shape
                elif isinstance(event, NodeComputed):
                    computed = zip(event.node.output_tensors, event.output_tensors, strict=True)
                    found.update({x: y.shape for x, y in computed})
    except KerascopeError:  # a shape that no longer fits: the graph's own shapes stand
        return {}
    return found
