"""What happens when a layer is called: it is built once, its `call` runs, a Node records it.

There are three ways:

- on symbolic tensors that have a history (`Input()` or another layer's output): the body runs once,
  on symbols; a Node records the call and the outputs receive their history. This is how models are
  built. In the `call` of a subclassed model every layer is called so, also on constants.
- on arrays: the body runs at every call, on numbers, and arrays come out (`K` is in eager mode).
- on tensors without a history, that is inside a function that is being traced, a loss or another
  layer's body: the body runs on symbols, and nothing is recorded.

Each is a stage or a plain call; `call_layer` picks one. The sections after it tell what it rests
on: a `call` that says `if training:`, what is undone when a call fails, and how `x + layer(x)`
becomes an entry of the layer graph. Lesson: chapters 6 and 17.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kerascope.backend import state
from kerascope.backend.atomic import set_values
from kerascope.backend.eager import assigning, eager_mode, value_of
from kerascope.backend.graph import (
    ASSIGNED,
    Apply,
    Constant,
    Tensor,
    Variable,
    as_tensor,
    graph_mode,
    is_eager,
)
from kerascope.backend.ops import indexing
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.elementwise import identity
from kerascope.backend.scopes import Scope, current_scope, name_scope
from kerascope.backend.shapes import Shape, merge_shapes
from kerascope.backend.state import PHASE, in_train_phase, learning_phase, learning_phase_scope
from kerascope.backend.update_order import CallUpdate
from kerascope.callers import boundary
from kerascope.engine.arguments import (
    INPUTS,
    InputPlace,
    Packing,
    accepts,
    filled,
    listed,
    listed_shapes,
    masks_by_name,
    number_of_places,
    shapes_by_name,
    taken_out,
    to_list,
    unpack_singleton,
    with_constants,
)
from kerascope.engine.node import Node, NodeCreated, remember_call
from kerascope.errors import ArgumentError, DtypeError, PhaseAskedError, ShapeError
from kerascope.limits import PARTS_OF_A_CALL, current_budget
from kerascope.nested import flattened, replaced
from kerascope.registry import Registry
from kerascope.spellings import changed_habits, habits
from kerascope.stage import Stage

if TYPE_CHECKING:
    from kerascope.engine.base_layer import Layer


class LayerBuilt(NamedTuple):
    """A layer has made its weights."""

    layer: Layer
    input_shape: Any
    weights: list[Variable]


@dataclass(frozen=True)
class Call:
    """What a layer is called on.

    Attributes
    ----------
    tensors : list of Tensor
        Every tensor that the call depends on: the inputs, then those among the arguments.
    places : dict
        The further arguments by name; an `InputPlace` stands for each tensor that is in `tensors`.
    """

    tensors: list[Tensor]
    places: dict[str, Any]

    @cached_property
    def own_tensors(self) -> list[Tensor]:
        """The inputs alone."""
        return self.tensors[: len(self.tensors) - number_of_places(self.places)]

    @property
    def inputs(self) -> Any:
        """The first argument of `call`: a tensor, or a list or dict of them."""
        return self._as_given(self.own_tensors)

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The further arguments with the tensors in their places."""
        return {k: x for k, x in filled(self.places, self.tensors).items() if k != INPUTS}

    @property
    def input_shape(self) -> Any:
        """The shape of the inputs, or the list or dict of them."""
        return self._as_given(_shapes(self.own_tensors))

    def _as_given(self, items: list[Any]) -> Any:
        if INPUTS not in self.places:
            return unpack_singleton(items)
        return filled({INPUTS: self.places[INPUTS]}, items)[INPUTS]


@boundary
def call_layer(layer: Layer, inputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a layer in the mode that its inputs ask for."""
    arguments = with_constants(_by_name(layer, args, kwargs))
    found, put = flattened(inputs) if isinstance(inputs, dict) else ([], unpack_singleton)
    if found and not layer.input_spec and all(isinstance(x, (Tensor, np.ndarray)) for x in found):
        tensors = [as_tensor(x) for x in found]
        arguments[INPUTS] = put([InputPlace(number) for number in range(len(found))])
    else:
        tensors = to_list(_with_tensors(layer, inputs))
    enter_operations([*tensors, *taken_out(arguments, 0, lambda tensor: True)[0]])
    further, places = taken_out(arguments, len(tensors), _is_in_model)
    if any(_is_in_model(x) for x in [*tensors, *further]):
        call = Call([*tensors, *further], places)
        try:
            return Stage("layer_call", _call_symbolically(layer, call), layer).run()
        except Exception as error:
            remember_call(error, layer, call.tensors)
            raise
    further, places = taken_out(arguments, len(tensors), lambda tensor: True)
    call = Call([*tensors, *further], places)
    is_numbers = all(isinstance(x, Constant) for x in call.tensors) and not _is_making_graph()
    if is_numbers and not is_eager() and not is_inside_call():
        return Stage("eager_call", _call_eagerly(layer, call), layer).run()
    return _call_inside(layer, call)


def _by_name(layer: Layer, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call after its inputs by the names that `layer.call` gives them.

    Raises
    ------
    ArgumentError
        There are too many, or one is given by place and by name.
    """
    if not args:
        return kwargs
    names = _names_after_inputs(layer)
    if len(args) > len(names):
        takes = f"its inputs and {', '.join(names)}" if names else "its inputs alone"
        raise ArgumentError(
            f"{layer.label}: was called with {len(args) + 1} arguments by place; its call takes "
            f"{takes}. Several input tensors are one list: layer([a, b]).",
            subject=layer,
        )
    given = dict(zip(names, args, strict=False))
    for name in given:
        if name in kwargs:
            raise ArgumentError(
                f"{layer.label}: {name!r} is given by place and by name. Leave one out.",
                subject=layer,
            )
    return {**given, **kwargs}


def _names_after_inputs(layer: Layer) -> list[str]:
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(layer.call).parameters.values()
    return [p.name for p in parameters if p.kind in by_place][1:]


def _is_in_model(tensor: Tensor) -> bool:
    """Return whether a call on this tensor gets a Node: it has a history, or a model is made."""
    return tensor._keras_history is not None or _model_being_made() is not None


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
            f"tensor or an array, got {type(inputs).__name__} {inputs!r}. Call it on Input(...) or "
            "on a layer's output.",
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
            outputs, output_masks, packed = run_body(layer, call, masks)
    except GeneratorExit:  # the stage was abandoned half way
        undoing.undo()
        raise
    node = Node(layer, inputs, outputs, masks, output_masks, call.places)
    _remember_in_model(layer, inputs)
    undoing.keep()
    yield NodeCreated(layer, node)
    return packed(outputs)


def _build(layer: Layer, call: Call) -> None:
    """Make the layer's weights if it has none yet."""
    layer.assert_input_compatibility(call.own_tensors)
    if layer.built:
        return
    further_shapes = shapes_by_name(layer.build, call.arguments)
    with graph_mode(), layer._scope(), _outside_calls():
        layer.build(call.input_shape, **further_shapes)
    layer.built = True
    if layer._initial_weights is not None:
        layer.set_weights(layer._initial_weights)
        layer._initial_weights = None
    layer.assert_input_compatibility(call.own_tensors)


def run_body(
    layer: Layer, call: Call, masks: list[Tensor | None], *, again: bool = False
) -> tuple[list[Tensor], list[Tensor | None], Packing]:
    """Run `call` and what belongs to it: masks, shapes, the activity penalty.

    The outputs come as a list, with their masks and what makes of them what `call` returned.

    Parameters
    ----------
    layer : Layer
    call : Call
    masks : list of (Tensor or None)
        One for each of the call's tensors.
    again : bool
        The same call was made before, on other tensors: it is known what comes out.
    """
    budget = current_budget()
    if budget is not None:
        budget.take_parts(PARTS_OF_A_CALL, f"at a call of a layer {type(layer).__name__}")
    own_masks = masks[: len(call.own_tensors)]
    told = layer._is_told_masks
    masks_of_call = masks_by_name(layer.call, call.places, masks) if told else {}
    kwargs, phase = phase_of(layer, {**masks_of_call, **call.arguments})
    if again:
        layer.assert_input_compatibility(call.own_tensors)
    with layer._scope(), phase, inside_call(layer, call.tensors):
        if may_ask(kwargs):
            returned = call_in_its_phases(layer, call.inputs, kwargs)
        else:
            returned = layer.call(call.inputs, **kwargs)
        outputs, packed = _as_outputs(layer, returned)
        outputs = [identity(y) if isinstance(y, Variable) else y for y in outputs]
        if not again:
            outputs = [_own(y, call.tensors, layer) for y in outputs]
            _refine_shapes(layer, call, outputs)
        penalize_activity(layer, call.tensors, outputs)
        mask = kwargs.get("mask", unpack_singleton(own_masks) if own_masks else None)
        output_masks = to_list(layer.compute_mask(call.inputs, mask))[: len(outputs)]
        output_masks += [None] * (len(outputs) - len(output_masks))
    return outputs, output_masks, packed


def _as_outputs(layer: Layer, returned: Any) -> tuple[list[Tensor], Packing]:
    """Return what `call` gave as a list of tensors, and what makes of it what it was.

    Raises
    ------
    DtypeError
        It is no tensor; most often the `return` was forgotten.
    """
    try:
        found, packed = listed(returned)
        outputs = [as_tensor(y) for y in found]
    except DtypeError:
        outputs = []
    if outputs:
        return outputs, packed
    raise DtypeError(
        f"{layer.label}: call returned {returned!r}; expected a tensor, or a list or dict of them. "
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
    kwargs, training = dict(kwargs), kwargs.get("training")
    if not accepts(layer.call, "training"):
        kwargs.pop("training", None)
    elif training is None and habits().training_is_bool:
        kwargs["training"] = learning_phase()  # what holds anyway, for layers inside too
    if training is PHASE:  # it holds inside, too, where a subclassed model fixed another phase
        return kwargs, learning_phase_scope(PHASE)
    if training is None or isinstance(training, Tensor):
        return kwargs, nullcontext()
    return kwargs, learning_phase_scope(int(bool(training)))


def mask_of(x: Tensor) -> Tensor | None:
    """Return the mask that a tensor carries."""
    if x._keras_history is None:
        return x._keras_mask
    layer, node_index, tensor_index = x._keras_history
    return layer.inbound_nodes[node_index].output_masks[tensor_index]


def _refine_shapes(layer: Layer, call: Call, outputs: list[Tensor]) -> None:
    """Fill unknown sizes of the outputs with what the layer declares; catch a wrong declaration.

    Raises
    ------
    ShapeError
        `compute_output_shape` contradicts what `call` made.
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


def penalize_activity(layer: Layer, inputs: list[Tensor], outputs: list[Tensor]) -> None:
    """Add the penalty on a layer's outputs, if it has an `activity_regularizer`, to its losses."""
    regularizer = getattr(layer, "activity_regularizer", None)
    if regularizer is None:
        return
    with name_scope("activity_regularizer"):
        penalties = [regularizer(y) for y in outputs]
        if habits().penalty_per_sample:
            samples = [cast(indexing.shape(y)[0], y.dtype) for y in outputs]
            penalties = [p / n for p, n in zip(penalties, samples, strict=True)]
        layer.add_loss(penalties, inputs=inputs)


def _shapes(tensors: list[Tensor]) -> list[Shape]:
    return [x.shape for x in tensors]


# --- on arrays, and inside a function -------------------------------------------------------------


def _call_eagerly(layer: Layer, call: Call) -> Generator[Any, Any, Any]:
    """Run the body on numbers, return arrays; updates that the layer adds take effect at once."""
    was_built, inputs = layer.built, call.tensors
    with eager_mode(), losses_of_a_call(layer):
        outputs = _call_inside(layer, call)
    if not was_built:
        yield LayerBuilt(layer, unpack_singleton(_shapes(inputs)), layer.weights)
    return replaced(outputs, Tensor, lambda y: np.array(value_of(y)))


def _call_inside(layer: Layer, call: Call) -> Any:
    try:
        undoing = Undoing(layer)
        with undoing.if_it_fails():
            _build(layer, call)
            masks = [mask_of(x) for x in call.tensors]
            outputs, output_masks, packed = run_body(layer, call, masks)
        undoing.keep()
    except Exception as error:
        _name_the_layer(error, layer)
        raise
    for output, mask in zip(outputs, output_masks, strict=False):
        output._keras_mask = mask
    return packed(outputs)


def _name_the_layer(error: Exception, layer: Layer) -> None:
    if layer.label in str(error):
        return
    path, line = layer.made_at or ("?", 0)
    error.add_note(f"in {layer.label}, made at {path}, line {line}")


# --- a `call` that asks whether it is training ----------------------------------------------------
#
# A `call` that says `if training:` is run twice, once for each phase, as Keras 3 does.
#
# Keras 3 runs `call` anew for training and for test, so that `training` is True or False. Here
# one graph serves both, and `training` is a symbol, which is neither. A `call` that asks it
# nevertheless is undone and run with True and with False; its output is then a choice between
# both outcomes.


def may_ask(arguments: dict[str, Any]) -> bool:
    """Tell whether a `call` with these arguments may ask whether it is training."""
    return arguments.get("training") is PHASE and habits().training_is_bool


def call_in_its_phases(layer: Any, inputs: Any, arguments: dict[str, Any]) -> Any:
    """Return what a layer's `call` returns, which may ask whether it is training.

    Raises
    ------
    ArgumentError
        It asks, and adds penalties or states, which would count in both phases.
    """
    undoing = Undoing(layer)
    try:
        with undoing.if_it_fails():
            outputs = layer.call(inputs, **arguments)
    except PhaseAskedError:
        undoing = Undoing(layer)
        with undoing.if_it_fails():
            outputs = _choice(layer, lambda: layer.call(inputs, **arguments), arguments)
    undoing.keep()
    return outputs


def _choice(layer: Any, call: Callable[[], Any], arguments: dict[str, Any]) -> Any:
    """Return the outcome of `call` in training and in test, with a switch between both."""
    outcomes, packed, adds = _outcomes(layer, call, arguments)
    if adds:  # perhaps no more than the penalties on weights that have been made just now
        with tried_out(layer):
            *_, adds = _outcomes(layer, call, arguments)
    if adds or len(outcomes[0]) != len(outcomes[1]):
        raise ArgumentError(
            f"{layer.label}: its call says `if training:`, so it is run once for training and once "
            f"for test; but the two differ in their number of outputs, or add penalties or states, "
            f"which would count twice, or in the wrong phase. Write "
            f"K.in_train_phase(a, b, training) where they differ.",
            subject=layer,
        )
    choices = [in_train_phase(a, b, PHASE) for a, b in zip(*outcomes, strict=True)]
    return packed(choices)


def _outcomes(
    layer: Any, call: Callable[[], Any], arguments: dict[str, Any]
) -> tuple[list[list[Any]], Packing, bool]:
    """Return the outcomes in training and in test, and whether penalties or states were added."""
    outcomes: list[list[Any]] = []
    new_values: list[dict[Variable, Tensor]] = []
    before = len(layer.losses) + len(layer.state_updates)
    for is_training in (True, False):
        arguments["training"] = is_training
        with learning_phase_scope(int(is_training)), assigning() as assigned:
            outcome, packed = listed(call())
        outcomes.append(outcome)
        new_values.append(assigned)
    arguments["training"] = PHASE
    for variable in {**new_values[0], **new_values[1]}:
        a, b = (values.get(variable, variable) for values in new_values)
        variable.assign(a if a is b else in_train_phase(a, b, PHASE))
    return outcomes, packed, len(layer.losses) + len(layer.state_updates) != before


# --- a call that fails changes nothing ------------------------------------------------------------
#
# A call that fails changes nothing: neither its layer, nor the layers that it called inside.
#
# A call may build a layer, enter losses, updates and Nodes, and call further layers that do the
# same; on arrays it writes new values into variables. Each call keeps an `Undoing`; one that
# succeeds hands it to the call around it, which may still fail.


_around: ContextVar[Undoing | None] = ContextVar("around", default=None)


class Undoing:
    """What a layer was before a call, to be put back if the call fails.

    Parameters
    ----------
    layer : Layer
    """

    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        self._before: dict[str, Any] | None = None if layer.built else layer._snapshot()
        self._marks = [len(book) for book in layer._books]
        self._number_of_nodes = len(layer.inbound_nodes)
        self._inside: list[Callable[[], Any]] = []  # each takes back one thing done inside the call
        self._values: list[tuple[Variable, Any]] = []  # what variables had before, in this order

    @contextmanager
    def if_it_fails(self) -> Iterator[None]:
        """Undo everything if the `with` block raises; calls made inside it belong to it."""
        token = _around.set(self)
        try:
            yield
        except BaseException:
            self.undo()
            raise
        finally:
            _around.reset(token)

    def keep(self) -> None:
        """Leave the work as it is, unless a call around this one fails."""
        outer = _around.get()
        if outer is not None:
            outer._inside.append(self.undo)
            outer._values += self._values
            self._values = []

    def remember_value(self, variable: Variable) -> None:
        """Note the value of a variable that is going to be written."""
        self._values.append((variable, variable.get_value()))

    def undo(self) -> None:
        """Put the layer, and those that it called, back."""
        set_values(reversed(self._values))  # of several values the oldest counts
        self._values = []
        while self._inside:
            self._inside.pop()()
        self._remove_nodes()
        if self._before is not None:
            self.layer._restore(self._before)
        for book, mark in zip(self.layer._books, self._marks, strict=True):
            book.forget_after(mark)

    def _remove_nodes(self) -> None:
        nodes = self.layer.inbound_nodes
        while len(nodes) > self._number_of_nodes:
            node = nodes.pop()
            for layer in dict.fromkeys(node.inbound_layers):
                if layer is not None and node in layer.outbound_nodes:
                    layer.outbound_nodes.remove(node)


@contextmanager
def tried_out(layer: Layer) -> Iterator[None]:
    """Undo in the end all that calls in the `with` block have done, even if they succeed."""
    undoing = Undoing(layer)
    with undoing.if_it_fails():
        yield
    undoing.undo()


def remember_value(variable: Variable) -> None:
    """Let the call that is being made, if there is one, put this value back if it fails."""
    undoing = _around.get()
    if undoing is not None:
        undoing.remember_value(variable)


class LossesOfLastCall(NamedTuple):
    """The penalties of a layer for the last call on numbers, and who else entered some in it."""

    own: list[Tensor]
    layers: list[Layer]


class EnclosingCall(NamedTuple):
    """The call of a layer that is running, and the inputs of the outermost call around it.

    This very list of inputs identifies the outermost call, and is that of its Node: another call on
    the same tensors has another list.
    """

    layer: Layer
    inputs: list[Tensor]
    outermost: list[Tensor]


enclosing_call: ContextVar[EnclosingCall | None] = ContextVar("enclosing", default=None)

# The inputs of the Node for which a layer is asked for its losses and updates.
_asked_call: ContextVar[list[Tensor] | None] = ContextVar("asked_call", default=None)


@contextmanager
def only_of_call(inputs: list[Tensor]) -> Iterator[None]:
    """Let layers tell only what the call with this list of inputs has made."""
    token = _asked_call.set(inputs)
    try:
        yield
    finally:
        _asked_call.reset(token)


def of_call(items: list[tuple[Any, list[Tensor] | None]]) -> list[Any]:
    """Return the items that stand beside the call that is asked for; without one, all items.

    In Keras 1 and 2 a network that is called on the same tensors again does not run again. So what
    no call of this list has made is that of the first call.
    """
    asked = _asked_call.get()
    calls = {id(call): call for _, call in items if call is not None}
    if asked is None or len(calls) < 2:
        return [item for item, _ in items]
    chosen = calls.get(id(asked), next(iter(calls.values())))
    return [item for item, call in items if call is None or call is chosen]


# What layers add in the outermost call on numbers that is being made.
entered_losses: ContextVar[dict[Any, list[Tensor]] | None] = ContextVar("entered", default=None)


@contextmanager
def losses_of_a_call(layer: Layer) -> Iterator[None]:
    """Let the penalties of this call on numbers take the places of those of the last one.

    If the call fails, those of the last one stay.
    """
    entered: dict[Any, list[Tensor]] = {}
    token = entered_losses.set(entered)
    try:
        yield
    finally:
        entered_losses.reset(token)
    if entered or layer._last_call is not None:
        before = [] if layer._last_call is None else layer._last_call.layers
        for one in [*before, layer, *entered]:
            one._last_call = LossesOfLastCall(entered.get(one, []), [])
        layer._last_call = LossesOfLastCall(entered.get(layer, []), list(entered))


@contextmanager
def inside_call(layer: Layer, inputs: list[Tensor]) -> Iterator[None]:
    """Let the layers that are called inside the `with` block belong to this call of `layer`.

    So the moving averages of a BatchNormalization deep inside a layer of layers are found by the
    inputs of the outermost call, which is the only one that a model knows.

    What the call assigns to variables, as Keras 3 lets it, is entered among the layer's updates,
    which then run in training, test and prediction, as the call does.
    """
    outer = enclosing_call.get()
    if outer is not None:
        outer.layer.remember_call(layer, inputs, outer.inputs)
    outermost = inputs if outer is None else outer.outermost
    before = ASSIGNED.get()
    assigned = dict(before or {})
    token = enclosing_call.set(EnclosingCall(layer, inputs, outermost))
    token_of_assigned = ASSIGNED.set(assigned)
    try:
        yield
    finally:
        enclosing_call.reset(token)
        ASSIGNED.reset(token_of_assigned)
    if assigned:
        _enter_assigned(EnclosingCall(layer, inputs, outermost), assigned, before)


def _enter_assigned(call: EnclosingCall, assigned: dict[Variable, Any], before: Any) -> None:
    pairs = [(v, new) for v, new in assigned.items() if (before or {}).get(v) is not new]
    if before is not None:  # a call around this one reads the new values
        before.update(pairs)
    if pairs and not is_eager():
        call.layer._assigns = True
        model = making_model.get()
        chain = call.outermost if model is None else model[1]
        own = [CallUpdate.of(pair, call.inputs, chain) for pair in pairs]
        call.layer._updates.add(own, call.inputs, call)
    elif pairs and before is None:
        call.layer.add_update(pairs)


@contextmanager
def _outside_calls() -> Iterator[None]:
    """Let the calls inside the `with` block belong to no call: those by which a model is built."""
    token = enclosing_call.set(None)
    try:
        yield
    finally:
        enclosing_call.reset(token)


def is_inside_call() -> bool:
    """Tell whether the `call` of a layer is running."""
    return enclosing_call.get() is not None


# The subclassed model whose `call` makes its graph, and the inputs on which it does.
making_model: ContextVar[tuple[Layer, list[Tensor]] | None] = ContextVar("model", default=None)


@contextmanager
def calls_in_order(model: Layer, inputs: list[Tensor]) -> Iterator[dict[Variable, Tensor]]:
    """Let each call in the `with` block read what the calls before it have assigned."""
    token = making_model.set((model, inputs))
    try:
        with assigning() as assigned:
            yield assigned
    finally:
        making_model.reset(token)


@contextmanager
def call_of_model(model: Layer, inputs: list[Tensor]) -> Iterator[None]:
    """Let the `call` of a subclassed model make its graph: layers and operations become Nodes."""
    # The scope knows no line: an op of this call stands between layers, not inside of one.
    habit = changed_habits(wraps_operations=True)
    with habit, name_scope(model.name), calls_in_order(model, inputs) as assigned:
        yield
        _enter_assigned(EnclosingCall(model, inputs, inputs), assigned, None)


def _model_being_made() -> tuple[Layer, list[Tensor]] | None:
    """Return the subclassed model whose `call` runs, and its inputs; None inside of its layers."""
    return making_model.get() if _is_making_graph() and not is_inside_call() else None


def _remember_in_model(layer: Layer, inputs: list[Tensor]) -> None:
    """Note a call of a layer by the `call` of a subclassed model, whose losses are asked for."""
    model, model_inputs = _model_being_made() or (None, [])
    if model is not None:
        model.remember_call(layer, inputs, model_inputs)


def _is_making_graph() -> bool:
    """Return whether a graph is made outside of any layer: a model's, or that of a loss.

    What a layer computes there from its weights is a symbol, even if it is called on numbers: the
    weights will change.
    """
    scope = current_scope()
    return scope.makes_graph and scope.made_at is None and not is_eager()


@contextmanager
def fresh_names() -> Iterator[None]:
    """Count layers and operations from 1 in the `with` block; then go on with the old counts."""
    kept, uids = state._state, dict(state._state.uids)
    kept.uids.clear()
    try:
        yield
    finally:
        kept.uids.clear()
        kept.uids.update(uids)


# --- operations between layers --------------------------------------------------------------------
#
# Operations between layers: `x + layer(x)` as an entry of the layer graph.
#
# In Keras 3 a script may compute with the outputs of layers, and each operation becomes an entry
# of the graph of layers. Here an op makes an Apply and its output has no history. So when such a
# tensor reaches a layer's call or the outputs of a Model, the Applies between it and the tensors
# of layers become layers, one for each Apply, with a Node each. Nothing is computed again: the
# Node's output tensors are the Apply's own, which now receive their history.
#
# Constants and variables that an op uses stay inside its layer, `layers.operations.Operation`.
#
# What a layer does in its `call` is never taken apart: not while it runs, nor when a tensor from
# inside it (a gradient, say) reaches a Model.
#
# Keras 2 has none of this; there such a tensor is an error. The habit `wraps_operations` decides.
# But the `call` of a subclassed model may compute as it likes in every Keras.
#
#  Where `kerascope.layers` says how a layer is made from an Apply: the engine knows no layer.


makers_of_layers = Registry("maker of layers", home="kerascope.layers.operations")


def enter_operations(tensors: Iterable[Tensor]) -> None:
    """Give a history to those tensors that ops computed from tensors which have one.

    Does nothing in a dialect that does not wrap operations, and inside the call of a layer.
    """
    if is_eager() or not habits().wraps_operations or is_inside_call():
        return
    for tensor in tensors:
        if tensor._keras_history is None and tensor.owner is not None:
            for apply in operations_before(tensor):
                _enter(apply)


def operations_before(tensor: Tensor) -> list[Apply]:
    """Return the Applies between the tensors of layers and this one, each after those it needs.

    Returns
    -------
    list of Apply
        Empty if the tensor depends on no layer, or if the way to it leads through a layer's body.
    """
    depends: dict[Tensor, bool] = {}
    found: list[Apply] = []
    stack = [tensor]
    while stack:
        x = stack[-1]
        if x in depends or x._keras_history is not None or x.owner is None:
            depends.setdefault(x, x._keras_history is not None)
            stack.pop()
            continue
        waiting = [y for y in x.owner.inputs if y not in depends]
        if waiting:
            stack.extend(reversed(waiting))
            continue
        needed = any(depends[y] for y in x.owner.inputs)
        depends.update(dict.fromkeys(x.owner.outputs, needed))
        if needed:
            found.append(x.owner)
    return [] if any(_is_inside_a_layer(apply) for apply in found) else found


def _is_inside_a_layer(apply: Apply) -> bool:
    """Tell whether an Apply was made by the body of a layer: only their scopes know a line."""
    return apply.scope.made_at is not None


def _enter(apply: Apply) -> None:
    layer = makers_of_layers.lookup("layer_of_apply")(apply)
    Stage("layer_call", _make_node(apply, layer), layer).run()


def _make_node(apply: Apply, layer: Layer) -> Generator[Any, Any, Node]:
    """Make the Node of an Apply that exists already; as in Keras 3, no mask goes on from here."""
    inputs = inputs_of_layers(apply)
    masks = [mask_of(x) for x in inputs]
    node = Node(layer, inputs, apply.outputs, masks, [None] * len(apply.outputs))
    apply.scope = Scope(layer.name, layer.made_at, around=apply.scope.around)
    for output in apply.outputs:
        output.name = apply.scope.join(output.name)
    yield NodeCreated(layer, node)
    return node


def inputs_of_layers(apply: Apply) -> list[Tensor]:
    """Return the inputs of an Apply that have a history: its layer is called on these."""
    return [x for x in apply.inputs if x._keras_history is not None]
