"""Conditions by name, for `catch`: problems of training, found where they begin.

=====================  ============================================================================
`nan`, `inf`           an op or layer has such a value in its output, but not in its inputs; or
                       fed data, a variable or a constant brings one in
`exception`            a span ended with an error
`dead`                 a ReLU returns 0 for the whole batch
`vanishing<1e-3`       a gradient's norm is below this fraction of the largest in this backward pass
`exploding>1e3`        a gradient's norm is above this multiple of the first norm in this backward
                       pass, or of the largest in the previous backward pass
`stuck<1e-7`           a weight's relative change at a commit is below this, or
`stuck>10`             the loss stayed the same over more than this number of batches
`ratio>0.1`            a weight's relative change at a commit, ‖update‖ / ‖weight‖, is above this
=====================  ============================================================================

The numbers shown are the default thresholds. `stuck` checks both of its thresholds.

Whether a condition holds at an event depends only on this event and the events before it. So a
problem is found forward, backward and in a replay. The conditions read these deltas (names with
values) of the events:

- `inputs` (arrays) and `out` or `result` (an array or several), of an op or a node; `inputs` may
  belong to the start of the span. `inputs` at the start of a function are its fed arrays, with the
  names `feed_names`;
- `constants`, a dict, at the start of an op that reads constants which are not finite;
- `op`, the op's name, at an op or its start;
- `grads`, an array with the tensor's name as the key, or a dict of them, where gradients arrive;
- `old` and `new`, arrays, at kind "update.apply"; `params`, the names of the trained weights, at
  the start of the function;
- `weights`, an array with the weight's name as the key, where it is created or set, and at the
  begin of the first function that reads it;
- `total_loss`, a number, where it has been computed;
- `error`, an `ErrorRef`, at the end of a span that failed.

Each condition is implemented by a function of the event, the history, and the two thresholds (`<`
and `>`). It returns a sentence that describes the problem, or "" if the condition does not hold.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.events import BEGIN, END, FORGOTTEN, Event
from kerascope.trace.history import (
    OF_THE_OUTPUT,
    History,
    before,
    landmarks_of,
    last_before,
    value_of_event,
    value_of_span,
)
from kerascope.trace.records import listed
from kerascope.trace.selectors import op_name
from kerascope.trace.snapshots import ErrorRef
from kerascope.trace.statistics import (
    NUMBERS,
    Statistics,
    count_inf,
    count_nan,
    figure,
    is_finite,
    norm,
    parts,
    relative_change,
)


class Finding(NamedTuple):
    """A problem of the training: the condition that found it, its time, tensor and description."""

    condition: str
    t: int
    name: str
    text: str


@dataclass(frozen=True)
class Condition:
    """A condition for `catch`, such as `nan` or `exploding>1e3`, with its thresholds.

    Attributes
    ----------
    name : str
        The name of the condition, such as "exploding".
    below, above : float
        The thresholds after `<` and `>`; infinite if the condition has no such threshold.
    """

    name: str
    below: float = -math.inf  # not nan: two conditions without a threshold are equal
    above: float = math.inf

    def find(self, event: Event, events: History) -> Finding | None:
        """Return the problem at an event; None if the condition does not hold.

        Parameters
        ----------
        event : Event
        events : History
            The history; only the events before this one are read.
        """
        text = SYMPTOMS[self.name](event, events, self.below, self.above)
        return Finding(self.name, event.t, event.name, text) if text else None

    def __str__(self) -> str:
        below = "" if math.isinf(self.below) else f"<{self.below:g}"
        above = "" if math.isinf(self.above) else f">{self.above:g}"
        both = f", {self.name}" if below and above else ""
        return f"{self.name}{below}{both}{above}"


NONE: Mapping[str, Condition] = {}
DEFAULTS = {
    condition.name: condition
    for condition in (
        Condition("nan"),
        Condition("inf"),
        Condition("exception"),
        Condition("dead"),
        Condition("vanishing", below=1e-3),
        Condition("exploding", above=1e3),
        Condition("stuck", below=1e-7, above=10),
        Condition("ratio", above=0.1),
    )
}


def parse_conditions(text: str, before: Mapping[str, Condition] = NONE) -> list[Condition]:
    """Return the conditions in a comma-separated text.

    Parameters
    ----------
    text : str
    before : mapping of str to Condition
        Conditions whose thresholds apply when the text sets none.

    Raises
    ------
    ArgumentError
        A name is unknown, or a threshold is invalid.

    Examples
    --------
    >>> [str(condition) for condition in parse_conditions("nan, ratio>0.5, vanishing")]
    ['nan', 'ratio>0.5', 'vanishing<0.001']
    >>> parse_conditions("xploding")
    Traceback (most recent call last):
        ...
    kerascope.errors.ArgumentError: catch: unknown condition 'xploding'. Did you ...
    """
    chosen: dict[str, Condition] = {}
    for piece in text.split(","):
        name, sign, number = _pieces(piece)
        condition = chosen.get(name) or before.get(name) or DEFAULTS[name]
        chosen[name] = _with_threshold(condition, sign, number) if sign else condition
    return list(chosen.values())


def _pieces(piece: str) -> tuple[str, str, str]:
    read = re.fullmatch(r"\s*(\w*)\s*(?:([<>])\s*(.*?))?\s*", piece, re.DOTALL)
    name = read[1] if read else piece.strip()
    if read is None or name not in DEFAULTS:
        listed = ", ".join(str(condition) for condition in DEFAULTS.values())
        text = f"unknown condition {name!r}. {did_you_mean(name, DEFAULTS)}" if name else ""
        text += "" if name else "a condition is missing. "
        raise ArgumentError(f"catch: {text}Use some of: {listed}.")
    return name, read[2] or "", read[3] or ""


def _with_threshold(condition: Condition, sign: str, number: str) -> Condition:
    field = "below" if sign == "<" else "above"
    if math.isinf(getattr(condition, field)):
        own = DEFAULTS[condition.name]
        raise ArgumentError(f"catch: expected {own}, got {own.name}{sign}{number}.")
    try:
        threshold = float(number)
    except ValueError:
        threshold = math.nan
    if not 0 <= threshold < math.inf:
        raise ArgumentError(
            f"catch: {condition.name}{sign}{number}: expected a number, 0 or greater, "
            f"got {number!r}."
        )
    return (
        replace(condition, below=threshold) if sign == "<" else replace(condition, above=threshold)
    )


class Catches:
    """The conditions that a session catches, by name.

    Examples
    --------
    >>> catches = Catches()
    >>> catches.add("stuck>20")
    [Condition(name='stuck', below=1e-07, above=20.0)]
    >>> [str(condition) for condition in catches.add("stuck<1e-6, nan")]
    ['stuck<1e-06, stuck>20', 'nan']
    """

    def __init__(self) -> None:
        self._conditions: dict[str, Condition] = {}
        self._asks_for_numbers_only = True  # then one check of an array is enough

    def __iter__(self) -> Iterator[Condition]:
        return iter(self._conditions.values())

    def __len__(self) -> int:
        return len(self._conditions)

    def add(self, text: str) -> list[Condition]:
        """Catch the conditions in a text and return them. Thresholds that were set before are kept.

        Raises
        ------
        ArgumentError
            The text is invalid; nothing has changed.
        """
        chosen = parse_conditions(text, self._conditions)
        self._conditions.update((condition.name, condition) for condition in chosen)
        self._asks_for_numbers_only = self._conditions.keys() <= {"nan", "inf"}
        return chosen

    def remove(self, *names: str) -> list[Condition]:
        """Stop catching these conditions, or all of them; return the removed conditions.

        Raises
        ------
        ArgumentError
            A name is not caught.
        """
        for name in names:
            if name not in self._conditions:
                caught = ", ".join(self._conditions) or "nothing"
                near = did_you_mean(name, self._conditions)
                raise ArgumentError(f"catch: {name!r} is not caught. {near}Caught: {caught}.")
        gone = [self._conditions.pop(name) for name in dict.fromkeys(names or [*self._conditions])]
        self._asks_for_numbers_only = self._conditions.keys() <= {"nan", "inf"}
        return gone

    def findings(self, event: Event, events: History) -> list[Finding]:
        """Return the problems that the conditions find at an event."""
        if event.ph == BEGIN and event.kind != "function":
            return []  # no output yet; only a function can be fed bad numbers
        if self._asks_for_numbers_only and brings_finite_numbers(event):
            return []
        found = []
        for condition in self._conditions.values():
            finding = condition.find(event, events)
            if finding is not None:
                found.append(finding)
        return found


# --- what a condition reads -----------------------------------------------------------------------


WEIGHT_KINDS = ("weight.create", "weight.set")
NO_EXCEPTIONS = ("abandoned", "skipped")  # the stage was left open, or not needed


def _inside(event: Event, events: History) -> Iterator[Event]:
    """Yield the events in the span that `event` ends, the last first; nothing if it ends none."""
    for earlier in before(events, event.t) if event.ph == END else ():
        if earlier.depth <= event.depth or earlier.kind == FORGOTTEN:
            return
        yield earlier


def _gradients(event: Event) -> list[tuple[str, float]]:
    """Return the names and norms of the gradients that an event contains."""
    found: list[tuple[str, float]] = []
    for delta in event.deltas:
        if delta.name != "grads":
            continue
        arrived = delta.value
        if not isinstance(arrived, dict):
            arrived = {event.name if delta.key is None else delta.key: arrived}
        # At compile the gradients are symbols, which have no norm.
        numbers = {str(name): x for name, x in arrived.items() if [*parts(x)]}
        found += [(name, norm(x)) for name, x in numbers.items()]
    return found


def _arrived_before(event: Event, events: History) -> list[list[tuple[str, float]]]:
    """Return the gradients of the current backward pass up to `event`, and of the previous one."""
    marks = landmarks_of(events, event.t)
    begun = last_before(marks.backwards, event.t)
    this = _arrived(events, marks.gradients, -1 if begun is None else begun, event.t)
    if begun is None:
        return [this, []]
    begun_before = last_before(marks.backwards, begun)
    first = -1 if begun_before is None else begun_before
    return [this, _arrived(events, marks.gradients, first, begun)]


def _arrived(events: History, times: list[int], first: int, last: int) -> list[tuple[str, float]]:
    """Return the names and norms of the gradients recorded strictly between two times."""
    chosen = times[bisect_right(times, first) : bisect_left(times, last)]
    return [pair for t in chosen for pair in _gradients(events[t])]


def _loss(event: Event) -> float | None:
    loss: Any = value_of_event(event, "total_loss") if event.ph != BEGIN else None
    if isinstance(loss, Statistics):
        loss = loss.mean
    is_number = isinstance(loss, NUMBERS) and np.size(loss) == 1
    return float(loss) if is_number else None


def _change(event: Event, events: History) -> tuple[Any, Any] | None:
    """Return the old and the new value if an event writes a trained weight; otherwise None."""
    if event.kind != "update.apply":
        return None
    old, new = value_of_event(event, "old"), value_of_event(event, "new")
    if old is None or new is None or event.name not in _parameters(event, events):
        return None
    return old, new


def _parameters(event: Event, events: History) -> list[str]:
    """Return the names of the weights that a function trains.

    `event` is an event in which the function writes a weight.
    """
    begun = last_before(landmarks_of(events, event.t).calls, event.t)
    return [event.name] if begun is None else value_of_event(events[begun], "params") or []


# --- the conditions -------------------------------------------------------------------------------


def _nan(event: Event, events: History, below: float, above: float) -> str:
    return _produced(event, events, count_nan, "NaN")


def _inf(event: Event, events: History, below: float, above: float) -> str:
    return _produced(event, events, count_inf, "infinite")


def _new_at(event: Event) -> Any:
    """Return the new arrays of an event: fed inputs, variables, or the output of an op or layer."""
    if event.ph == BEGIN:
        is_call = event.kind == "function"
        return [value for _, value in (*_fed(event), *_variables(event))] if is_call else None
    if event.kind in WEIGHT_KINDS:
        return [value for _, value in _variables(event)]
    return value_of_event(event, *OF_THE_OUTPUT)


def _fed(event: Event) -> list[tuple[str, Any]]:
    """Return (name, array) for each input of a function call; unnamed inputs are "input 0", ..."""
    arrays = value_of_event(event, "inputs") or ()
    names = value_of_event(event, "feed_names") or [f"input {i}" for i in range(len(arrays))]
    return list(zip(names, arrays, strict=False))  # two may have one name


def _variables(event: Event) -> list[tuple[str, Any]]:
    """Return (name, array) for each weight among the deltas of an event."""
    return [(str(d.key), d.value) for d in event.deltas if d.name == "weights"]


def _was_recorded(event: Event, events: History) -> bool:
    """Return whether an event "weight.set" repeats a weight that the event before it contains.

    Other events "weight.set" directly before it are skipped.
    """
    earlier = next((e for e in before(events, event.t) if e.kind != "weight.set"), None)
    if event.kind != "weight.set" or earlier is None:
        return False
    return any(name == event.name for name, _ in _variables(earlier))


def _has_been_called(event: Event, events: History) -> bool:
    """Return whether the function that is running at an event was called before."""
    calls = landmarks_of(events, event.t).calls
    this = last_before(calls, event.t)
    if this is None:
        return False
    return any(events[t].name == events[this].name for t in calls if t < this)


def _in_this_call(event: Event, events: History) -> Iterator[Event]:
    """Yield the earlier events of the function call that contains `event`, the last first."""
    is_over = event.ph == BEGIN or event.kind in WEIGHT_KINDS
    for earlier in before(events, event.t):
        if is_over:
            return
        is_over = earlier.kind == "function" and earlier.ph == BEGIN
        yield earlier


def brings_finite_numbers(event: Event) -> bool:
    """Return whether it is certain that an event has no NaN or infinite output.

    The result is False for the start of a span and for the kinds in `WEIGHT_KINDS`.
    """
    if event.ph == BEGIN or event.kind in WEIGHT_KINDS:
        return False
    for name, key, value in event.deltas:
        if key is None and name in OF_THE_OUTPUT:
            if value.__class__ is np.ndarray:
                return is_finite(value)
            return isinstance(value, np.floating | np.integer) and math.isfinite(value)
    return True


def _produced(event: Event, events: History, count: Callable[[Any], int], word: str) -> str:
    out = _new_at(event)
    if out is None or not count(out):
        return ""
    if event.ph == BEGIN:
        return _brought_in(event, count, word)
    inputs = value_of_span(event, events, "inputs")
    constants = (value_of_span(event, events, "constants") or {}) if count(inputs) else {}
    spoilt = [name for name, constant in constants.items() if count(constant)]
    if spoilt and (word == "infinite" or _has_been_called(event, events)):
        return ""  # infinite on purpose, as in a mask; NaN is reported when its constant is read
    if spoilt:  # no earlier event reported the constant
        origin = f"{word} comes in with the constant {', '.join(spoilt)}"
        return f"{_how_many(out, count)} {word} in {event.name}; {origin}"
    if count(inputs) or any(count(_new_at(inner)) for inner in _inside(event, events)):
        return ""  # an input has such numbers, or an inner op was reported already
    if inputs is None and any(count(_new_at(earlier)) for earlier in _in_this_call(event, events)):
        return ""  # the inputs were not recorded, but an earlier op is the likelier producer
    if _was_recorded(event, events):
        return ""
    origin = "it comes from outside" if inputs is None else "none went in"
    weights = value_of_span(event, events, "parameters") or {}  # of models of other libraries
    spoilt = [name for name, weight in weights.items() if count(weight)]
    if spoilt:
        origin = f"{word} comes in with its weight {', '.join(spoilt)}"
    elif inputs is not None and any(weight is None for weight in weights.values()):
        origin = "none went in with its inputs; its weights are not recorded"
    if word == "NaN" and inputs is not None and count_inf(inputs):
        origin = "infinite numbers went in; catch inf finds them"
    return f"{_how_many(out, count)} {word} in {event.name}; {origin}"


def _how_many(value: Any, count: Callable[[Any], int]) -> str:
    """Return the result of `count` for a value, and the number of elements, as the text "1 of 32".

    The text is only "1" if the tape has statistics in place of the arrays.
    """
    sizes = sum(np.size(part) for part in parts(value) if not isinstance(part, Statistics))
    return f"{count(value)} of {sizes}" if sizes else f"{count(value)}"


def _brought_in(event: Event, count: Callable[[Any], int], word: str) -> str:
    """Return a message that lists the fed arrays and the variables that contain NaN or infinity.

    For a fed array, the message also has the rows of the batch. `count` counts the bad numbers in a
    value, and `word` names them: "NaN" or "inf".
    """
    found = []
    for name, value in _fed(event):
        if count(value):
            part = f"{name}, an input of {event.name}: {_how_many(value, count)}"
            if isinstance(value, np.ndarray) and value.ndim:
                rows = [row for row, numbers in enumerate(value) if count(numbers)]
                part += f", row{'' if len(rows) == 1 else 's'} {listed(rows, 4)} of the batch"
            found.append(part)
    for name, value in _variables(event):
        if count(value):
            found.append(f"the variable {name}: {_how_many(value, count)}")
    return f"{word} comes in with {'; and with '.join(found)}"


def _exception(event: Event, events: History, below: float, above: float) -> str:
    error = value_of_event(event, "error")
    if not isinstance(error, ErrorRef) or error.kind in NO_EXCEPTIONS:
        return ""
    inner = next(_inside(event, events), None)
    if inner is not None and value_of_event(inner, "error") == error:
        return ""  # it passes through; it was raised further inside
    return f"{event.name or event.kind}: {error}"


def _dead(event: Event, events: History, below: float, above: float) -> str:
    if event.ph == BEGIN or event.grain != "op" or op_name(event, events) != "relu":
        return ""
    outs = list(parts(value_of_event(event, *OF_THE_OUTPUT)))
    arrays = [out for out in outs if np.size(out)]
    if not arrays or any(norm(out) != 0 for out in arrays):
        return ""
    return f"{event.name} is 0 for the whole batch"


def _vanishing(event: Event, events: History, below: float, above: float) -> str:
    arrived = _gradients(event)
    if not arrived:
        return ""
    earlier = _arrived_before(event, events)[0]
    greatest_name, greatest = max([*earlier, *arrived], key=lambda pair: _finite(pair[1]))
    for name, size in arrived:
        if size == 0:
            return f"the gradient of {name} is 0 everywhere"
        if size < below * greatest:
            part = figure(size / greatest, 2)
            return (
                f"|gradient| of {name} is {figure(size)}, {part} of the greatest: "
                f"{figure(greatest)} at {greatest_name}"
            )
    return ""


def _finite(number: float) -> float:
    return number if math.isfinite(number) else -1.0


def _exploding(event: Event, events: History, below: float, above: float) -> str:
    arrived = _gradients(event)
    if not arrived:
        return ""
    this, pass_before = _arrived_before(event, events)
    first = next((pair for pair in [*this, *arrived] if pair[1] > 0), None)
    greatest = max(pass_before, key=lambda pair: _finite(pair[1]), default=None)
    for name, size in arrived:
        for which, reference in (
            ("the first", first),
            ("the greatest of the pass before", greatest),
        ):
            if reference and reference[1] > 0 and size > above * reference[1]:
                times = figure(size / reference[1])
                return (
                    f"|gradient| of {name} is {figure(size)}, {times} times {which}: "
                    f"{figure(reference[1])} at {reference[0]}"
                )
    return ""


def _stuck(event: Event, events: History, below: float, above: float) -> str:
    change = _change(event, events)
    if change is not None:
        relative = relative_change(*change)
        if relative is not None and relative < below:
            return f"{event.name} changed by {figure(relative)} of itself"
        return ""
    loss = _loss(event)
    if loss is None:
        return ""
    same, wanted = 0, int(above)
    times = landmarks_of(events, event.t).losses
    for t in reversed(times[: bisect_left(times, event.t)]):
        earlier = _loss(events[t]) if events[t].name == event.name else None
        if earlier is None:
            continue
        if earlier != loss:
            return ""
        same += 1
        if same >= wanted:
            return f"the loss has been {figure(loss, 6)} for {same + 1} batches"
    return ""


def _ratio(event: Event, events: History, below: float, above: float) -> str:
    change = _change(event, events)
    if change is None or not all(isinstance(x, np.ndarray | np.generic) for x in change):
        return ""
    relative = relative_change(*change)
    # A weight that was 0 everywhere, such as a new bias, has no ratio.
    if relative is None or not relative > above or not norm(change[0]):
        return ""
    return f"the relative change of {event.name}, |update| / |weight|, is {figure(relative)}"


Symptom = Callable[[Event, History, float, float], str]
SYMPTOMS: dict[str, Symptom] = {
    "nan": _nan,
    "inf": _inf,
    "exception": _exception,
    "dead": _dead,
    "vanishing": _vanishing,
    "exploding": _exploding,
    "stuck": _stuck,
    "ratio": _ratio,
}
