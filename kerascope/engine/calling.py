"""What happens when a layer is called: it is built once, its `call` runs, a Node records it.

`call_layer` chooses one of three ways:

- *symbolic*, if an input has a history, that is, it comes from `Input()` or from another layer.
  `call` runs once, on symbols; a Node records the call, and the outputs receive their history. This
  is how models are built. While the `call` of a subclassed model makes its graph, all calls of its
  layers are symbolic, even on constants.
- *eager*, if all inputs are arrays, no graph is being made and no layer's `call` is running. `call`
  runs on numbers at each call of the layer, and arrays are returned.
- *inside*, otherwise: in a loss, in a function that is being compiled, or in the `call` of another
  layer, on a value computed there. `call` runs on these values, and no Node is made.

Each way checks the inputs and builds the layer if it is not built yet. Then `run_body` runs its
`call` and computes the masks. A call that fails changes nothing (`around_call`). `policies/`
contains the other actions around a call, and `rules` the differences between versions of Keras.

In Keras all of this is `Layer.__call__`. Lessons: chapters 6 and 17.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kerascope.backend.eager import eager_mode, value_of
from kerascope.backend.graph import Constant, Tensor, as_tensor, graph_mode, is_eager
from kerascope.backend.ops.elementwise import identity
from kerascope.backend.shapes import Shape, merge_shapes
from kerascope.backend.variables import Variable
from kerascope.engine import rules
from kerascope.engine.arguments import (
    Packing,
    listed,
    listed_shapes,
    masks_by_name,
    shapes_by_name,
    to_list,
    unpack_singleton,
)
from kerascope.engine.binding import Call, bind, make_call
from kerascope.engine.node import Node, NodeCreated, mask_of
from kerascope.engine.policies import around_body, around_call
from kerascope.engine.policies.eager_losses import losses_of_a_call
from kerascope.engine.policies.enclosing import is_inside_call, outside_calls
from kerascope.engine.policies.model_graph import (
    is_in_model,
    is_making_graph,
    record_call_in_model,
)
from kerascope.errors import DtypeError, ShapeError
from kerascope.nested_values import replaced
from kerascope.stage import Stage
from kerascope.user_frames import boundary

if TYPE_CHECKING:
    from kerascope.engine.base_layer import Layer


class LayerBuilt(NamedTuple):
    """Event: a layer has made its weights."""

    layer: Layer
    input_shape: Any
    weights: list[Variable]


@boundary
def call_layer(layer: Layer, inputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a layer: on symbolic tensors, on arrays (eager), or inside another computation.

    Another computation is a loss, a function that is being compiled, or the `call` of another
    layer.

    Notes
    -----
    For `layer(x, states, training=True)` with tensors `x` and `states`, a `Call` contains:

    - `tensors`: all input tensors, `[x, states]`, and `own_tensors`: those of the first argument,
      `[x]`;
    - `inputs`: the first argument of the layer's `call`: `x`, alone or in a list or dict;
    - `places`: the further arguments, with an `InputPlace` for `states`, and `arguments`: the same
      with the tensors themselves.
    """
    tensors, arguments = bind(layer, inputs, args, kwargs)
    rules.wrap_operations(tensors, arguments)
    # A Node stores tensors of the model as its inputs; other tensors remain arguments.
    call = make_call(tensors, arguments, is_in_model)
    if any(is_in_model(x) for x in call.tensors):
        around = around_call(layer, call)  # if the call fails, this restores the layer
        return Stage("layer_call", _call_symbolically(layer, call), layer, around=around).run()
    # There will be no Node: all tensors among the arguments count as inputs.
    call = make_call(tensors, arguments, lambda tensor: True)
    is_numbers = all(isinstance(x, Constant) for x in call.tensors) and not is_making_graph()
    if is_numbers and not is_eager() and not is_inside_call():
        return Stage("eager_call", _call_eagerly(layer, call), layer).run()
    return _call_inside(layer, call)


def _call_symbolically(layer: Layer, call: Call) -> Generator[Any, Any, Any]:
    """Check the inputs, build the layer, run its `call` on symbols, and record this in a Node."""
    inputs = call.tensors
    masks = [mask_of(x) for x in inputs]
    layer.assert_input_compatibility(call.own_tensors)
    if not layer.built:
        _build(layer, call)
        yield LayerBuilt(layer, unpack_singleton(_shapes(inputs)), layer.weights)
    outputs, output_masks, packed = run_body(layer, call, masks)
    node = Node(layer, inputs, outputs, masks, output_masks, call.places)
    record_call_in_model(layer, inputs)
    yield NodeCreated(layer, node)
    return packed(outputs)


def _call_eagerly(layer: Layer, call: Call) -> Generator[Any, Any, Any]:
    """Run a layer's `call` on numbers and return arrays. The layer's updates run at once."""
    was_built, inputs = layer.built, call.tensors
    with eager_mode(), losses_of_a_call(layer):
        outputs = _call_inside(layer, call)
    if not was_built:
        yield LayerBuilt(layer, unpack_singleton(_shapes(inputs)), layer.weights)
    return replaced(outputs, Tensor, lambda y: np.array(value_of(y)))


def _call_inside(layer: Layer, call: Call) -> Any:
    """Check the inputs, build the layer and run its `call`, without making a Node."""
    masks = [mask_of(x) for x in call.tensors]
    with around_call(layer, call):
        layer.assert_input_compatibility(call.own_tensors)
        if not layer.built:
            _build(layer, call)
        outputs, output_masks, packed = run_body(layer, call, masks)
    for output, mask in zip(outputs, output_masks, strict=False):
        output._keras_mask = mask
    return packed(outputs)


def _build(layer: Layer, call: Call) -> None:
    """Make the layer's weights; then check the inputs again, since `build` may set `input_spec`."""
    further_shapes = shapes_by_name(layer.build, call.arguments)
    with graph_mode(), layer._scope(), outside_calls():
        layer.build(call.input_shape, **further_shapes)
    layer.built = True
    if layer._initial_weights is not None:
        layer.set_weights(layer._initial_weights)
        layer._initial_weights = None
    layer.assert_input_compatibility(call.own_tensors)


def _shapes(tensors: list[Tensor]) -> list[Shape]:
    return [x.shape for x in tensors]


def run_body(
    layer: Layer, call: Call, masks: list[Tensor | None], *, again: bool = False
) -> tuple[list[Tensor], list[Tensor | None], Packing]:
    """Run a layer's `call`, check the outputs' shapes, add penalties, and compute the masks.

    Parameters
    ----------
    layer : Layer
    call : Call
        The inputs and arguments of this call.
    masks : list of (Tensor or None)
        One for each of the call's tensors.
    again : bool
        Whether this repeats an earlier call on other tensors, so that no shapes are checked.

    Returns
    -------
    outputs : list of Tensor
    output_masks : list of (Tensor or None)
    packed : callable
        Packs the outputs as `call` returned them: alone, in a list or in a dict.
    """
    own_masks = masks[: len(call.own_tensors)]
    masks_of_call = masks_by_name(layer.call, call.places, masks) if layer._receives_masks else {}
    # In the `with` block `phase`, the learning phase is the argument `training`.
    kwargs, phase = rules.phase_of(layer, {**masks_of_call, **call.arguments})
    with layer._scope(), phase, around_body(layer, call):
        returned = rules.call_of(layer, kwargs)(call.inputs, **kwargs)
        outputs, packed = _as_outputs(layer, returned)
        outputs = [identity(y) if isinstance(y, Variable) else y for y in outputs]
        if not again:
            outputs = [_own(y, call.tensors, layer) for y in outputs]
            _refine_shapes(layer, call, outputs)
        rules.penalize_activity(layer, call.tensors, outputs)
        mask = kwargs.get("mask", unpack_singleton(own_masks) if own_masks else None)
        output_masks = to_list(layer.compute_mask(call.inputs, mask))[: len(outputs)]
        output_masks += [None] * (len(outputs) - len(output_masks))
    return outputs, output_masks, packed


def _as_outputs(layer: Layer, returned: Any) -> tuple[list[Tensor], Packing]:
    """Return the results of `call` as a list of tensors, and the function that packs them again.

    Raises
    ------
    DtypeError
        A result is not a tensor; most often the `return` is missing. (It is a TypeError too.)
    """
    try:
        found, packed = listed(returned)
        outputs = [as_tensor(y) for y in found]
    except DtypeError:
        outputs = []
    if outputs:
        return outputs, packed
    raise DtypeError(
        f"{layer.label}: call: expected a tensor, or a list or dict of them, as result, got "
        f"{returned!r}. End it with `return outputs`.",
        subject=layer,
    )


def _own(output: Tensor, inputs: list[Tensor], layer: Layer) -> Tensor:
    """Return an output, or its copy if it is an input, a constant or a tensor of another layer.

    A tensor keeps its first history. Without the copy, a layer that returns its input would return
    a tensor of the earlier layer, and its own call would be missing from the graph of a model. A
    tensor that the layer itself returned before, as a network does for the same input, is kept.
    """
    history = output._keras_history
    belongs_elsewhere = output.owner is None or (history is not None and history.layer is not layer)
    return identity(output) if belongs_elsewhere or any(output is x for x in inputs) else output


def _refine_shapes(layer: Layer, call: Call, outputs: list[Tensor]) -> None:
    """Complete unknown sizes of the outputs by `compute_output_shape`, if the class has one.

    Raises
    ------
    ShapeError
        `compute_output_shape` contradicts the outputs of `call`.
    """
    input_shape = call.input_shape
    declared = layer._declared_output_shape(input_shape, call.arguments)
    if declared is None:
        return
    for output, shape in zip(outputs, listed_shapes(declared), strict=False):
        merged = merge_shapes(output.shape, tuple(shape))
        if merged is None:
            raise ShapeError(
                f"{layer.label}: compute_output_shape says {tuple(shape)}, but call made "
                f"{output.shape} from {input_shape}. Make them agree.",
                subject=layer,
            )
        output.shape = merged
