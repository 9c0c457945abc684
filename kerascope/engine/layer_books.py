"""The losses and updates of a layer, each under the call that it belongs to.

A penalty on a weight holds whatever the layer is called on; the moving averages of
BatchNormalization belong to one call. See `per_input.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from kerascope.backend.at_once import set_values
from kerascope.backend.eager import is_eager, value_of
from kerascope.backend.graph import Tensor, Variable, as_tensor
from kerascope.backend.locks import LOCKS
from kerascope.engine.nesting import to_list
from kerascope.engine.node_access import NodeAccess
from kerascope.engine.per_input import PerInput
from kerascope.engine.undoing import remember_value

_BOOKS_OF_CALLS = ("inbound_nodes", "outbound_nodes")
_CONTAINERS = (list, tuple, dict)


class LossesOfLastCall(NamedTuple):
    """The penalties of a layer for the last call on numbers, and who else entered some in it."""

    own: list[Tensor]
    layers: list[LayerBooks]


_NO_LAYERS = frozenset(  # most attributes
    (type(None), bool, int, float, str, PerInput, LossesOfLastCall)
)


class LayerBooks(NodeAccess):
    """The part of `Layer` that keeps penalties and update pairs."""

    trainable: bool
    stateful: bool
    _losses: PerInput
    _updates: PerInput
    _inner_calls: PerInput
    _last_call: LossesOfLastCall | None = None

    @property
    def _sublayers(self) -> list[Any]:
        """Layers that this one holds as attributes, alone or in lists and dicts, however deep."""
        found: dict[Any, None] = {}
        for name, value in vars(self).items():
            if type(value) in _NO_LAYERS:
                continue
            if isinstance(value, LayerBooks):
                found[value] = None
            elif isinstance(value, (list, tuple, dict)) and name not in _BOOKS_OF_CALLS:
                # A list that the constructor was given is not held: what was made of it is.
                deep = name != "_arguments"
                found.update((x, None) for x in _layers_in(value, (value,), deep))
        found.pop(self, None)
        return list(found)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add scalar penalties; those that depend on `inputs` belong to the call on them.

        In a call on numbers they are numbers too: `losses` has them until the next such call, and
        no graph ever asks for them.
        """
        tensors, entered = [as_tensor(loss) for loss in to_list(losses)], _entered.get()
        if is_eager() and entered is not None:
            entered.setdefault(self, []).extend(tensors)
        else:
            self._losses.add(tensors, self._whole_call(inputs))

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add pairs `(variable, new_value)`, run with each train step that contains this call."""
        pairs = [updates] if isinstance(updates, tuple) else to_list(updates)
        if is_eager():
            _commit_at_once(pairs)
        else:
            self._updates.add(pairs, self._whole_call(inputs))

    def _whole_call(self, inputs: Any) -> Any:
        """Return all inputs of the call that is being made, if it begins with these.

        `call(inputs, initial_state)` says `add_update(pairs, inputs)`; the call has more inputs.
        """
        layer, tensors = _enclosing.get() or (None, [])
        given = to_list(inputs)
        return tensors if given and layer is self and tensors[: len(given)] == given else inputs

    @property
    def losses(self) -> list[Tensor]:
        """All penalties of the layer and of layers inside it.

        After a call on numbers also those of that call, until the next one.
        """
        of_call = [] if self._last_call is None else self._last_call.own
        return (
            self._losses.all()
            + of_call
            + [loss for layer in self._sublayers for loss in layer.losses]
        )

    @property
    def updates(self) -> list[tuple[Variable, Any]]:
        """All update pairs of the layer; when it is frozen, only those of states."""
        if not self.trainable:
            return self.state_updates
        return self._updates.all() + [pair for layer in self._sublayers for pair in layer.updates]

    @property
    def state_updates(self) -> list[tuple[Variable, Any]]:
        """The update pairs that carry a state from batch to batch: they run in test mode too."""
        own = self._updates.all() if self.stateful else []
        return own + [pair for layer in self._sublayers for pair in layer.state_updates]

    def get_losses_for(self, inputs: Any = None) -> list[Tensor]:
        """Return the penalties for exactly these inputs; None gives the unconditional ones."""
        return self._losses.of(inputs) + self._of_inner_layers("get_losses_for", inputs)

    def get_updates_for(self, inputs: Any = None) -> list[tuple[Variable, Any]]:
        """Return the update pairs for exactly these inputs; None gives the unconditional ones."""
        if not self.trainable:
            return self.get_state_updates_for(inputs)
        return self._updates.of(inputs) + self._of_inner_layers("get_updates_for", inputs)

    def get_state_updates_for(self, inputs: Any) -> list[tuple[Variable, Any]]:
        """Return those of `state_updates` for exactly these inputs."""
        own = self._updates.of(inputs) if self.stateful else []
        return own + self._of_inner_layers("get_state_updates_for", inputs)

    def _of_inner_layers(self, getter: str, inputs: Any) -> list[Any]:
        """Return what the layers inside have for these inputs, or for what became of them."""
        if inputs is None:
            calls: Any = [(layer, None) for layer in self._sublayers]
        else:
            calls = dict.fromkeys(self._inner_calls.of(inputs))
        return [item for layer, key in calls for item in getattr(layer, getter)(key)]

    def remember_call(self, layer: LayerBooks, inner_inputs: list[Tensor], inputs: Any) -> None:
        """Note that a call on `inputs` has called a layer inside: its books are asked when needed.

        They are not copied: a layer inside may still be frozen, or unfrozen.
        """
        if not is_eager():
            self._inner_calls.add([(layer, tuple(inner_inputs))], inputs)

    @property
    def _books(self) -> tuple[PerInput, ...]:
        return self._losses, self._updates, self._inner_calls

    @property
    def uses_learning_phase(self) -> bool:
        """Tell whether an output differs between training and test."""
        return any(
            y._uses_learning_phase for node in self.inbound_nodes for y in node.output_tensors
        )


_enclosing: ContextVar[tuple[LayerBooks, list[Tensor]] | None] = ContextVar(
    "enclosing", default=None
)


# What layers add in the outermost call on numbers that is being made.
_entered: ContextVar[dict[LayerBooks, list[Tensor]] | None] = ContextVar("entered", default=None)


@contextmanager
def losses_of_a_call(layer: LayerBooks) -> Iterator[None]:
    """Let the penalties of this call on numbers take the places of those of the last one.

    If the call fails, those of the last one stay.
    """
    entered: dict[LayerBooks, list[Tensor]] = {}
    token = _entered.set(entered)
    try:
        yield
    finally:
        _entered.reset(token)
    if entered or layer._last_call is not None:
        before = [] if layer._last_call is None else layer._last_call.layers
        for one in [*before, layer, *entered]:
            one._last_call = LossesOfLastCall(entered.get(one, []), [])
        layer._last_call = LossesOfLastCall(entered.get(layer, []), list(entered))


@contextmanager
def inside_call(layer: LayerBooks, inputs: list[Tensor]) -> Iterator[None]:
    """Let the layers that are called inside the `with` block belong to this call of `layer`.

    So the moving averages of a BatchNormalization deep inside a layer of layers are found by the
    inputs of the outermost call, which is the only one that a model knows.
    """
    outer = _enclosing.get()
    if outer is not None:
        outer_layer, outer_inputs = outer
        outer_layer.remember_call(layer, inputs, outer_inputs)
    token = _enclosing.set((layer, inputs))
    try:
        yield
    finally:
        _enclosing.reset(token)


def is_inside_call() -> bool:
    """Tell whether the `call` of a layer is running."""
    return _enclosing.get() is not None


def _layers_in(container: Any, around: tuple[Any, ...], deep: bool) -> Iterator[LayerBooks]:
    """Yield the layers in a list, tuple or dict and in those inside it, as in `[(dense, norm)]`.

    Tuples with names, such as a history, are records: their layers belong to somebody else.
    """
    for member in container.values() if isinstance(container, dict) else container:
        if isinstance(member, LayerBooks):
            yield member
        elif deep and type(member) in _CONTAINERS and not any(member is one for one in around):
            yield from _layers_in(member, (*around, member), deep)


def _commit_at_once(updates: list[Any]) -> None:
    """Write update pairs at once; new values are computed before any is written."""
    with LOCKS.steps:
        computed = [(v, value_of(nv)) for v, nv in updates]
        for v, _ in computed:
            remember_value(v)
        set_values(computed)
