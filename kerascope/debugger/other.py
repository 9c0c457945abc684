"""`other`: the same call in another run, as in `set dense_1 = other`.

The other run is another timeline of the session, or a tape written by `record`. Two calls are the
same if they belong to the same batch of the same epoch of the same `fit`; outside `fit`, if equally
many calls of functions with the same name precede them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kerascope.debugger.evaluating import CustomNames
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.events import BEGIN, END, FORGOTTEN, SKIPPED, Event
from kerascope.trace.forks import begin_of_call
from kerascope.trace.statistics import Statistics
from kerascope.trace.tape_store import Tape

_NAMED = re.compile(r"\bother\.([^\W\d]\w*(?:[/@~]\w+)+)")


class CallKey(NamedTuple):
    """The key of a function call, by which the same call is found in another run.

    Attributes
    ----------
    function : str
        The name of the function.
    fit : int
        The number of the `fit`, from 1; 0 outside of `fit`.
    epoch, batch : str
        "epoch 0", "batch 10"; "" outside `fit`.
    number : int
        How many calls of functions with this name precede this call in its batch, or outside
        of `fit`.
    """

    function: str
    fit: int = 0
    epoch: str = ""
    batch: str = ""
    number: int = 0

    def __str__(self) -> str:
        place = f"{self.epoch} {self.batch}".strip()
        which = f"fit {self.fit} " if self.fit > 1 else ""
        number = f" call {self.number + 1}" if self.number or not place else ""
        return f"{self.function} of {which}{place}{number}" if place else self.function + number


def calls_on(tape: Tape) -> Iterator[tuple[CallKey, int, int]]:
    """Yield (key, first time, end time) for each function call on a tape, in order.

    Raises
    ------
    ArgumentError
        Events at the beginning of the run were dropped, so the calls cannot be counted.
    """
    fit, around, counts = 0, {"fit": "", "epoch": "", "batch": ""}, Counter[Any]()

    def key(function: str, batch: str) -> CallKey:
        own = (fit, around["epoch"], batch) if around["fit"] else (0, "", "")
        number = counts[function, own]
        counts[function, own] += 1
        return CallKey(function, *own, number)

    for event in list(tape):
        if event.kind == FORGOTTEN:
            raise ArgumentError("other: the beginning of the other run was dropped from its tape.")
        if event.kind == SKIPPED:
            run, begin, end = event.deltas[1].value
            name, starts = run.function.name, run.starts
            numbers = run.batches(begin, end)
            for place, (_, number, _) in zip(range(begin, end), numbers, strict=True):
                batch = around["batch"] if run.callbacks is None else f"batch {number}"
                yield key(name, batch), starts[place], starts[place + 1]
        elif event.kind in around:
            fit += event.kind == "fit" and event.ph == BEGIN
            around[event.kind] = event.name if event.ph == BEGIN else ""
        elif event.kind == "function" and event.ph == BEGIN and _is_call(event):
            yield key(event.name, around["batch"]), event.t, len(tape)


def _is_call(event: Event) -> bool:
    return any(delta.name == "feed_names" for delta in event.deltas)


class Other(CustomNames):
    """The arrays of one function call in another run, as `other` at the prompt.

    Parameters
    ----------
    tape : Tape
    label : str
        The name of the run, such as "timeline 1".
    find_key : callable
        Returns the `CallKey` of the call. It is called when the first array is needed.
    """

    def __init__(self, tape: Tape, label: str, find_key: Callable[[], CallKey]) -> None:
        self._tape = tape
        self._label = label
        self._find_key = find_key
        self._known_key: CallKey | None = None
        self._values: dict[str, Any] | None = None

    @property
    def _key(self) -> CallKey:
        if self._known_key is None:
            self._known_key = self._find_key()
        return self._known_key

    def __repr__(self) -> str:
        return f"{self._key} in {self._label}"

    def __dir__(self) -> list[str]:
        return [name for name in self._named() if name.isidentifier()]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def rewritten(self, text: str) -> str:
        """Return the text with `other.dense_1/kernel` replaced by `other['dense_1/kernel']`."""
        return _NAMED.sub(self._quoted, text)

    def _quoted(self, found: re.Match[str]) -> str:
        parts = re.split(r"([/@~])", found[1])
        for last in range(len(parts), 2, -2):
            name = "".join(parts[:last])
            if name in self:
                return f"other[{name!r}]{found[1][len(name) :]}"
        return f"other[{found[1]!r}]" if "~" in found[1] else found[0]

    def __contains__(self, name: str) -> bool:
        return name in self._named()

    def __getitem__(self, name: str) -> np.ndarray:
        """Return an array of the other run's call by its name.

        Raises
        ------
        ArgumentError
            The array is unknown, or only its statistics are kept.
        """
        wanted = re.sub(r"\[\s*(['\"])(.*)\1\s*\]$", r"[\2]", name.strip())
        values = self._named()
        if wanted not in values:
            near = did_you_mean(wanted, values) or f"Names: {', '.join(list(values)[:8])}, ... "
            raise ArgumentError(f"other: {self!r} has no {name!r}. {near}".rstrip())
        value = values[wanted]
        if isinstance(value, Statistics):
            raise ArgumentError(
                f"other: only statistics of {name} are kept in {self!r}: {value}. Record the run "
                "again after `set history 1GB`."
            )
        array = np.asarray(value).view()
        array.flags.writeable = False
        return array

    def _named(self) -> dict[str, Any]:
        if self._values is None:
            self._values = self._read()
        return self._values

    def _read(self) -> dict[str, Any]:
        found = [(first, end) for key, first, end in calls_on(self._tape) if key == self._key]
        if not found:
            raise ArgumentError(f"other: {self._label} does not reach {self._key}.")
        return values_of_call(self._tape, begin_of_call(self._tape, *found[0]))


def values_of_call(tape: Tape, begin: int) -> dict[str, Any]:
    """Return the arrays that a function call has read or computed, by name.

    If the tape ends inside the call, these are the arrays up to the end of the tape.
    """
    values: dict[str, Any] = dict(tape.names_at(begin).get("weights", {}))
    depth = tape[begin].depth
    for t in range(begin, len(tape)):
        event = tape[t]
        if t > begin and event.depth <= depth:
            break
        values.update(_values_in(event))
    return {name: x for name, x in values.items() if isinstance(x, _ARRAYS)}


_ARRAYS = (np.ndarray, np.generic, Statistics)


def _values_in(event: Event) -> Iterator[tuple[str, Any]]:
    for name, key, value in event.deltas:
        if name == "tensor_map":
            entries = value.items() if key is None else [(key, value)]
            yield from ((own, entry[0]) for own, entry in entries if isinstance(entry, tuple))
        elif name in ("grads", "updates") and key is not None:
            yield f"{name}[{key}]", value
        elif name == "total_loss" and value is not None:
            yield name, value
        elif name == "result" and event.kind == "op" and event.ph == END:
            yield event.name, value


def key_of_call(tapes: list[Tape], t: int) -> CallKey:
    """Return the key by which the function call at time `t`, or the next one, is found in a run.

    The call is taken from the first tape on which a function is called at that time or later.

    Raises
    ------
    ArgumentError
        No function is called at that time or later.
    """
    for tape in tapes:
        for key, first, end in calls_on(tape):
            begin = begin_of_call(tape, first, end) if first < t < end else first
            if t <= begin or (t < end and _reaches(tape, begin, t)):
                return key
    raise ArgumentError(f"other: no function runs at t={t} or later. Go to a batch: goto batch 10.")


def _reaches(tape: Tape, begin: int, t: int) -> bool:
    """Return whether a call that began at `begin` is still running at `t`."""
    depth = tape[begin].depth
    return all(tape[at].depth > depth for at in range(begin + 1, t))


def tape_of_file(path: str | Path) -> Tape:
    """Return a tape that `record` wrote; no code is executed.

    Raises
    ------
    ArgumentError
        The file does not exist, or contains no events.
    ConfigError
        The file is damaged; the message names the line.
    """
    if not Path(path).is_file():
        raise ArgumentError(f"tape: there is no file {str(path)!r}. `record FILE` writes one.")
    tape = Tape.load(path)
    if not len(tape):
        raise ArgumentError(f"{path} contains no events. `record FILE` writes some.")
    return tape
