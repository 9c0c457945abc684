"""The losses and updates of a layer, grouped by the inputs of the call that made them.

`add_loss` and `add_update` fill these collections. A model uses only the items that belong to its
own calls of a layer.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

from kerascope.backend.atomic import LOCKS, set_values
from kerascope.backend.eager import value_of
from kerascope.backend.graph import ASSIGNED, Tensor, as_tensor, is_eager
from kerascope.backend.update_order import CallUpdate, depend_on
from kerascope.backend.variables import Variable
from kerascope.engine.arguments import to_list
from kerascope.engine.policies.eager_losses import LossesOfLastCall, entered_losses
from kerascope.engine.policies.enclosing import EnclosingCall, enclosing_call
from kerascope.engine.policies.undo import remember_value

# The inputs of the Node whose losses and updates are requested. None requests them of all calls.
_wanted_call: ContextVar[list[Tensor] | None] = ContextVar("wanted_call", default=None)


@contextmanager
def only_of_call(inputs: list[Tensor]) -> Iterator[None]:
    """Let layers return only the losses and updates of the call on `inputs`, in a `with` block.

    Those that belong to no call are returned, too.
    """
    token = _wanted_call.set(inputs)
    try:
        yield
    finally:
        _wanted_call.reset(token)


class ItemsByInputs:
    """A layer's losses, or its updates, grouped by the inputs that they depend on.

    A layer that is called on two inputs makes two sets of updates, and a model that contains only
    one of these calls must run only the updates of that call. So the key of an item is the tuple of
    tensors that it depends on, which is empty for a penalty on a weight. (The keys are the tensors
    themselves. Keras 1 and 2 use their `id()`, which a later tensor may have too.)

    A second call on the same tensors makes new items, and so does a call that a debugger repeats.
    So each item is stored with the call that made it, and `only_of_call` selects one call.
    """

    def __init__(self) -> None:
        self._items: dict[tuple[Tensor, ...], list[tuple[Any, list[Tensor] | None]]] = {}
        self._keys: list[tuple[Tensor, ...]] = []  # the key of each item, in the order of adding

    def add(self, items: Any, inputs: Any = None, call: EnclosingCall | None = None) -> None:
        """Add a loss or an update that depends on `inputs`, or a list of them.

        Each is stored with the outermost call around `call`, or around the current call by
        default. Outside of calls, it belongs to no call.
        """
        items, key, call = to_list(items), tuple(to_list(inputs)), call or enclosing_call.get()
        outermost = None if call is None else call.outermost
        if items:
            self._items.setdefault(key, []).extend((item, outermost) for item in items)
            self._keys.extend([key] * len(items))

    def forget_after(self, number: int) -> None:
        """Keep the first `number` losses or updates that were added, and remove the later ones."""
        while len(self._keys) > number:
            key = self._keys.pop()
            self._items[key].pop()
            if not self._items[key]:
                del self._items[key]

    def of(self, inputs: Any) -> list[Any]:
        """Return the losses or updates that depend on exactly `inputs`; for None, on no inputs."""
        return _of_wanted_call(self._items.get(tuple(to_list(inputs)), []))

    def all(self) -> list[Any]:
        """Return all losses or updates, whatever inputs they depend on."""
        return [item for items in self._items.values() for item, _ in items]

    def __copy__(self) -> ItemsByInputs:
        twin = ItemsByInputs()
        twin._items = {key: list(items) for key, items in self._items.items()}
        twin._keys = list(self._keys)
        return twin

    def __len__(self) -> int:
        return len(self._keys)


PerInput = ItemsByInputs  # the former name, which old pickles contain


def _of_wanted_call(items: list[tuple[Any, list[Tensor] | None]]) -> list[Any]:
    """Return those of `items` that belong to the call selected by `only_of_call`, or to no call.

    If no call is selected, all items are returned. In Keras 1 and 2 a network that is called on the
    same tensors again does not run again. So if the selected call made none of the items, those of
    the first call are returned.
    """
    wanted = _wanted_call.get()
    calls = {id(call): call for _, call in items if call is not None}
    if wanted is None or len(calls) < 2:
        return [item for item, _ in items]
    chosen = calls.get(id(wanted), next(iter(calls.values())))
    return [item for item, call in items if call is None or call is chosen]


# Types of attributes that contain neither layers nor variables.
PLAIN = frozenset((type(None), bool, int, float, str, ItemsByInputs, LossesOfLastCall))


# Penalty -> the weight that it was made for.
weight_of_penalty: WeakKeyDictionary[Tensor, Variable] = WeakKeyDictionary()


class LayerLosses:
    """The part of `Layer` that stores losses and updates."""

    _losses: ItemsByInputs
    _updates: ItemsByInputs
    _inner_calls: ItemsByInputs
    _sublayers: Any
    _last_call: Any
    _assigns: bool
    trainable: Any
    stateful: bool
    inbound_nodes: Any

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add scalar penalties. With `inputs`, they belong to the layer's call on these inputs.

        In a call on arrays the penalties are numbers. They remain in `losses` until the next call
        on arrays.
        """
        tensors, entered = [as_tensor(loss) for loss in to_list(losses)], entered_losses.get()
        if is_eager() and entered is not None:
            entered.setdefault(self, []).extend(tensors)
        else:
            self._losses.add(tensors, self._whole_call(inputs, tensors))

    def _add_penalty(self, weight: Variable, penalty: Any) -> None:
        """Add the penalty on a weight, or a list of penalties."""
        for one in to_list(penalty):
            if isinstance(one, Tensor):
                weight_of_penalty[one] = weight
        self.add_loss(penalty)

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add pairs `(variable, new_value)`, to run in each train step of a model with this call.

        In a call on arrays the values are computed now and written when the outermost call ends.
        """
        pairs = [updates] if isinstance(updates, tuple) else to_list(updates)
        if not is_eager():
            call = enclosing_call.get()
            if call is not None and not self.stateful:
                pairs = [CallUpdate.of(pair, call.inputs) for pair in pairs]
            self._updates.add(pairs, self._whole_call(inputs, [pair[1] for pair in pairs]))
            return
        with LOCKS.steps:  # written at once; all new values are computed before any is written
            computed = [(variable, value_of(new_value)) for variable, new_value in pairs]
            assigned = ASSIGNED.get()
            if assigned is not None:  # written when the outermost call ends
                assigned.update({variable: as_tensor(value) for variable, value in computed})
                return
            for variable, _ in computed:
                remember_value(variable)
            set_values(computed)

    def _whole_call(self, inputs: Any, values: list[Any] | None = None) -> Any:
        """Return the inputs under which a loss or an update of the current call is stored.

        If `inputs` are the first inputs of the current call, the result is all inputs of the call,
        because in `call(inputs, initial_state)` a layer may write `add_update(pairs, inputs)`.
        Other `inputs` are returned unchanged. Without `inputs`, as in Keras 3's `add_loss(loss)`,
        the result is all inputs of the call if `values` depend on them, otherwise None.
        """
        call, given = enclosing_call.get(), to_list(inputs)
        if call is None or call.layer is not self:
            return inputs
        if given:
            return call.inputs if call.inputs[: len(given)] == given else inputs
        return call.inputs if depend_on(values or [], call.inputs) else None

    @property
    def losses(self) -> list[Tensor]:
        """All penalties of the layer and of the layers inside it.

        The penalties of the last call on arrays are included.
        """
        of_call = [] if self._last_call is None else self._last_call.own
        return (
            self._losses.all()
            + of_call
            + [loss for layer in self._sublayers for loss in layer.losses]
        )

    @property
    def updates(self) -> list[tuple[Variable, Any]]:
        """The update pairs of the layer; if it is frozen, those of states kept between batches."""
        if not self.trainable:
            return self.state_updates
        return self._updates.all() + [pair for layer in self._sublayers for pair in layer.updates]

    @property
    def state_updates(self) -> list[tuple[Variable, Any]]:
        """The update pairs of states kept between batches, which tests and predictions run too."""
        own = self._updates.all() if self.stateful or self._assigns else []
        return own + [pair for layer in self._sublayers for pair in layer.state_updates]

    def get_losses_for(self, inputs: Any = None) -> list[Tensor]:
        """Return the penalties that depend on exactly `inputs`; for None, those without inputs."""
        return self._items_for(inputs, "get_losses_for", self._losses)

    def get_updates_for(self, inputs: Any = None) -> list[tuple[Variable, Any]]:
        """Return the updates that depend on exactly `inputs`; for None, those without inputs."""
        if not self.trainable:
            return self.get_state_updates_for(inputs)
        return self._items_for(inputs, "get_updates_for", self._updates)

    def get_state_updates_for(self, inputs: Any) -> list[tuple[Variable, Any]]:
        """Return those updates of states kept between batches that depend on exactly `inputs`."""
        own = self._updates.of(inputs) if self.stateful or self._assigns else []
        return own + self._of_inner_layers("get_state_updates_for", inputs)

    def _items_for(self, inputs: Any, getter: str, own: ItemsByInputs) -> list[Any]:
        return own.of(inputs) + self._of_inner_layers(getter, inputs)

    def _of_inner_layers(self, getter: str, inputs: Any) -> list[Any]:
        """Return the results of `getter` of each inner layer that a call on these inputs called.

        `getter` is the name of a method such as `get_losses_for`. If `inputs` is None, the results
        of all inner layers are returned.
        """
        if inputs is None:
            calls: Any = [(layer, None) for layer in self._sublayers]
        else:
            calls = dict.fromkeys(self._inner_calls.of(inputs))
        return [item for layer, key in calls for item in getattr(layer, getter)(key)]

    def record_inner_call(self, layer: Any, inner_inputs: list[Tensor], inputs: Any) -> None:
        """Record that a call of this layer on `inputs` called `layer` on `inner_inputs`.

        The losses and updates of the inner layer are looked up later, because the inner layer may
        be frozen or unfrozen before then.
        """
        if not is_eager():
            self._inner_calls.add([(layer, tuple(inner_inputs))], inputs)

    @property
    def uses_learning_phase(self) -> bool:
        """Whether an output of the layer differs between training and test."""
        return any(
            y._uses_learning_phase for node in self.inbound_nodes for y in node.output_tensors
        )

    @property
    def _collections(self) -> tuple[ItemsByInputs, ...]:
        return self._losses, self._updates, self._inner_calls

    def _snapshot(self) -> dict[str, Any]:
        containers = (list, dict, ItemsByInputs)
        return {k: copy.copy(v) if isinstance(v, containers) else v for k, v in vars(self).items()}

    def _restore(self, snapshot: dict[str, Any]) -> None:
        vars(self).clear()
        vars(self).update(snapshot)
