"""Operation: a layer for an op on outputs of layers, such as `x + y` or `ops.mean(x)`.

In Keras 3, an operation on the outputs of layers needs no Lambda: it becomes a part of the model.
Here it becomes an `Operation`, a layer with the name and arguments of the operation in Keras 3. So
a `.keras` file contains the operation as Keras 3 writes it, and both libraries can read it.

`layer_of_apply` makes this layer for an `Apply`. `engine/operations.py` calls this function.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from kerascope.backend.eager import value_of
from kerascope.backend.graph import (
    Apply,
    Constant,
    Tensor,
    applies_in_order,
    as_tensor,
    graph_mode,
    is_eager,
)
from kerascope.backend.ops.elementwise import Add
from kerascope.backend.ops.random import RandomOp
from kerascope.backend.shapes import Shapes
from kerascope.backend.state import get_uid, learning_phase
from kerascope.backend.variables import Variable
from kerascope.engine import rules
from kerascope.engine.arguments import to_list
from kerascope.engine.base_layer import Layer, snake_case
from kerascope.engine.operations import makers_of_layers
from kerascope.errors import ConfigError, NotHereError
from kerascope.layers.arguments import Masks, Tensors
from kerascope.layers.ops.forms import OWN, form_of, own_op
from kerascope.layers.ops.keras_ops import OPERATIONS, every_operation
from kerascope.nested_values import found_in
from kerascope.registry import did_you_mean

__all__ = ["Operation"]

_DRAWS = {"draws": True}  # placeholder for the variable that counts the draws of a random op


class Operation(Layer):
    """A layer that computes an operation of Keras 3, given by the name of the operation's class.

    Parameters
    ----------
    operation : str
        A name in the table `OPERATIONS`, such as "Add" or "Mean". For an op that Keras 3 does not
        have, "kerascope>" followed by the name of the op's class.
    pattern : list
        The positional arguments: numbers, lists and dicts. `{"tensor": i}` is input number i,
        `{"variable": i}` is variable number i, `{"phase": True}` is the learning phase, and
        `{"draws": True}` is the count of draws of a random op.
    options : dict, optional
        The keyword arguments.
    variables : list of dict, optional
        "name", "shape" and "dtype" of each variable that the operation uses and that is not a
        weight of a layer. As in Keras 3, these variables are saved with the model but not trained.
    **kwargs
        As for `Layer`.

    Raises
    ------
    NotHereError
        `OPERATIONS` does not contain the operation.

    Examples
    --------
    >>> import numpy as np
    >>> Operation("Subtract", [1.0, {"tensor": 0}])(np.array([[3.0]])).tolist()
    [[-2.0]]
    """

    variables: list[Any] = []  # noqa: RUF012 (an argument, not the weights)

    def __init__(
        self,
        operation: str,
        pattern: Any,
        options: dict[str, Any] | None = None,
        variables: list[dict[str, Any]] | None = None,
        **kwargs: Any,
    ) -> None:
        kwargs["name"] = kwargs.get("name") or _name_for(operation)
        super().__init__(**kwargs)
        if not operation.startswith(OWN) and operation not in OPERATIONS:
            known = every_operation()
            if operation not in known:
                raise NotHereError(
                    f"{self.label}: there is no operation {operation!r} here. "
                    f"{did_you_mean(operation, known)}Use one of: {', '.join(known)}."
                )
        self.operation = operation
        self.pattern = pattern
        self.options = dict(options or {})
        self.variables = list(variables or [])
        self._held: list[Variable] = []
        self._draws: Variable | None = None
        self._calls = 0

    def build(self, input_shape: Shapes) -> None:
        """Create the variables that `variables` describes, unless the layer has them already."""
        for facts in self.variables[len(self._held) :]:
            facts = {**facts, "initializer": "zeros", "trainable": False}
            self._held.append(self.add_weight(**facts))

    def call(self, inputs: Tensors) -> Any:
        """Return the result of the operation for these inputs."""
        tensors = to_list(inputs)
        arguments = [self._filled(item, tensors) for item in self.pattern]
        if self.operation.startswith(OWN):
            return own_op(self.operation, self._options_of_call())(*arguments)
        _, function = OPERATIONS[self.operation]
        return function(*arguments, **_meant(function, self.options))

    def _filled(self, item: Any, tensors: list[Any]) -> Any:
        """Return an argument in which each dict such as {"tensor": 0} is replaced by its tensor."""
        if isinstance(item, list):
            return [self._filled(one, tensors) for one in item]
        if not isinstance(item, dict):
            return item
        if "tensor" in item:
            return tensors[item["tensor"]]
        if "variable" in item:
            return self._held[item["variable"]]
        if "phase" in item:
            return learning_phase()
        if "draws" in item:
            return self._count_of_draws()
        if item.get("class_name") in ("__numpy__", "__tensor__"):
            array = np.asarray(item["config"]["value"], item["config"]["dtype"])
            return as_tensor(array, like=tensors[0])
        return item

    def _options_of_call(self) -> dict[str, Any]:
        """Return the options for one call; each call of a random op uses a different seed."""
        if _DRAWS not in self.pattern or is_eager():
            return self.options
        seed = (self.options["seed"] + self._calls) % 2**64
        self._calls += 1
        return {**self.options, "seed": seed}

    def _count_of_draws(self) -> Variable:
        """Return the variable that counts the draws of a random op; create it at the first call."""
        if self._draws is None:
            self._draws = Variable(0, "int64", f"{self.name}/draws")
            with graph_mode():
                self._draws.default_update = Add()(self._draws, Constant(1, "int64"))
        return self._draws

    def compute_mask(self, inputs: Tensors, mask: Masks = None) -> None:
        """Return None, because masks do not pass through an operation, as in Keras 3."""
        return

    def get_config(self) -> dict[str, Any]:
        """Return the operation and its arguments.

        Raises
        ------
        ConfigError
            The operation uses a weight of another layer, or a value that JSON cannot represent.
        """
        for tensor in found_in(self.pattern, Tensor):
            raise ConfigError(
                f"{self.label}: a configuration cannot contain '{tensor.name}', a weight of "
                f"another layer or computed from variables. Write your own layer that makes the "
                f"variable with add_weight, or save only the weights.",
                subject=self,
            )
        config = super().get_config()
        if "options" not in config:
            raise ConfigError(
                f"{self.label}: the parameters of {self.operation} cannot be written in a "
                f"configuration. Write your own layer that calls it.",
                subject=self,
            )
        return config


def _meant(function: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return the options without each option that is None and is None by default in `function`."""
    if None not in options.values():
        return options
    known = inspect.signature(function).parameters
    return {
        name: value
        for name, value in options.items()
        if value is not None or (name in known and known[name].default is not None)
    }


def _name_for(operation: str) -> str:
    """Return a unique name for a layer with this operation, such as `add` or `add_1`."""
    prefix = snake_case(operation.removeprefix(OWN))
    return rules.numbered(prefix, get_uid(prefix))


# --- from a graph of ops --------------------------------------------------------------------------


@makers_of_layers.register
def layer_of_apply(apply: Apply) -> Operation:
    """Return a layer that computes the same result as an `Apply`.

    The layer's inputs are those inputs of the `Apply` that are outputs of layers.
    """
    held: dict[Variable, None] = {}
    items: list[Any] = []
    number_of_inputs = 0
    for position, x in enumerate(apply.inputs):
        if x._keras_history is not None:
            items.append({"tensor": number_of_inputs})
            number_of_inputs += 1
        elif isinstance(apply.op, RandomOp) and position == 1:
            items.append(_DRAWS)
        else:
            items.append(_item_inside(x, apply, held))
    operation, pattern, options = form_of(apply, items)
    facts = [{"name": v.name, "shape": list(v.shape), "dtype": v.dtype} for v in held]
    layer = Operation(operation, pattern, options, facts)
    if isinstance(apply.op, RandomOp) and isinstance(apply.inputs[1], Variable):
        layer._draws = apply.inputs[1]
        layer._calls = 1
    layer._held = list(held)
    layer._non_trainable_weights = list(held)
    layer.built = True
    return layer


def _item_inside(x: Tensor, apply: Apply, held: dict[Variable, None]) -> Any:
    """Return an Operation's argument for an input of an `Apply`, if no layer made this input."""
    if x is learning_phase():
        return {"phase": True}
    leaves = _leaves(x)
    if all(isinstance(leaf, Constant) for leaf in leaves) and not _is_random(x):
        return _plain(np.asarray(value_of(x)))
    variables = [leaf for leaf in leaves if isinstance(leaf, Variable)]
    weights_before = _weights_before(apply)
    held.update((v, None) for v in variables if v not in weights_before)
    if isinstance(x, Variable) and x in held:
        return {"variable": list(held).index(x)}
    return x


def _plain(array: np.ndarray) -> Any:
    """Return an array without axes as a number, any other array as a dict, as Keras 3 does."""
    if array.ndim == 0:
        return array.item()
    config = {"value": array.tolist(), "dtype": array.dtype.name}
    return {"class_name": "__numpy__", "config": config}


def _leaves(x: Tensor) -> list[Tensor]:
    """Return the constants, variables and placeholders that a tensor was computed from."""
    inputs = [y for apply in applies_in_order([x]) for y in apply.inputs if y.owner is None]
    return list(dict.fromkeys([x] if x.owner is None else inputs))


def _is_random(x: Tensor) -> bool:
    return any(isinstance(apply.op, RandomOp) for apply in applies_in_order([x]))


def _weights_before(apply: Apply) -> set[Variable]:
    """Return the weights of all layers on which the inputs of an `Apply` depend."""
    found: dict[Layer, None] = {}
    waiting = [x._keras_history.layer for x in apply.inputs if x._keras_history is not None]
    while waiting:
        layer = waiting.pop()
        if layer in found:
            continue
        found[layer] = None
        nodes = [node for node in layer.inbound_nodes if not node.begins]
        waiting.extend(inner for node in nodes for inner in node.inbound_layers if inner)
    others = [layer for layer in found if not isinstance(layer, Operation)]
    return {weight for layer in others for weight in layer.weights}
