"""What a recorder remembers between stages: models and their functions, weights, descriptions."""

from __future__ import annotations

import weakref
from collections import Counter
from copy import copy
from types import SimpleNamespace
from typing import Any

import numpy as np

from kerascope.backend.function import Function
from kerascope.backend.graph import Apply, Tensor, Variable
from kerascope.engine.compiling import LossTerm
from kerascope.engine.node import Node
from kerascope.optimizers.base import ParameterUpdate
from kerascope.trace.snapshots import Describer, ObjectRef
from kerascope.trace.statistics import Figures
from kerascope.trace.train_facts import Arrival, TrainFacts, graph_map_of

FUNCTIONS = ("train_function", "test_function", "predict_function")
MOST_OF_TWINS = 64  # numbers that are kept for each call besides the tape
MOST_CALLS_OF_TWINS = 4096  # calls for which they are kept


class Memory:
    """What is known so far.

    Parameters
    ----------
    statistics_only : bool
        Keep the figures of arrays and not their numbers.

    Attributes
    ----------
    describer : Describer
    figures : Figures
        Of arrays, if only statistics are kept.
    facts_of : dict of Function to TrainFacts
    swept_of : dict of Function to dict of Apply to Apply
        For the ops of a gradient the op whose derivative they are.
    loss_terms : dict of Model to list of LossTerm
    values : dict of Variable to array
        The last value of each variable that was told.
    seen_layers : set of Layer
    told_ops : set of Tensor
        Outputs of the ops that were told when they were made.
    """

    def __init__(self, statistics_only: bool) -> None:
        self.statistics_only = statistics_only
        self.describer = Describer()
        self.facts_of: weakref.WeakKeyDictionary[Function, TrainFacts] = weakref.WeakKeyDictionary()
        self.swept_of: weakref.WeakKeyDictionary[Function, dict[Apply, Apply]] = (
            weakref.WeakKeyDictionary()
        )
        self.plans: weakref.WeakKeyDictionary[Function, Any] = weakref.WeakKeyDictionary()
        self.inner_calls: weakref.WeakKeyDictionary[Function, Any] = weakref.WeakKeyDictionary()
        self.loss_terms: weakref.WeakKeyDictionary[Any, list[LossTerm]] = (
            weakref.WeakKeyDictionary()
        )
        self.values: weakref.WeakKeyDictionary[Variable, np.ndarray] = weakref.WeakKeyDictionary()
        self.seen_layers: weakref.WeakSet[Any] = weakref.WeakSet()
        self.told_ops: weakref.WeakSet[Tensor] = weakref.WeakSet()
        self._models: list[weakref.ref[Any]] = []
        self._twins: weakref.WeakKeyDictionary[Function, list[Variable]] = (
            weakref.WeakKeyDictionary()
        )
        self._twin_values: dict[int, list[np.ndarray]] = {}
        self.figures = Figures()

    def beside(self) -> Memory:
        """Return a memory that knows the same models and functions, and no values yet."""
        other = copy(self)
        other.statistics_only = False
        other.values = weakref.WeakKeyDictionary()
        other._twin_values = {}
        other.figures = Figures()
        return other

    # --- variables of one name --------------------------------------------------------------------

    def twins(self, function: Function) -> list[Variable]:
        """Return the variables of a function that have not a name of their own.

        A Dropout that is called twice has two counts of draws of one name, for example.
        """
        found = self._twins.get(function)
        if found is None:
            variables = [v for _, v in function.schedule.variables]
            variables = list(dict.fromkeys([*variables, *(u.variable for u in function.updates)]))
            counts = Counter(v.name for v in variables)
            found = self._twins[function] = [v for v in variables if counts[v.name] > 1]
        return found

    def note_twins(self, function: Function, t: int) -> None:
        """Keep what the tape cannot tell apart of a call that begins: twins, if they are small."""
        values = [v.get_value(borrow=True) for v in self.twins(function)]
        if values and sum(value.size for value in values) <= MOST_OF_TWINS:
            self._twin_values[t] = values
            if len(self._twin_values) > MOST_CALLS_OF_TWINS:
                self._twin_values.pop(next(iter(self._twin_values)))

    def twin_values(self, function: Function, t: int) -> dict[Variable, np.ndarray]:
        """Return the values of the twins when a call began at a time, as far as they were kept."""
        values = self._twin_values.get(t)
        return {} if values is None else dict(zip(self.twins(function), values, strict=True))

    # --- models and functions ---------------------------------------------------------------------

    def know(self, model: Any) -> None:
        """Remember a model, so that its functions are known when they are called."""
        if all(reference() is not model for reference in self._models):
            self._models = [r for r in self._models if r() is not None]
            self._models.append(weakref.ref(model))

    def facts(self, function: Function) -> TrainFacts | None:
        """Return what is known of a function: whose it is, and what its tensors stand for."""
        found = self.facts_of.get(function)
        if found is None:
            model = self._model_of(function)
            if model is not None:
                found = self.facts_of[function] = facts_of_model(model, self.loss_terms.get(model))
                found.updates += updates_by_scope(function, model)
                found.arrivals += [Arrival(u.param, u.gradient, True) for u in found.updates]
        return found

    def _model_of(self, function: Function) -> Any:
        for reference in self._models:
            model = reference()
            if any(getattr(model, name, None) is function for name in FUNCTIONS):
                return model
        return None

    # --- values -----------------------------------------------------------------------------------

    def payload(self, value: Any) -> Any:
        """Return what is kept of an array that nobody writes into, or of anything else."""
        if value.__class__ is np.ndarray and self.statistics_only:  # what comes most
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
        """Return what is kept of an array, or a list of numbers, that somebody may write into."""
        is_writable = isinstance(value, (list, tuple, np.ndarray))
        return self.payload(np.array(value) if is_writable else value)


def updates_by_scope(function: Function, model: Any) -> list[ParameterUpdate]:
    """Return which gradient and which new values belong to each parameter, told by their scopes.

    For a function that was made before anybody listened.
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


def _is_gradient(x: Tensor) -> bool:
    scope = x.owner.scope.name if x.owner is not None else ""
    return scope.partition("/")[0] in ("gradients", "clip")


def facts_of_model(model: Any, loss_terms: list[LossTerm] | None) -> TrainFacts:
    """Return the facts of a model; of one that is not compiled, those of its graph alone."""
    if getattr(model, "total_loss", None) is not None:
        return TrainFacts(model, loss_terms or [])
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
    return TrainFacts(graph, [])


def keys_by_node(ids: dict[Node, str]) -> dict[Tensor, str]:
    """Return the keys of a `tensor_map`: the ids of pictures, "dense_1" or "shared@1".

    Several outputs of one call are numbered: "lstm_1:0".
    """
    keys = {}
    for node, name in ids.items():
        several = len(node.output_tensors) > 1
        for index, tensor in enumerate(node.output_tensors):
            keys[tensor] = f"{name}:{index}" if several else name
    return keys
