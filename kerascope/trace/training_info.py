"""Information about a train function: which tensors are layer outputs, losses and gradients.

A train function is one list of ops, which does not say that a tensor is dense_1's output or the
gradient of a weight. This module collects this information from the model's graph, and from the
events of compile, of the backward pass over the ops (the sweep) and of the optimizer.

`TrainingInfo` is the information about one function. `Memory` is the recorder's memory between
stages: the `TrainingInfo`s of all functions, values of weights, and descriptions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextvars import Context
from copy import copy
from types import SimpleNamespace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet, ref

import numpy as np

from kerascope.backend.function import Function
from kerascope.backend.gradient import Seeded, Swept, gradient_stage
from kerascope.backend.graph import Apply, Tensor, applies_between, applies_in_order
from kerascope.backend.variables import Variable
from kerascope.engine.compiling import LossTerm
from kerascope.engine.graph_map import GraphMap, map_graph
from kerascope.engine.node import Node
from kerascope.engine.node_ids import call_ids, clean
from kerascope.optimizers.base import ParameterUpdate
from kerascope.trace.snapshots import Describer, ObjectRef
from kerascope.trace.statistics import Figures


class Place(NamedTuple):
    """The Node that makes a tensor in the model's graph, and the depth of this Node."""

    node: Node
    depth: int


class Arrival(NamedTuple):
    """A gradient that is complete: `gradient` is d loss / d `wrt`. `wrt` may be a weight."""

    wrt: Tensor
    gradient: Tensor
    is_weight: bool


def without_observers(function: Any, *arguments: Any) -> Any:
    """Call a function without observers, so that work of the recorder itself is not recorded."""
    return Context().run(function, *arguments)


def graph_map_of(model: Any) -> GraphMap:
    """Return a model's graph map; for a subclassed model, the map from its inputs to outputs."""
    if model._is_graph_network:
        return without_observers(getattr, model, "graph_map")
    return without_observers(map_graph, model.inputs, model.outputs)


def ids_of_calls(inputs: list[Tensor], graph_map: GraphMap) -> dict[Node, str]:
    """Return the id of each call in a graph that belongs to no model."""
    graph: Any = SimpleNamespace(inputs=inputs, graph_map=graph_map)
    return call_ids(graph)


class TrainingInfo:
    """What is recorded about one train function and the model that it trains.

    Parameters
    ----------
    model : Model
        A compiled model.
    loss_terms : list of LossTerm
        The terms of the total loss that `compile` reported; empty if `compile` was not observed.

    Attributes
    ----------
    places : dict of Tensor to Place
        For each output of a Node, the Node and its depth, in order of decreasing depth.
    ids : dict of Node to str
        The id of each call, as in the summary and in pictures: "dense_1", "shared@1".
    calls : dict of Apply to Place
        For each op of a layer's call, the Node of that call and its depth.
    losses, metrics : dict of str to Tensor
        Losses and metrics by name, the total loss last.
    output_names : list of str
        Names of the train function's outputs: the total loss, the losses of several outputs,
        metrics.
    arrivals : list of Arrival
        The complete gradients, in the order in which the sweep and the optimizer reported them.
    updates : list of ParameterUpdate
        The optimizer's updates in the order of the parameters.
    contributions : dict of Tensor to list of (Apply, Tensor)
        For each tensor, the terms of the gradient with respect to this tensor. Each term comes
        after the op whose gradient function returned it.
    """

    def __init__(self, model: Any, loss_terms: list[LossTerm]) -> None:
        self.model = model
        self.arrivals: list[Arrival] = []
        self.updates: list[ParameterUpdate] = []
        self.contributions: dict[Tensor, list[tuple[Apply, Tensor]]] = {}
        self.places: dict[Tensor, Place] = {}
        self.calls: dict[Apply, Place] = {}
        graph_map = graph_map_of(model)
        self.ids = ids_of_calls(model.inputs, graph_map)
        for depth, nodes in graph_map.nodes_by_depth.items():
            for node in nodes:
                self._place(node, depth)
        # Ops that do not depend on any input (BatchNormalization has some) are found by their
        # scope.
        self._only_calls = {
            place.node.outbound_layer.name: place
            for place in self.places.values()
            if self.ids[place.node] == clean(place.node.outbound_layer.name)
        }
        self.losses = {f"{term.output_name}_loss": term.loss for term in loss_terms}
        self.losses["total_loss"] = model.total_loss
        self.output_names = ["total_loss", *model.metrics_names[1:]]
        named = zip(model.metrics_names[1:], model.metrics_tensors, strict=True)
        self.metrics = {name: x for name, x in named if name not in self.losses}

    def _place(self, node: Node, depth: int) -> None:
        place = Place(node, depth)
        self.places.update(dict.fromkeys(node.output_tensors, place))
        if not node.is_input:
            inside = set(applies_in_order(node.output_tensors, fed=node.input_tensors))
            applies = applies_between(node.input_tensors, node.output_tensors)
            self.calls.update((apply, place) for apply in applies if apply in inside)

    def label(self, apply: Apply) -> str:
        """Return the id of the layer call that contains an op: "shared@1".

        For other ops, return the name of the scope in which the op was made, or the name of the op.
        """
        place = self.calls.get(apply) or self._only_calls.get(apply.scope.name)
        return self.ids[place.node] if place else apply.scope.name or apply.op.name

    def name_of(self, tensor: Tensor) -> str:
        """Return a tensor's name; for shared layers, with the call: "shared/add (shared@1)"."""
        place = self.places.get(tensor)
        if place is None or self._only_calls.get(place.node.outbound_layer.name) is place:
            return tensor.name
        return f"{tensor.name} ({self.ids[place.node]})"

    def take_update(self, update: ParameterUpdate) -> None:
        """Add what the optimizer reported about a parameter: its gradient and the new values."""
        self.updates.append(update)
        self.arrivals.append(Arrival(update.param, update.gradient, True))

    def roles(self) -> dict[Variable, str]:
        """Return the role of each variable in training: "parameter", "slot" or "iterations"."""
        found = dict.fromkeys(self.model._collected_trainable_weights or (), "parameter")
        iterations = getattr(self.model.optimizer, "iterations", None)
        if iterations is not None:
            found[iterations] = "iterations"
        found.update((v, "slot") for update in self.updates for v, _ in update.pairs)
        found.update((update.param, "parameter") for update in self.updates)
        return found


class Sweep:
    """The state of a gradient sweep, updated op by op.

    Parameters
    ----------
    facts : TrainingInfo or None
        The `TrainingInfo` of the new train function, to which the sweep adds gradients; None if
        nothing is to be collected.

    Attributes
    ----------
    contributions : dict of Tensor to int
        For each tensor, how many terms have been added to the gradient with respect to it.
    """

    def __init__(self, facts: TrainingInfo | None) -> None:
        self.facts = facts
        self.contributions: dict[Tensor, int] = {}

    def seed(self, event: Seeded) -> None:
        """Start the sweep at a loss."""
        self.contributions[event.loss] = 1

    def take(self, event: Swept) -> list[tuple[Tensor, Tensor | None, int]]:
        """Add an op that the sweep has passed. Return its inputs with gradient terms, numbered.

        For each input, the tuple has the input, its term and the term's number. The terms of one
        tensor are numbered from 1. An input without a term has None and 0.
        """
        if self.facts is not None:
            for y, gradient in zip(event.apply.outputs, event.output_grads, strict=True):
                if y in self.facts.places and y in self.contributions:
                    self.facts.arrivals.append(Arrival(y, gradient, False))
        terms = zip(event.apply.inputs, event.terms, strict=True)
        return [(x, term, self._number(event.apply, x, term)) for x, term in terms]

    def _number(self, apply: Apply, x: Tensor, term: Tensor | None) -> int:
        if term is None:
            return 0
        number = self.contributions[x] = self.contributions.get(x, 0) + 1
        if self.facts is not None:
            self.facts.contributions.setdefault(x, []).append((apply, term))
        return number

    def reached(self, tensor: Tensor) -> str:
        """Return the name of a weight or of a layer's output; "" for any other tensor."""
        if self.facts is None:
            return tensor.name if isinstance(tensor, Variable) else ""
        is_known = tensor in self.facts.places or isinstance(tensor, Variable)
        return self.facts.name_of(tensor) if is_known else ""

    def label(self, apply: Apply) -> str:
        """Return the id of the layer call that contains an op; otherwise the scope of the op."""
        return self.facts.label(apply) if self.facts is not None else apply.scope.name


# --- the recorder's memory ------------------------------------------------------------------------


FUNCTIONS = ("train_function", "test_function", "predict_function")
MOST_OF_TWINS = 64  # maximum number of values that are kept for a call besides the tape
MOST_CALLS_OF_TWINS = 4096  # maximum number of calls with such values


class Memory:
    """The recorder's memory between stages: `TrainingInfo`s, values of variables, and descriptions.

    Parameters
    ----------
    statistics_only : bool
        Whether to keep the statistics of arrays instead of their values.

    Attributes
    ----------
    describer : Describer
        Describes objects that are not arrays.
    figures : Figures
        Computes the statistics of arrays, if only statistics are kept.
    facts_of : dict of Function to TrainingInfo
        The information about each recorded train function.
    swept_of : dict of Function to dict of Apply to Apply
        For each op that computes a gradient, the forward op that it belongs to.
    loss_terms : dict of Model to list of LossTerm
        The terms of the total loss that `compile` reported.
    lengths : dict of Function to (FunctionPlan, int, int)
        For the last recorded call of each function: its plan, its number of events (without the
        events of variables that were set), and the time of its start.
    values : dict of Variable to array
        The last recorded value of each variable.
    seen_layers : set of Layer
        The layers whose creation is recorded.
    recorded_ops : set of Tensor
        The first output of each op whose creation is recorded.
    """

    def __init__(self, statistics_only: bool) -> None:
        self.statistics_only = statistics_only
        self.describer = Describer()
        self.facts_of: WeakKeyDictionary[Function, TrainingInfo] = WeakKeyDictionary()
        self.swept_of: WeakKeyDictionary[Function, dict[Apply, Apply]] = WeakKeyDictionary()
        self.plans: WeakKeyDictionary[Function, Any] = WeakKeyDictionary()
        self.lengths: WeakKeyDictionary[Function, tuple[Any, int, int]] = WeakKeyDictionary()
        self.loss_terms: WeakKeyDictionary[Any, list[LossTerm]] = WeakKeyDictionary()
        self.values: WeakKeyDictionary[Variable, np.ndarray] = WeakKeyDictionary()
        self.seen_layers: WeakSet[Any] = WeakSet()
        self.recorded_ops: WeakSet[Tensor] = WeakSet()
        self._models: list[ref[Any]] = []
        self._twins: WeakKeyDictionary[Function, list[Variable]] = WeakKeyDictionary()
        self._twin_values: dict[int, list[np.ndarray]] = {}
        self.figures = Figures()

    def without_values(self) -> Memory:
        """Return a copy of this memory without the recorded values of variables."""
        other = copy(self)
        other.statistics_only = False
        other.values = WeakKeyDictionary()
        other._twin_values = {}
        other.figures = Figures()
        return other

    # --- variables with the same name -------------------------------------------------------------

    def twins(self, function: Function) -> list[Variable]:
        """Return the variables of a function that share their name with another variable.

        A Dropout that is called twice has two draw counts with one name, for example.
        """
        found = self._twins.get(function)
        if found is None:
            variables = [v for _, v in function.schedule.variables]
            variables = list(dict.fromkeys([*variables, *(u.variable for u in function.updates)]))
            counts = Counter(v.name for v in variables)
            found = self._twins[function] = [v for v in variables if counts[v.name] > 1]
        return found

    def note_twins(self, function: Function, t: int) -> None:
        """Store the values at time `t` of variables with equal names.

        A tape stores values by name, so it cannot distinguish these variables.
        """
        values = [v.get_value(borrow=True) for v in self.twins(function)]
        if values and sum(value.size for value in values) <= MOST_OF_TWINS:
            self._twin_values[t] = values
            if len(self._twin_values) > MOST_CALLS_OF_TWINS:
                self._twin_values.pop(next(iter(self._twin_values)))

    def twin_values(self, function: Function, t: int) -> dict[Variable, np.ndarray]:
        """Return the values at time `t` of those of a function's variables that share a name.

        Return {} if none are stored for this time.
        """
        values = self._twin_values.get(t)
        return {} if values is None else dict(zip(self.twins(function), values, strict=True))

    def copy_twins(self, other: Memory, t: int) -> None:
        """Copy the values of variables with equal names from another memory, up to time `t`."""
        self._twin_values = {at: x for at, x in other._twin_values.items() if at <= t}

    # --- models and functions ---------------------------------------------------------------------

    def know(self, model: Any) -> None:
        """Register a model, so that its functions are recognized when they are called."""
        if all(reference() is not model for reference in self._models):
            self._models = [r for r in self._models if r() is not None]
            self._models.append(ref(model))

    def facts(self, function: Function) -> TrainingInfo | None:
        """Return the `TrainingInfo` of a function; None if no registered model has the function."""
        found = self.facts_of.get(function)
        if found is None:
            model = self._model_of(function)
            if model is not None:
                found = self.facts_of[function] = facts_of_model(model, self.loss_terms.get(model))
                for update in updates_by_scope(function, model):
                    found.take_update(update)
                if found.updates:
                    without_observers(sweep_again, found)
        return found

    def _model_of(self, function: Function) -> Any:
        for reference in self._models:
            model = reference()
            if any(getattr(model, name, None) is function for name in FUNCTIONS):
                return model
        return None

    def models_of(self, variable: Variable) -> list[Any]:
        """Return the registered models of which a function reads or writes a variable."""
        found = []
        for model in (reference() for reference in self._models):
            functions = (getattr(model, name, None) for name in FUNCTIONS)
            if any(variable in _variables_of(f) for f in functions if f is not None):
                found.append(model)
        return found

    # --- values -----------------------------------------------------------------------------------

    def payload(self, value: Any) -> Any:
        """Return what a tape stores for a value: array, number, statistics or description."""
        if value.__class__ is np.ndarray and self.statistics_only:  # this case is the most frequent
            if value.ndim and value.dtype.kind in "fiub":
                return self.figures.of(value)
        elif not isinstance(value, (np.ndarray, np.generic)):
            return self.describer.snapshot(value)
        if value.dtype.hasobject:
            return ObjectRef(type(value).__name__, value.dtype.name)
        if not self.statistics_only:
            return value
        return self.figures.of(np.asarray(value)) if value.ndim else np.asarray(value)[()]

    def copied(self, value: Any) -> Any:
        """Copy a value that may change later, and return what a tape stores for the copy."""
        is_writable = isinstance(value, (list, tuple, np.ndarray))
        return self.payload(np.array(value) if is_writable else value)


def _variables_of(function: Function) -> set[Variable]:
    own = {variable for _, variable in function.schedule.variables}
    return own | {update.variable for update in function.updates}


def updates_by_scope(function: Function, model: Any) -> list[ParameterUpdate]:
    """Return the gradient and the new values of each parameter of a model's train function.

    The ops of an update are recognized by their scope, `update/NAME`. This is for functions that
    were made without an observer.
    """
    found = []
    params = getattr(model, "_collected_trainable_weights", None) or []
    steps = function.schedule.steps
    for p in params:
        scope = f"update/{p.name}"
        own = [s.apply for s in steps if f"{s.apply.scope.name}/".startswith(f"{scope}/")]
        gradients = [x for apply in own for x in apply.inputs if _is_gradient(x)]
        made = {y for apply in own for y in apply.outputs}
        pairs = [(v, nv) for v, nv in function.updates if v is p or nv in made]
        if gradients:
            found.append(ParameterUpdate(p, gradients[0], tuple(pairs)))
    return found


def sweep_again(facts: TrainingInfo) -> None:
    """Add gradients of layer outputs to the `TrainingInfo` of a function made without an observer.

    The sweep is repeated. It makes the same ops again as the sweep of the function, so its tensors
    can be matched with those of the function. Tensors without a match are left out.
    """
    fresh = copy(facts)
    fresh.arrivals, fresh.contributions = [], {}
    stage = gradient_stage(facts.model.total_loss, [update.param for update in facts.updates])
    sweep = Sweep(fresh)
    for event in stage:
        if isinstance(event, Seeded):
            sweep.seed(event)
        else:
            sweep.take(event)
    found = twins_of(
        (new, _unclipped(update.gradient))
        for new, update in zip(stage.result, facts.updates, strict=True)
        if new is not None
    )
    facts.contributions = {
        x: [(apply, found[term]) for apply, term in terms if term in found]
        for x, terms in fresh.contributions.items()
    }
    facts.arrivals += [
        Arrival(x, found[gradient], False) for x, gradient, _ in fresh.arrivals if gradient in found
    ]


def twins_of(pairs: Iterable[tuple[Tensor, Tensor]]) -> dict[Tensor, Tensor]:
    """Match the tensors of two op graphs of the same form, backward from pairs of outputs.

    Returns a dict from the tensors of the first graph to those of the second graph. A tensor that
    is in both graphs, such as a variable, has no entry.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.variable(3.0)
    >>> one, other = x * x + x, x * x + x
    >>> found = twins_of([(one, other)])
    >>> found[one] is other, found[one.owner.inputs[0]] is other.owner.inputs[0], x in found
    (True, True, False)
    """
    found: dict[Tensor, Tensor] = {}
    waiting = list(pairs)
    while waiting:
        new, old = waiting.pop()
        one, other = new.owner, old.owner
        if new is old or new in found or one is None or other is None:
            continue
        if type(one.op) is type(other.op) and len(one.inputs) == len(other.inputs):
            found.update(zip(one.outputs, other.outputs, strict=True))
            waiting += zip(one.inputs, other.inputs, strict=True)
    return found


def _unclipped(gradient: Tensor) -> Tensor:
    """Return the gradient before clipping by an optimizer; an unclipped gradient unchanged."""
    while gradient.owner is not None and _scope_of(gradient) == "clip":
        gradient = gradient.owner.inputs[0]
    return gradient


def _scope_of(x: Tensor) -> str:
    return x.owner.scope.name.partition("/")[0] if x.owner is not None else ""


def _is_gradient(x: Tensor) -> bool:
    return _scope_of(x) in ("gradients", "clip")


def facts_of_model(model: Any, loss_terms: list[LossTerm] | None) -> TrainingInfo:
    """Return a model's `TrainingInfo`; for a model without a total loss, with only its graph."""
    if getattr(model, "total_loss", None) is not None:
        return TrainingInfo(model, loss_terms or [])
    graph: Any = SimpleNamespace(
        _is_graph_network=True,
        graph_map=graph_map_of(model),
        inputs=model.inputs,
        outputs=model.outputs,
        total_loss=None,
        metrics_names=["loss"],
        metrics_tensors=[],
        optimizer=None,
        _collected_trainable_weights=[],
    )
    return TrainingInfo(graph, [])


def keys_by_node(ids: dict[Node, str]) -> dict[Tensor, str]:
    """Return the key of each tensor in `tensor_map`: the id of its layer call, as "shared@1".

    If a call has several outputs, their keys are numbered, as "lstm_1:0".
    """
    keys = {}
    for node, name in ids.items():
        several = len(node.output_tensors) > 1
        for index, tensor in enumerate(node.output_tensors):
            keys[tensor] = f"{name}:{index}" if several else name
    return keys
