"""The caption of each step: a sentence with the numbers of the step, and a reason if known.

A caption is the key of a template and the words for its placeholders, so that a sentence is stored
once for all languages. Rules choose the template by the kind of the event. For a call, they use its
layer and the last op that the call computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kerascope.engine.node_ids import layer_of
from kerascope.player.sentences import MEANINGS, SENTENCES
from kerascope.trace.events import BEGIN, Event
from kerascope.trace.history import value_of_event
from kerascope.trace.run_state import RunSpan, RunState, first_of
from kerascope.trace.statistics import Statistics, figure, norm_of, statistics_of

FEW = 6  # numbers of an array that a sentence lists
MINUS = "\N{MINUS SIGN}"
MOST_NAMES = 4  # names in a list of a sentence
RUNNING = ("forward", "loss", "backward", "update", "commit")
SQUASHING = ("sigmoid", "tanh", "softmax", "softplus", "elu", "selu", "gelu", "swish", "silu")

Caption = list[str]


class Narrator:
    """Writes a caption for each event of a tape. Call `tell` with the events in order.

    Parameters
    ----------
    sources : mapping of str to sequence of str
        For each call, the calls whose outputs it takes.
    """

    def __init__(self, sources: Mapping[str, Sequence[str]] | None = None) -> None:
        self._sources = sources or {}
        self._state = RunState()

    def tell(self, event: Event) -> Caption:
        """Return the caption of the next event: a key of `SENTENCES`, and the words for it."""
        span = self._state.feed(event)
        if span is None:
            return self._instant(event)
        if event.ph == BEGIN:
            return self._begins(event)
        error = value_of_event(event, "error")
        return ["failed", event.name, _text(error)] if error else self._ends(event, span)

    # --- begins of spans --------------------------------------------------------------------------

    def _begins(self, event: Event) -> Caption:
        if event.kind == "function" and self._state.values:
            fed = value_of_event(event, "inputs")
            names = value_of_event(event, "feed_names")
            pairs = zip(names or (), fed or (), strict=False)
            words = [f"{name} = {as_text(x)}" for name, x in pairs if not _is_hidden(name)]
            return ["fed", _listed(words)] if words else ["runs", event.name]
        if event.kind == "node" and event.phase == "forward":
            return ["call.begins", event.name, self._inputs_of(self._box_of(event), event)]
        if event.kind == "node" and event.phase == "backward":
            arrived = self._state.gradients.get(event.name)
            if arrived is None:
                is_call = value_of_event(event, "layer") is not None
                return ["grad.begins.unknown" if is_call else "slope.begins", event.name]
            return ["grad.begins", event.name, as_text(arrived)]
        if event.kind == "op" and event.phase in RUNNING:
            return ["op.begins", _short(event.name), _kind_of(event), _inputs_text(event)]
        if event.kind == "update.param":
            return ["update.begins", event.name, as_text(value_of_event(event, "g"))]
        if event.kind in RUNNING and event.act not in ("build", "compile"):
            return ["kind.update.alone"] if event.kind == "update" else [f"{event.kind}.begins"]
        return _meaning(event)

    def _box_of(self, event: Event) -> str:
        """Return the box of a call. In a nested model, box names begin with the model's name."""
        calls = [span.begin for span in self._state.spans if span.begin.kind == "node"]
        around = [one.name for one in calls if one is not event and one.phase == event.phase]
        path = "/".join([*around, event.name])
        return path if path in self._sources else event.name

    def _inputs_of(self, name: str, begin: Event) -> str:
        values = self._state.values
        words = [
            f"{source} = {as_text(values[source])}" if source in values else source
            for source in self._sources.get(name, ())
        ]
        return _listed(words) or _inputs_text(begin)  # for a call inside a box of the picture

    # --- ends of spans ----------------------------------------------------------------------------

    def _ends(self, event: Event, span: RunSpan) -> Caption:
        if event.kind == "node" and event.phase == "forward":
            return self._called(event, span)
        if event.kind == "node" and event.phase == "backward":
            return self._went_back(event, span)
        if event.kind == "op" and event.phase in RUNNING:
            return self._computed(event, span)
        if event.kind == "update.param":
            return self._updated(event, span)
        if event.kind == "loss":
            is_known = self._state.loss is not None and event.act != "compile"
            return ["loss.done", as_text(self._state.loss)] if is_known else _meaning(event)
        if event.kind == "function" and self._state.loss is not None and self._state.gradients:
            return ["step.done", as_text(self._state.loss)]
        if event.kind in RUNNING and event.act not in ("build", "compile"):
            return [f"{event.kind}.done"]
        return _meaning(event)

    def _called(self, event: Event, span: RunSpan) -> Caption:
        name, result = event.name, first_of(value_of_event(event, "result"))
        box = self._box_of(event)
        self._state.values.setdefault(box, result)  # no other event has it inside a nested model
        inputs, gives = self._inputs_of(box, span.begin), as_text(result)
        kind = getattr(value_of_event(span.begin, "layer"), "kind", "")
        last, before, _ = span.ops[-1] if span.ops else ("", None, None)
        first = _first(before)
        if last == "relu" and _is_known(first) and _is_known(result):
            silent = int((np.asarray(result) <= 0).sum())
            if np.size(result) <= FEW:
                return ["call.relu", name, inputs, as_text(first), gives]
            return ["call.relu.many", name, inputs, gives, f"{silent:,}", f"{np.size(result):,}"]
        if last in SQUASHING and _is_known(first):
            key = "call.softmax" if last == "softmax" else "call.squashed"
            return [key, name, inputs, as_text(first), last, gives]
        if kind in SENTENCES_OF_LAYERS and _is_known(result):
            zeros = int((np.asarray(result) == 0).sum())
            key = SENTENCES_OF_LAYERS[kind]
            return [key, name, inputs, gives, str(zeros), f"{np.size(result):,}"]
        if kind in ("Dense", "Conv1D", "Conv2D") and last == "add":
            return [f"call.{kind.lower()}", name, inputs, gives]
        return ["call", name, inputs, gives]

    def _computed(self, event: Event, span: RunSpan) -> Caption:
        kind, result = _kind_of(event), value_of_event(event, "result")
        reads, gives = _inputs_text(span.begin), as_text(result)
        made = event.where.made
        if event.phase == "backward" and made is not None and made.gradient_of:
            if kind == "multiply" and made.gradient_of.endswith("relu"):
                grad, slope = _pair(value_of_event(span.begin, "inputs"))
                split = _stopped(grad, slope)
                if split:
                    return [f"op.relu.back{_missing(split)}", *split, gives]
            named = [name for name, _ in span.arrived]
            named += [str(d.key) for d in event.deltas if d.name == "grads" and d.key is not None]
            if named:
                return [_zero("op.back.named", result), kind, gives, _listed(dict.fromkeys(named))]
            return ["op.back", kind, made.gradient_of, gives]
        inputs = value_of_event(span.begin, "inputs") or ()
        if f"op.{kind}.two" in SENTENCES and len(inputs) == 2:
            return [f"op.{kind}.two", kind, *map(as_text, inputs), gives]
        key = f"op.{kind}" if f"op.{kind}" in SENTENCES else "op"
        return [key, _short(event.name), kind, reads, gives]

    def _went_back(self, event: Event, span: RunSpan) -> Caption:
        name, kind = event.name, getattr(value_of_event(span.begin, "layer"), "kind", "")
        arrived = self._state.gradients.get(name)
        parts = [f"d {key} = {as_text(value)}" for key, value in span.arrived if key != name]
        if kind == "" and arrived is None:
            return ["slope", name, _listed(parts)] if parts else ["slope.inner", name]
        if arrived is not None and _is_zero(arrived):
            return ["grad.zero", name]
        weights = [(key, value) for key, value in span.arrived if "/" in key]
        if kind == "Add" and arrived is not None:
            return ["grad.add", name, as_text(arrived), _listed(self._sources.get(name, ()))]
        split = None
        for op, reads, _ in span.ops:
            if op == "multiply":
                split = split or _stopped(*_pair(reads))
        slopes = any(op == "relu_slope" for op, _, _ in span.ops)
        if split and slopes:
            key = "grad.relu" + ("" if parts else ".last")
            return [f"{key}{_missing(split)}", name, *split, _listed(parts)]
        if arrived is None:
            return ["grad.weights", name, _listed(parts)] if parts else ["grad.passed", name]
        if weights and all(_is_zero(value) for _, value in weights):
            return ["grad.dead", name, as_text(arrived), _listed(key for key, _ in weights)]
        return ["grad" if parts else "grad.last", name, as_text(arrived), _listed(parts)]

    def _updated(self, event: Event, span: RunSpan) -> Caption:
        old, new = value_of_event(span.begin, "p"), value_of_event(event, "new_p")
        grad = value_of_event(span.begin, "g")
        if not (_is_known(old) and _is_known(new)):
            return ["update.unknown", event.name]
        change = norm_of(np.asarray(new, "float64") - np.asarray(old, "float64"))
        if not change:
            return [_zero("update.stays", grad), event.name, as_text(old)]
        if np.size(old) <= FEW:
            return ["update", event.name, *map(as_text, (old, new, grad)), self._rate()]
        share = f"{figure(100 * change / norm_of(old), digits=2)} %" if norm_of(old) else ""
        key = "update.many" if share else "update.from_zero"
        return [key, event.name, figure(change), share, self._rate()]

    def _rate(self) -> str:
        return "" if self._state.rate is None else _number(self._state.rate)

    def _instant(self, event: Event) -> Caption:
        if event.kind != "update.apply":
            return _meaning(event)
        old, new = value_of_event(event, "old"), value_of_event(event, "new")
        if new is None:
            new = next((d.value for d in event.deltas if d.key == event.name), None)
        if old is None or new is None:
            return ["commit", event.name, as_text(new)]
        if _is_known(old) and _is_known(new) and np.array_equal(old, new):
            return ["commit.same", event.name, as_text(new)]
        return ["commit.from", event.name, as_text(old), as_text(new)]


# The templates for layers that are not described by an op.
SENTENCES_OF_LAYERS = {
    "Add": "call.add", "Concatenate": "call.concatenate", "Dropout": "call.dropout",
    "Flatten": "call.reshape", "Reshape": "call.reshape", "MaxPooling2D": "call.maxpool",
    "BatchNormalization": "call.batchnorm", "Embedding": "call.embedding",
    "InputLayer": "call.input", "GlobalAveragePooling2D": "call.average",
    "AveragePooling2D": "call.average", "LSTM": "call.recurrent", "GRU": "call.recurrent",
    "SimpleRNN": "call.recurrent",
}  # fmt: skip


def sources_of(edges: Sequence[Any]) -> dict[str, list[str]]:
    """Return, for each box, the boxes from which arrows point to it, in order."""
    found: dict[str, list[str]] = {}
    for edge in edges:
        found.setdefault(edge.target, []).append(edge.source)
    return found


def as_text(value: Any) -> str:
    """Return a value as text: a few numbers, or the shape and the norm of a larger array.

    Examples
    --------
    >>> as_text(np.array([[1.5, 3.0]])), as_text(np.zeros((32, 20))), as_text(2.0)
    ('[1.5, 3]', '(32, 20) ‖·‖ 0', '2')
    """
    value = first_of(value)
    if isinstance(value, Statistics):
        shape = value.kind.partition("[")[2].rstrip("]").replace(",", ", ")
        return f"({shape}) {_sized(value)}"
    if not _is_known(value):
        return _text(value)
    array = np.asarray(value)
    if not array.ndim:
        return _number(array)
    if array.size > FEW:
        return f"{array.shape} {_sized(statistics_of(array))}"
    while array.ndim > 1 and array.shape[0] == 1:
        array = array[0]
    return _nested(array)


def _nested(array: np.ndarray) -> str:
    parts = [_nested(part) if part.ndim else _number(part) for part in array]
    return f"[{', '.join(parts)}]"


def _number(value: Any) -> str:
    if not _is_known(value):
        return _text(value)
    return figure(float(np.asarray(value))).replace("-", MINUS)


def _sized(found: Statistics) -> str:
    if not found.is_sound:
        return f"{found.nans + found.infinities} NaN/Inf!"
    return f"‖·‖ {figure(found.norm)}"


def _is_hidden(name: str) -> bool:
    """Return whether captions omit an input: the sample weights and the learning phase."""
    return "sample_weights" in name or "learning_phase" in name


def _text(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:59]}…"


def _first(values: Any) -> Any:
    return values[0] if isinstance(values, (tuple, list)) and values else values


def _pair(values: Any) -> tuple[Any, Any]:
    found = tuple(values) if isinstance(values, (tuple, list)) else ()
    return found if len(found) == 2 else (None, None)


def _is_known(value: Any) -> bool:
    """Return whether a value is a number or a numeric array, and not its recorded statistics."""
    if isinstance(value, (bool, int, float)):
        return True
    return isinstance(value, (np.ndarray, np.generic)) and np.asarray(value).dtype.kind in "fiub"


def _is_zero(value: Any) -> bool:
    return _is_known(value) and not np.any(value)


def _zero(key: str, value: Any) -> str:
    return f"{key}.zero" if _is_zero(value) else key


def _stopped(one: Any, other: Any) -> list[str] | None:
    """Return which gradients pass an activation such as relu and which are stopped, as two texts.

    One of the two arrays contains the slopes of the activation, which are zeros and ones. The other
    contains the gradients, which pass where the slope is 1. Large arrays are described by counts.
    Return None if an array is unknown, the shapes differ, or neither array consists of zeros and
    ones.
    """
    if not (_is_known(one) and _is_known(other)) or np.shape(one) != np.shape(other):
        return None
    slope, grad = (np.asarray(x, "float64") for x in (other, one))
    if not np.isin(slope, (0.0, 1.0)).all():
        slope, grad = grad, slope
    if not slope.size or not np.isin(slope, (0.0, 1.0)).all():
        return None
    through, held = grad[slope == 1], grad[slope == 0]
    if grad.size <= FEW:
        return [_some(through), _some(held)]
    passed = f"{through.size:,} / {grad.size:,}" if through.size else ""
    return [passed, f"{held.size:,}" if held.size else ""]


def _some(numbers: np.ndarray) -> str:
    return ", ".join(_number(number) for number in numbers)


def _missing(split: list[str]) -> str:
    """Return the end of the key of a caption about the gradients that pass an activation.

    It is ".all" if all gradients pass, ".none" if none of them does, and otherwise "".
    """
    through, held = split
    return "" if through and held else ".all" if through else ".none"


def _listed(words: Any) -> str:
    found = list(words)
    more = f", … (+{len(found) - MOST_NAMES})" if len(found) > MOST_NAMES else ""
    return ", ".join(found[:MOST_NAMES]) + more


def _kind_of(event: Event) -> str:
    return str(value_of_event(event, "op") or event.kind)


def _inputs_text(event: Event) -> str:
    return _listed(as_text(x) for x in value_of_event(event, "inputs") or ()) or "—"


def _short(name: str) -> str:
    return name.removeprefix("gradients/").removeprefix("update/")


def _meaning(event: Event) -> Caption:
    """Return the general caption for the kind of an event, which special rules may replace."""
    key = f"kind.{event.kind}"
    name = layer_of(event.name) if event.kind == "node.create" else event.name
    if event.kind not in MEANINGS:
        return ["said", name or event.kind]
    return [key, name] if name and name != event.kind else [f"{key}.alone"]
