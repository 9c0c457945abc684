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

from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kerascope.backend.eager import eager_mode, graph_mode, is_eager, value_of
from kerascope.backend.graph import Constant, Tensor, Variable, as_tensor
from kerascope.backend.ops.elementwise import identity
from kerascope.backend.scopes import name_scope
from kerascope.backend.shapes import Shape, merge_shapes
from kerascope.backend.state import learning_phase_scope
from kerascope.engine.input_spec import check_inputs
from kerascope.engine.layer_books import inside_call
from kerascope.engine.nesting import accepts, to_list, unpack_singleton
from kerascope.engine.node import Node
from kerascope.errors import DtypeError, ShapeError
from kerascope.stage import Stage

if TYPE_CHECKING:
    from kerascope.engine.base_layer import Layer


class LayerBuilt(NamedTuple):
    """A layer has made its weights."""

    layer: Layer
    input_shape: Any
    weights: list[Variable]


class NodeCreated(NamedTuple):
    """A layer was called on symbolic tensors and a Node records it."""

    layer: Layer
    node: Node


def call_layer(layer: Layer, inputs: Any, kwargs: dict[str, Any]) -> Any:
    """Call a layer in the mode that its inputs ask for."""
    inputs = _with_tensors(layer, inputs)
    tensors = to_list(inputs)
    if any(x._keras_history is not None for x in tensors):
        return Stage("layer_call", _call_symbolically(layer, inputs, kwargs), layer).run()
    if is_eager():
        return _call_inside(layer, inputs, kwargs)
    if all(isinstance(x, Constant) for x in tensors):
        return Stage("eager_call", _call_eagerly(layer, inputs, kwargs), layer).run()
    return _call_inside(layer, inputs, kwargs)


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


def _call_symbolically(
    layer: Layer, inputs: Any, kwargs: dict[str, Any]
) -> Generator[Any, Any, Any]:
    was_built = layer.built
    with _undone_if_it_fails(layer):
        _build(layer, inputs)
        if not was_built:
            yield LayerBuilt(layer, unpack_singleton(_shapes(inputs)), layer.weights)
        outputs, input_masks, output_masks = _run_body(layer, inputs, kwargs)
    node = Node(layer, to_list(inputs), outputs, input_masks, output_masks, kwargs)
    yield NodeCreated(layer, node)
    return unpack_singleton(outputs)


@contextmanager
def _undone_if_it_fails(layer: Layer) -> Iterator[None]:
    """Leave the layer as it was, a new one without weights, if the `with` block raises."""
    before = None if layer.built else layer._snapshot()
    marks = [len(book) for book in layer._books]
    try:
        yield
    except BaseException:
        if before is not None:
            layer._restore(before)
        for book, mark in zip(layer._books, marks, strict=True):
            book.forget_after(mark)
        raise


def _build(layer: Layer, inputs: Any) -> None:
    """Make the layer's weights if it has none yet."""
    check_inputs(layer, to_list(inputs))
    if layer.built:
        return
    with graph_mode(), layer._scope():
        layer.build(unpack_singleton(_shapes(inputs)))
    layer.built = True
    if layer._initial_weights is not None:
        layer.set_weights(layer._initial_weights)
        layer._initial_weights = None
    check_inputs(layer, to_list(inputs))


def _run_body(
    layer: Layer, inputs: Any, kwargs: dict[str, Any]
) -> tuple[list[Tensor], list[Tensor | None], list[Tensor | None]]:
    """Run `call` and what belongs to it: masks, shapes, the activity penalty."""
    input_masks = [_mask_of(x) for x in to_list(inputs)]
    mask = unpack_singleton(input_masks) if input_masks else None
    kwargs, phase = phase_of(layer, kwargs)
    if (
        accepts(layer.call, "mask")
        and "mask" not in kwargs
        and any(m is not None for m in input_masks)
    ):
        kwargs["mask"] = mask
    with layer._scope(), phase, inside_call(layer, to_list(inputs)):
        returned = layer.call(inputs, **kwargs)
        outputs = [_own(y, to_list(inputs), layer) for y in _as_outputs(layer, returned)]
        _refine_shapes(layer, inputs, outputs)
        penalize_activity(layer, inputs, outputs)
        given = kwargs.get("mask", mask)
        output_masks = to_list(layer.compute_mask(inputs, given)) or [None] * len(outputs)
    return outputs, input_masks, output_masks


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
    """Return the arguments of `call`, and the learning phase that `training=True` sets inside."""
    training = kwargs.get("training")
    if not accepts(layer.call, "training"):
        kwargs = {name: value for name, value in kwargs.items() if name != "training"}
    if training is None or isinstance(training, Tensor):
        return dict(kwargs), nullcontext()
    return dict(kwargs), learning_phase_scope(int(bool(training)))


def _mask_of(x: Tensor) -> Tensor | None:
    if x._keras_history is None:
        return x._keras_mask
    _, _, tensor_index = x._keras_history
    return x._keras_history.node.output_masks[tensor_index]


def _refine_shapes(layer: Layer, inputs: Any, outputs: list[Tensor]) -> None:
    """Fill unknown sizes of the outputs with what the layer declares; catch a wrong declaration.

    Raises
    ------
    ShapeError
        `compute_output_shape` contradicts what `call` made.
    """
    declared = layer._declared_output_shape(unpack_singleton(_shapes(inputs)))
    if declared is None:
        return
    shapes = [declared] if not declared or not isinstance(declared[0], tuple) else list(declared)
    for output, shape in zip(outputs, shapes, strict=False):
        merged = merge_shapes(output.shape, tuple(shape))
        if merged is None:
            raise ShapeError(
                f"{layer.label}: compute_output_shape says {tuple(shape)}, but call made "
                f"{output.shape} "
                f"from {unpack_singleton(_shapes(inputs))}. Make them agree.",
                subject=layer,
            )
        output.shape = merged


def penalize_activity(layer: Layer, inputs: Any, outputs: list[Tensor]) -> None:
    """Add the penalty on a layer's outputs, if it has an `activity_regularizer`, to its losses."""
    regularizer = getattr(layer, "activity_regularizer", None)
    if regularizer is None:
        return
    with name_scope("activity_regularizer"):
        layer.add_loss([regularizer(y) for y in outputs], inputs=to_list(inputs))


def _shapes(inputs: Any) -> list[Shape]:
    return [x.shape for x in to_list(inputs)]


# --- on arrays, and inside a function -------------------------------------------------------------


def _call_eagerly(layer: Layer, inputs: Any, kwargs: dict[str, Any]) -> Generator[Any, Any, Any]:
    """Run the body on numbers, return arrays; updates that the layer adds take effect at once."""
    was_built = layer.built
    with eager_mode():
        outputs = _call_inside(layer, inputs, kwargs)
    if not was_built:
        yield LayerBuilt(layer, unpack_singleton(_shapes(inputs)), layer.weights)
    return unpack_singleton([np.array(value_of(y)) for y in to_list(outputs)])


def _call_inside(layer: Layer, inputs: Any, kwargs: dict[str, Any]) -> Any:
    try:
        with _undone_if_it_fails(layer):
            _build(layer, inputs)
            outputs, _, output_masks = _run_body(layer, inputs, kwargs)
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
