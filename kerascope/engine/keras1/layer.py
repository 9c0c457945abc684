"""The part of `Layer` that only Keras 1 has: constraints, regularizers, inbound layers.

`Layer` inherits this part from the class `LayerOfKeras1`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kerascope import constraints
from kerascope.backend.variables import Variable
from kerascope.engine.arguments import to_list, unpack_singleton
from kerascope.spellings import ATTRIBUTES, VALUES
from kerascope.user_frames import warn


class WeightConstraints(dict[Variable, Any]):
    """The constraints of a layer's weights. `constraints[w] = c` sets the constraint of `w`.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> weight, table = K.variable([1.0]), WeightConstraints()
    >>> table[weight] = "nonneg"
    >>> weight.constraint
    NonNeg()
    """

    def __setitem__(self, weight: Variable, constraint: Any) -> None:
        weight.constraint = constraints.get(constraint)
        super().__setitem__(weight, weight.constraint)


def outputs_of(
    layers: list[Any], node_indices: Any = None, tensor_indices: Any = None
) -> list[Any]:
    """Return one output of each layer, chosen by the indices of a call and of its output.

    By default both indices are 0, which means the first output of the first call.
    """
    calls, places = node_indices or [0] * len(layers), tensor_indices or [0] * len(layers)
    chosen = zip(layers, to_list(calls), to_list(places), strict=True)
    return [layer.inbound_nodes[node].output_tensors[tensor] for layer, node, tensor in chosen]


class OldName:
    """A descriptor for an attribute's name in Keras 1: `layer.W` is `layer.kernel`.

    The descriptor has no `__set__`, so a layer of your own may still set `self.W`. Strings, such as
    the name of a padding, are translated to Keras 1's names too.
    """

    def __init__(self, new: str, values: Mapping[str, Any]) -> None:
        self.new = new
        self.words = {new: old for old, new in values.items()}

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        value = getattr(instance, self.new)  # in a recurrent layer, an attribute of its cell
        return self.words.get(value, value) if isinstance(value, str) else value


class LayerOfKeras1:
    """The methods and attributes of a `Layer` that only Keras 1 has."""

    label: Any
    trainable_weights: Any

    def add_inbound_node(
        self, inbound_layers: Any, node_indices: Any = None, tensor_indices: Any = None
    ) -> None:
        """Call the layer on outputs of other layers; by default the first output of each."""
        outputs = outputs_of(to_list(inbound_layers), node_indices, tensor_indices)
        self(unpack_singleton(outputs))  # type: ignore[operator]

    @property
    def constraints(self) -> WeightConstraints:
        """A dict from weights to their constraints. You may change the entries of the dict."""
        own = ((w, w.constraint) for w in self.trainable_weights)
        return WeightConstraints((w, constraint) for w, constraint in own if constraint is not None)

    @constraints.setter
    def constraints(self, value: Any) -> None:
        for w, constraint in dict(value).items():
            self.constraints[w] = constraint

    @property
    def regularizers(self) -> list[Any]:
        """An empty list, as in Keras 1.2. The penalties are in `losses`."""
        return []

    @regularizers.setter
    def regularizers(self, value: Any) -> None:
        if value:
            warn(
                f"{self.label}: `regularizers` does nothing, as in Keras 1.2. Pass them to "
                "add_weight(..., regularizer=...)."
            )

    def get_output_shape_for(self, input_shape: Any) -> Any:
        """Keras 1's name of `compute_output_shape`."""
        return self.compute_output_shape(input_shape)  # type: ignore[attr-defined]


for _old, _new in ATTRIBUTES.items():
    setattr(LayerOfKeras1, _old, OldName(_new, VALUES.get(_old, {})))
