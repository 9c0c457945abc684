"""What a box says about its layer and its call, as plain attributes.

Every box of the node view has these attributes, and every box of the layer view all but `call`,
`input_count` and `output_count`, which belong to one call. networkx, GraphML and JSON carry them
under the same names:

==================  ===============================================================================
`layer`             name of the layer
`class_name`        its class
`activation`        name of its activation; "" without one, or where it is linear
`call`, `calls`     this box is call number `call` (from 0) of `calls` of the layer in its model
`input_shapes`      shapes of the input tensors, as text; several are joined by "; "
`output_shapes`     shapes of the output tensors, likewise
`input_count`       number of input tensors
`output_count`      number of output tensors
`dtype`             type of the first output
`parameters`        numbers in weights that no box before has: the sum over all is the model's
`shared_with`       id of the first box that has the same weights, "" if this is it
`trainable`         whether training changes the layer
`outputs`           outputs of the model that leave here: "output", "output 1"; "" for none
==================  ===============================================================================
"""

from __future__ import annotations

from collections.abc import Iterable

from kerascope.backend.graph import Tensor, Variable
from kerascope.backend.shapes import Shape
from kerascope.backend.state import count_params
from kerascope.engine.base_layer import Layer
from kerascope.engine.node import Node
from kerascope.engine.node_ids import clean
from kerascope.viz.graph import Attribute


class WeightBook:
    """Which weights have been counted, and which box had a layer first."""

    def __init__(self) -> None:
        self._counted: set[Variable] = set()
        self._weights: dict[Layer, list[Variable]] = {}
        self._first_boxes: dict[Layer, str] = {}

    def enter(self, layer: Layer, box_id: str) -> dict[str, Attribute]:
        """Return `parameters` and `shared_with` of a box, and remember its weights."""
        if layer in self._first_boxes:
            shared_with = self._first_boxes[layer] if self._weights[layer] else ""
            return {"parameters": 0, "shared_with": shared_with}
        self._first_boxes[layer] = box_id
        self._weights[layer] = list(dict.fromkeys(layer.weights))
        new = [w for w in self._weights[layer] if w not in self._counted]
        self._counted.update(new)
        return {"parameters": sum(int(count_params(w)) for w in new), "shared_with": ""}


def layer_attributes(layer: Layer) -> dict[str, Attribute]:
    """Return what holds for every call of a layer."""
    return {
        "layer": clean(layer.name),
        "class_name": type(layer).__name__,
        "activation": _activation(layer),
        "trainable": bool(layer.trainable),
    }


def call_attributes(node: Node, call: int, calls: int) -> dict[str, Attribute]:
    """Return what holds for one call; an InputLayer's has no inputs."""
    inputs = [] if node.is_input else node.input_tensors
    return {
        "call": call,
        "calls": calls,
        "input_count": len(inputs),
        "output_count": len(node.output_tensors),
        "input_shapes": shapes_text(x.shape for x in inputs),
        "output_shapes": shapes_text(node.output_shapes),
        "dtype": str(node.output_tensors[0].dtype),
        "outputs": "",
    }


def tensor_attributes(tensor: Tensor) -> dict[str, Attribute]:
    """Return the attributes of a box for a tensor that no layer made."""
    return {
        "layer": "",
        "class_name": type(tensor).__name__,
        "activation": "",
        "trainable": False,
        "call": 0,
        "calls": 1,
        "input_count": 0,
        "output_count": 1,
        "input_shapes": "",
        "output_shapes": shapes_text([tensor.shape]),
        "dtype": str(tensor.dtype),
        "outputs": "",
        "parameters": 0,
        "shared_with": "",
    }


def shapes_text(shapes: Iterable[Shape]) -> str:
    """Return shapes as text.

    Examples
    --------
    >>> shapes_text([(None, 4), (None, 2, 3)])
    '(None, 4); (None, 2, 3)'
    """
    return "; ".join(str(tuple(shape)) for shape in shapes)


def _activation(layer: Layer) -> str:
    activation = getattr(layer, "activation", None)
    name = getattr(activation, "__name__", None) or (
        type(activation).__name__ if activation else ""
    )
    return "" if name == "linear" else clean(name)
