"""Conditions by name, for `catch`: what goes wrong in training, found where it begins.

=====================  ============================================================================
`nan`, `inf`           stops at the producer: this value comes out, and did not go in; or where it
                       comes from outside: with data, a variable or a constant
`exception`            something failed
`dead`                 a ReLU gives 0 for the whole batch
`vanishing<1e-3`       a gradient's norm is below this part of the greatest of this backward pass
`exploding>1e3`        it is above this multiple of the first of this pass, or of the greatest of
                       the pass before
`stuck<1e-7`           a commit changed a weight by less than this, relatively, or
`stuck>10`             the loss has not changed over more than so many batches
`ratio>0.1`            a weight's relative change at a commit, ‖update‖ / ‖weight‖, is above this
=====================  ============================================================================

The numbers are what is meant where none is given; `stuck` asks both questions.

What they look at is written in `symptoms.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.events import BEGIN, Event
from kerascope.trace.sources import History
from kerascope.trace.symptoms import SYMPTOMS, brings_finite_numbers


class Finding(NamedTuple):
    """What a condition found: its name, the time, the tensor or weight, and a sentence."""

    condition: str
    t: int
    name: str
    text: str


@dataclass(frozen=True)
class Condition:
    """A condition with its thresholds.

    Attributes
    ----------
    name : str
    below, above : float
        What `<` and `>` behind the name set; infinite where the condition has no such threshold.
    """

    name: str
    below: float = -math.inf  # not nan: two conditions without a threshold are equal
    above: float = math.inf

    def find(self, event: Event, events: History) -> Finding | None:
        """Return what is wrong at an event, or None.

        Parameters
        ----------
        event : Event
        events : History
            The history; only what lies before the event is read.
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
    """Return the conditions that a text lists, with commas between them.

    Parameters
    ----------
    text : str
    before : mapping of str to Condition
        Whose thresholds stay where the text sets none.

    Raises
    ------
    ArgumentError
        A name is unknown, or a threshold makes no sense.

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
        told = f"unknown condition {name!r}. {did_you_mean(name, DEFAULTS)}" if name else "got "
        told += "" if name else "no condition. "
        raise ArgumentError(f"catch: {told}Expected some of {listed}.")
    return name, read[2] or "", read[3] or ""


def _with_threshold(condition: Condition, sign: str, number: str) -> Condition:
    field = "below" if sign == "<" else "above"
    if math.isinf(getattr(condition, field)):
        own = DEFAULTS[condition.name]
        raise ArgumentError(f"catch: {own.name}{sign}{number} has no meaning; expected {own}.")
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
    """The conditions that are caught in a session, by name.

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
        self._asks_for_numbers_only = True  # so one look at an array answers all

    def __iter__(self) -> Iterator[Condition]:
        return iter(self._conditions.values())

    def __len__(self) -> int:
        return len(self._conditions)

    def add(self, text: str) -> list[Condition]:
        """Catch what a text lists; return it. A threshold that was set before is kept.

        Raises
        ------
        ArgumentError
            The text makes no sense; nothing has changed.
        """
        chosen = parse_conditions(text, self._conditions)
        self._conditions.update((condition.name, condition) for condition in chosen)
        self._asks_for_numbers_only = self._conditions.keys() <= {"nan", "inf"}
        return chosen

    def remove(self, *names: str) -> list[Condition]:
        """Catch some no longer, or none; return what they were.

        Raises
        ------
        ArgumentError
            A name is not among them.
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
        """Return all that is wrong at an event."""
        if event.ph == BEGIN and event.kind != "function":
            return []  # nothing has come of it yet; only a function may be fed what is wrong
        if self._asks_for_numbers_only and brings_finite_numbers(event):
            return []
        found = []
        for condition in self._conditions.values():
            finding = condition.find(event, events)
            if finding is not None:
                found.append(finding)
        return found
