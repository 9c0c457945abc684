"""Values of deltas as JSON and back: plain data, and a one-letter tag for all else.

===========  =======================================================
`{"a": 3}`   array number 3 of the `.npz` file
`{"n": ..}`  a NumPy number: its type and itself
`{"f": ..}`  a float that JSON has no word for
`{"t": ..}`  a tuple
`{"d": ..}`  a dict, as pairs
`{"s": ..}`  statistics of an array; a number for those that came as that-numbered ones, from 1;
             0 for the last ones again
`{"r": ..}`  a description: its class and its fields
`{"x": 1}`   the mark for what was taken out of a container
`{"e": ..}`  an event, its fields in order: a span that is open where others are forgotten
===========  =======================================================
"""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np

from kerascope.trace.events import Delta, Event, Where
from kerascope.trace.snapshots import REFS, REMOVED, ObjectRef
from kerascope.trace.statistics import Statistics

_CLASSES = {kind.__name__: kind for kind in REFS}


class Encoder:
    """Turns values into JSON and gathers the arrays.

    Attributes
    ----------
    arrays : list of np.ndarray
        Each once, however many values hold it.
    """

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._places: dict[int, int] = {}
        self._statistics: dict[int, int] = {}  # by their ids; the tape keeps them alive
        self._last: Statistics | None = None

    def encode(self, value: Any) -> Any:
        """Return what JSON can write."""
        if value is None or (isinstance(value, (bool, int, str)) and not _is_numpy(value)):
            return value
        if isinstance(value, float) and not _is_numpy(value):
            return value if math.isfinite(value) else {"f": repr(value)}
        if isinstance(value, list):
            return [self.encode(item) for item in value]
        if isinstance(value, Event):
            *facts, where, deltas = value
            told = [[d.name, self.encode(d.key), self.encode(d.value)] for d in deltas]
            return {"e": [*facts, list(where), told]}
        if isinstance(value, tuple):
            return {"t": [self.encode(item) for item in value]}
        if isinstance(value, dict):
            return {"d": [[self.encode(k), self.encode(v)] for k, v in value.items()]}
        if value is REMOVED:
            return {"x": 1}
        if isinstance(value, Statistics):
            return self._encode_statistics(value)
        if isinstance(value, REFS):
            facts = [self.encode(getattr(value, field.name)) for field in fields(value)]
            return {"r": [type(value).__name__, *facts]}
        return self._encode_numbers(value)

    def _encode_statistics(self, value: Statistics) -> Any:
        if value is self._last:
            return {"s": 0}
        self._last = value
        if id(value) in self._statistics:
            return {"s": self._statistics[id(value)]}
        self._statistics[id(value)] = len(self._statistics) + 1
        facts = [self.encode(getattr(value, field.name)) for field in fields(value)]
        return {"s": facts if value.nans or value.infinities else facts[:-2]}

    def _encode_numbers(self, value: Any) -> Any:
        is_number = isinstance(value, np.generic) and value.dtype.kind in "fiub"
        if is_number and value.dtype.itemsize <= 8 and np.isfinite(value):
            return {"n": [value.dtype.name, value.item()]}
        if isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
            if id(value) not in self._places:
                self._places[id(value)] = len(self.arrays)
                self.arrays.append(value)  # type: ignore[arg-type]
            is_scalar = isinstance(value, np.generic)
            return {"a": [self._places[id(value)], 0] if is_scalar else self._places[id(value)]}
        name = getattr(value, "__name__", "")
        return self.encode(ObjectRef(type(value).__name__, str(name)))


def _is_numpy(value: Any) -> bool:
    return isinstance(value, np.generic)


class Decoder:
    """Turns JSON back into values; raises ValueError, TypeError, KeyError or IndexError."""

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.arrays = arrays
        self._statistics: list[Statistics] = []
        self._last: Statistics | None = None

    def decode(self, value: Any) -> Any:
        """Return the value that `Encoder.encode` was given."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        ((tag, content),) = value.items()
        if tag == "t":
            return tuple(self.decode(item) for item in content)
        if tag == "d":
            return {self.decode(key): self.decode(item) for key, item in content}
        if tag == "s":
            return self._decode_statistics(content)
        if tag == "r":
            name, *facts = content
            return _CLASSES[name](*(self.decode(fact) for fact in facts))
        if tag == "x":
            return REMOVED
        if tag == "e":
            *facts, where, told = content
            deltas = (Delta(name, self.decode(k), self.decode(v)) for name, k, v in told)
            return Event._make([*facts, Where(*where), tuple(deltas)])
        return self._decode_numbers(tag, content)

    def _decode_statistics(self, content: Any) -> Statistics:
        if isinstance(content, list):
            self._last = Statistics(*(self.decode(item) for item in content))
            self._statistics.append(self._last)
        elif self.whole_number(content):
            self._last = self._statistics[content - 1]
        if self._last is None:
            raise ValueError("statistics before the first ones")
        return self._last

    def _decode_numbers(self, tag: str, content: Any) -> Any:
        if tag == "a":
            if isinstance(content, list):
                return self.arrays[self.whole_number(content[0])][()]
            return self.arrays[self.whole_number(content)]
        if tag == "n":
            name, number = content
            dtype = np.dtype(str(name))
            if dtype.kind not in "fiub" or not isinstance(number, (bool, int, float)):
                raise ValueError(f"{content!r} is no number")
            return dtype.type(number)
        if tag == "f":
            if content not in ("nan", "inf", "-inf"):
                raise ValueError(f"{content!r} is no float")
            return float(content)
        raise KeyError(tag)

    @staticmethod
    def whole_number(value: Any) -> int:
        """Return a place, which is no negative number."""
        if type(value) is not int or value < 0:
            raise ValueError(f"{value!r} is no place")
        return value
