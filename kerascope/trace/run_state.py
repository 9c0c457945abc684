"""RunState: the state of a run after its events so far: open spans, values and weights.

The state is computed only from the events that are passed to `feed`, in order. `kerascope trace`
(`report.py`) and the captions of the playing page choose their words by the state.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kerascope.trace.events import BEGIN, END, Event
from kerascope.trace.history import value_of_event


@dataclass(eq=False, slots=True)
class RunSpan:
    """An open span of a run, with its ops and gradients.

    Attributes
    ----------
    begin : Event
        The event that began the span.
    ops : list of (str, object, object)
        The ops that ended directly inside the span: kind, inputs and result.
    arrived : list of (str, object)
        The gradients that were completed inside the span: name and value.
    """

    begin: Event
    ops: list[tuple[str, Any, Any]] = field(default_factory=list)
    arrived: list[tuple[str, Any]] = field(default_factory=list)


class RunState:
    """The state of a run after its events so far.

    Attributes
    ----------
    spans : list of RunSpan
        The open spans, the outermost first.
    values, gradients : dict of str to array
        The outputs of layer calls, and the complete gradients, in the last call of a function, by
        name.
    weights : dict of str to array
        The last value of each variable.
    loss : object
        The last total loss; None before the first loss is computed.
    rate : object
        The last learning rate; None before the first event with a learning rate.

    Examples
    --------
    >>> from kerascope.trace.events import Delta
    >>> state = RunState()
    >>> loss = (Delta("total_loss", None, 0.5),)
    >>> span = state.feed(Event(0, "", "loss", "loss", "B", 0, "phase", "loss", deltas=loss))
    >>> state.loss, state.is_inside("loss"), span is state.spans[0]
    (0.5, True, True)
    """

    def __init__(self) -> None:
        self.spans: list[RunSpan] = []
        self.values: dict[str, Any] = {}
        self.gradients: dict[str, Any] = {}
        self.weights: dict[str, Any] = {}
        self.loss: Any = None
        self.rate: Any = None

    def feed(self, event: Event) -> RunSpan | None:
        """Update the state by an event.

        Return the span that the event begins or ends; None for an event without duration.
        """
        if event.kind == "function" and event.ph == BEGIN:
            self.values.clear()
            self.gradients.clear()
        for name, key, value in event.deltas:
            if name == "weights" and key is not None:
                self.weights[key] = value
            elif name == "tensor_map":
                pairs = {key: value} if key is not None else value
                if isinstance(pairs, dict):
                    self.values.update((str(k), first_of(x)) for k, x in pairs.items())
            elif name == "grads" and key is not None and event.phase == "backward":
                self.gradients[str(key)] = value
                for span in self.spans[-2:]:  # the op, and the layer's call around the op
                    span.arrived.append((str(key), value))
            elif name == "total_loss" and value is not None:
                self.loss = value
            elif name == "lr":
                self.rate = value
        if event.ph == BEGIN:
            self.spans.append(RunSpan(event))
            return self.spans[-1]
        if event.ph != END:
            return None
        span = self.spans.pop() if self.spans else RunSpan(event)
        if event.kind == "op" and self.spans:
            kind = str(value_of_event(event, "op") or event.kind)
            read, result = value_of_event(span.begin, "inputs"), value_of_event(event, "result")
            self.spans[-1].ops.append((kind, read, result))
        return span

    def around(self, *kinds: str) -> Event | None:
        """Return the start of the innermost open span of the given kinds, or None."""
        found = (span.begin for span in reversed(self.spans) if span.begin.kind in kinds)
        return next(found, None)

    def is_inside(self, *kinds: str) -> bool:
        """Return whether a span of the given kinds is open."""
        return self.around(*kinds) is not None

    def depth(self, kind: str) -> int:
        """Return how many open spans are of a kind."""
        return sum(span.begin.kind == kind for span in self.spans)


def first_of(value: Any) -> Any:
    """Return the first item of a non-empty tuple or list, for example of an (output, mask) pair.

    Any other value is returned unchanged.
    """
    return value[0] if isinstance(value, (tuple, list)) and value else value
