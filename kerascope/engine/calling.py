"""What happens when a layer is called: the three modes of `__call__`.

- on symbolic tensors that have a history (`Input()` or another layer's output): the body runs once,
  on symbols; a Node records the call and the outputs receive their history. This is how models are
  built.
- on arrays: the body runs at every call, on numbers, and arrays come out (`K` is in eager mode).
- on tensors without a history, that is inside a function that is being traced or inside another
  layer's body: the body runs on symbols, and nothing is recorded.

Each is a stage or a plain call; `Layer.__call__` picks one. Lesson: chapters 6 and 17.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kerascope.backend.eager import eager_mode, graph_mode, is_eager, value_of
from kerascope.backend.graph import Constant, Tensor, Variable, as_tensor
from kerascope.backend.ops import sizes
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.elementwise import identity
from kerascope.backend.scopes import name_scope
from kerascope.backend.shapes import Shape, merge_shapes
from kerascope.backend.state import learning_phase, learning_phase_scope
from kerascope.engine.both_phases import call_in_its_phases, may_ask
from kerascope.engine.failures import remember_call
from kerascope.engine.input_spec import check_inputs
from kerascope.engine.layer_books import inside_call, is_inside_call, losses_of_a_call
from kerascope.engine.nesting import accepts, to_list, unpack_singleton
from kerascope.engine.node import Node, NodeCreated
from kerascope.engine.operations import enter_operations
from kerascope.engine.tensor_arguments import (
    by_name,
    filled,
    masks_by_name,
    number_of_places,
    shapes_by_name,
    taken_out,
    with_constants,
)
from kerascope.engine.undoing import Undoing
from kerascope.errors import DtypeError, ShapeError
from kerascope.spellings import habits
from kerascope.stage import Stage

if TYPE_CHECKING:
    from kerascope.engine.base_layer import Layer


class LayerBuilt(NamedTuple):
    """A layer has made its weights."""

    layer: Layer
    input_shape: Any
    weights: list[Variable]


class Call(NamedTuple):
    """What a layer is called on.

    Attributes
    ----------
    tensors : list of Tensor
        Every tensor that the call depends on: the inputs, then those among the arguments.
    arguments : dict
        The further arguments by name; an `InputPlace` stands for each tensor that is in `tensors`.
    """

    tensors: list[Tensor]
    arguments: dict[str, Any]

    @property
    def inputs(self) -> Any:
        """The first argument of `call`: a tensor, or a list of them."""
        number = len(self.tensors) - number_of_places(self.arguments)
        return unpack_singleton(self.tensors[:number])

    @property
    def filled_arguments(self) -> dict[str, Any]:
        """The further arguments with the tensors in their places."""
        return filled(self.arguments, self.tensors)


def call_layer(layer: Layer, inputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a layer in the mode that its inputs ask for."""
    tensors = to_list(_with_tensors(layer, inputs))
    arguments = with_constants(by_name(layer, args, kwargs))
    enter_operations([*tensors, *taken_out(arguments, 0, lambda tensor: True)[0]])
    further, places = taken_out(arguments, len(tensors), _has_history)
    if any(_has_history(x) for x in [*tensors, *further]):
        call = Call([*tensors, *further], places)
        try:
            return Stage("layer_call", _call_symbolically(layer, call), layer).run()
        except Exception as error:
            remember_call(error, layer, call.tensors)
            raise
    further, places = taken_out(arguments, len(tensors), lambda tensor: True)
    call = Call([*tensors, *further], places)
    is_numbers = all(isinstance(x, Constant) for x in call.tensors)
    if is_numbers and not is_eager() and not is_inside_call():
        return Stage("eager_call", _call_eagerly(layer, call), layer).run()
    return _call_inside(layer, call)


def _has_history(tensor: Tensor) -> bool:
    return tensor._keras_history is not None


def _with_tensors(layer: Layer, inputs: Any) -> Any:
    """Turn arrays into constants; several inputs stay a list.

    Raises
    ------
    DtypeError
        Something is neither a tensor nor numbers.
    """
    several = isinstance(inputs, (list, tuple)) and any(
        isinstance(x, (Tensor, np.ndarray)) for x in inputs
    )
    try:
        return [as_tensor(x) for x in inputs] if several else as_tensor(inputs)
    except DtypeError:
        raise DtypeError(
            f"{layer.label}: was called with an input that isn't a symbolic tensor; expected a "
            "tensor "
            f"or an array, got {type(inputs).__name__} {inputs!r}. Call it on Input(...) or on a "
            "layer's output.",
            subject=layer,
        ) from None


# --- symbolic -------------------------------------------------------------------------------------


def _call_symbolically(layer: Layer, call: Call) -> Generator[Any, Any, Any]:
    was_built, inputs = layer.built, call.tensors
    masks = [mask_of(x) for x in inputs]
    undoing = Undoing(layer)
    try:
        with undoing.if_it_fails():
            _build(layer, call)
        if not was_built:
            yield LayerBuilt(layer, unpack_singleton(_shapes(inputs)), layer.weights)
        with undoing.if_it_fails():
            outputs, output_masks = run_body(layer, call, masks)
    except GeneratorExit:  # the stage was abandoned half way
        undoing.undo()
        raise
    node = Node(layer, inputs, outputs, masks, output_masks, call.arguments)
    undoing.keep()
    yield NodeCreated(layer, node)
    return unpack_singleton(outputs)


def _build(layer: Layer, call: Call) -> None:
    """Make the layer's weights if it has none yet."""
    check_inputs(layer, to_list(call.inputs))
    if layer.built:
        return
    further_shapes = shapes_by_name(layer.build, call.filled_arguments)
    with graph_mode(), layer._scope():
        layer.build(unpack_singleton(_shapes(call.inputs)), **further_shapes)
    layer.built = True
    if layer._initial_weights is not None:
        layer.set_weights(layer._initial_weights)
        layer._initial_weights = None
    check_inputs(layer, to_list(call.inputs))


def run_body(
    layer: Layer, call: Call, masks: list[Tensor | None], *, again: bool = False
) -> tuple[list[Tensor], list[Tensor | None]]:
    """Run `call` and what belongs to it: masks, shapes, the activity penalty.

    Parameters
    ----------
    layer : Layer
    call : Call
    masks : list of (Tensor or None)
        One for each of the call's tensors.
    again : bool
        The same call was made before, on other tensors: it is known what comes out.
    """
    own_masks = masks[: len(to_list(call.inputs))]
    masks_of_call = masks_by_name(layer, call.arguments, masks)
    kwargs, phase = phase_of(layer, {**masks_of_call, **call.filled_arguments})
    if again:
        check_inputs(layer, to_list(call.inputs))
    with layer._scope(), phase, inside_call(layer, call.tensors):
        if may_ask(kwargs):
            outputs = _as_outputs(layer, call_in_its_phases(layer, call.inputs, kwargs))
        else:
            outputs = _as_outputs(layer, layer.call(call.inputs, **kwargs))
        if not again:
            outputs = [_own(y, call.tensors, layer) for y in outputs]
            _refine_shapes(layer, call, outputs)
        penalize_activity(layer, call.tensors, outputs)
        mask = kwargs.get("mask", unpack_singleton(own_masks) if own_masks else None)
        output_masks = to_list(layer.compute_mask(call.inputs, mask)) or [None] * len(outputs)
    return outputs, output_masks


def _as_outputs(layer: Layer, returned: Any) -> list[Tensor]:
    """Return what `call` gave as a list of tensors.

    Raises
    ------
    DtypeError
        It is no tensor; most often the `return` was forgotten.
    """
    try:
        outputs = [as_tensor(y) for y in to_list(returned)]
    except DtypeError:
        outputs = []
    if outputs:
        return outputs
    raise DtypeError(
        f"{layer.label}: call returned {returned!r}; expected a tensor or a list of them. "
        f"End it with `return outputs`.",
        subject=layer,
    )


def _own(output: Tensor, inputs: list[Tensor], layer: Layer) -> Tensor:
    """Return the output, as a tensor of its own if it is an input or another layer's tensor.

    Without the copy, a layer that passes its input through would overwrite the history of that
    input. What the layer itself gave before, as a network does for the same input, stays the same.
    """
    history = output._keras_history
    belongs_elsewhere = output.owner is None or (history is not None and history.layer is not layer)
    return identity(output) if belongs_elsewhere or any(output is x for x in inputs) else output


def phase_of(layer: Layer, kwargs: dict[str, Any]) -> tuple[dict[str, Any], Any]:
    """Return the arguments of `call`, and the learning phase that `training=True` sets inside.

    In dialect "3" a `call` that takes `training` always gets it.
    """
    training = kwargs.get("training")
    if not accepts(layer.call, "training"):
        kwargs = {name: value for name, value in kwargs.items() if name != "training"}
    elif training is None and habits().training_is_bool:
        training = learning_phase()
        kwargs = {**kwargs, "training": training}
    if training is None or isinstance(training, Tensor):
        return dict(kwargs), nullcontext()
    return dict(kwargs), learning_phase_scope(int(bool(training)))


def mask_of(x: Tensor) -> Tensor | None:
    """Return the mask that a tensor carries."""
    if x._keras_history is None:
        return x._keras_mask
    _, _, tensor_index = x._keras_history
    return x._keras_history.node.output_masks[tensor_index]


def _refine_shapes(layer: Layer, call: Call, outputs: list[Tensor]) -> None:
    """Fill unknown sizes of the outputs with what the layer declares; catch a wrong declaration.

    Raises
    ------
    ShapeError
        `compute_output_shape` contradicts what `call` made.
    """
    input_shape = unpack_singleton(_shapes(call.inputs))
    declared = layer._declared_output_shape(input_shape, call.filled_arguments)
    if declared is None:
        return
    several = bool(declared) and isinstance(declared[0], (tuple, list))
    shapes = list(declared) if several else [declared]
    for output, shape in zip(outputs, shapes, strict=False):
        merged = merge_shapes(output.shape, tuple(shape))
        if merged is None:
            raise ShapeError(
                f"{layer.label}: compute_output_shape says {tuple(shape)}, but call made "
                f"{output.shape} "
                f"from {input_shape}. Make them agree.",
                subject=layer,
            )
        output.shape = merged


def penalize_activity(layer: Layer, inputs: list[Tensor], outputs: list[Tensor]) -> None:
    """Add the penalty on a layer's outputs, if it has an `activity_regularizer`, to its losses."""
    regularizer = getattr(layer, "activity_regularizer", None)
    if regularizer is None:
        return
    with name_scope("activity_regularizer"):
        penalties = [regularizer(y) for y in outputs]
        if habits().penalty_per_sample:
            samples = [cast(sizes.shape(y)[0], y.dtype) for y in outputs]
            penalties = [p / n for p, n in zip(penalties, samples, strict=True)]
        layer.add_loss(penalties, inputs=inputs)


def _shapes(inputs: Any) -> list[Shape]:
    return [x.shape for x in to_list(inputs)]


# --- on arrays, and inside a function -------------------------------------------------------------


def _call_eagerly(layer: Layer, call: Call) -> Generator[Any, Any, Any]:
    """Run the body on numbers, return arrays; updates that the layer adds take effect at once."""
    was_built, inputs = layer.built, call.tensors
    with eager_mode(), losses_of_a_call(layer):
        outputs = _call_inside(layer, call)
    if not was_built:
        yield LayerBuilt(layer, unpack_singleton(_shapes(inputs)), layer.weights)
    return unpack_singleton([np.array(value_of(y)) for y in to_list(outputs)])


def _call_inside(layer: Layer, call: Call) -> Any:
    try:
        undoing = Undoing(layer)
        with undoing.if_it_fails():
            _build(layer, call)
            outputs, output_masks = run_body(layer, call, [mask_of(x) for x in call.tensors])
        undoing.keep()
    except Exception as error:
        _name_the_layer(error, layer)
        raise
    for output, mask in zip(outputs, output_masks, strict=False):
        output._keras_mask = mask
    return unpack_singleton(outputs)


def _name_the_layer(error: Exception, layer: Layer) -> None:
    if layer.label in str(error):
        return
    path, line = layer.made_at or ("?", 0)
    error.add_note(f"in {layer.label}, made at {path}, line {line}")
