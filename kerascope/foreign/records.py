"""What ran in a model of any library: calls, the values that they met, frames around them.

An adapter tells a `TapeWriter` (`writer.py`) what runs, and these records are what stays of it. The
graph, the summary, the steps of a walk and the comparison of two models are all made of them.

A value is known by its token. Two values with equal tokens are the same array in the same state, so
a call that reads a token stands behind the call that gave it: no library has to be asked for its
graph.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from kerascope.trace.statistics import Statistics, statistics_of

Setting = str | int | float | bool
Line = tuple[str, int, str]  # file, line, function


class Value(NamedTuple):
    """An array as a call meets it, of whatever library.

    Attributes
    ----------
    token : hashable
        The same as that of another value if, and only if, both are one array in one state: its
        identity as long as it lives, and how often something was written into it.
    shape : tuple of (int or None)
    dtype : str
        "float32".
    read : callable, optional
        Returns its numbers as they are now, without copying them if that can be, or None if it
        holds none. None: nobody knows them.
    trainable : bool
        Of a weight.
    same_as : hashable, optional
        Token of a value that holds the same numbers in any order, as a reshaped one does: what was
        found out of them holds here too.
    """

    token: Hashable
    shape: tuple[int | None, ...]
    dtype: str
    read: Callable[[], np.ndarray | None] | None = None
    trainable: bool = True
    same_as: Hashable = None


class Declared(NamedTuple):
    """An input that a model says it reads, before anything has run.

    Attributes
    ----------
    name : str
    shape : tuple of (int, str or None), or None
        Sizes of the same name are the same; None may be anything. None alone: nobody says it.
    dtype : str
        "float32"; "" if nobody says it.
    words : int
        Of whole numbers: how many, from 0 on, are known to what reads them; 0 if nobody says it.
    """

    name: str
    shape: tuple[int | str | None, ...] | None
    dtype: str
    words: int = 0


class Recorded(NamedTuple):
    """A value that was recorded: as `Value`, with what was kept of its numbers.

    Attributes
    ----------
    token : hashable
    shape : tuple of (int or None)
    dtype : str
    array : np.ndarray, Statistics or None
        A copy, or its figures; None where neither was wanted or known.
    trainable : bool
        Of a weight.
    """

    token: Hashable
    shape: tuple[int | None, ...]
    dtype: str
    array: np.ndarray | Statistics | None = None
    trainable: bool = True

    def __repr__(self) -> str:
        return f"<Recorded {self.dtype}{tuple(self.shape)}>"


class Call(NamedTuple):
    """A call of a layer, a module or a function.

    Attributes
    ----------
    id : str
        "layer1.0.conv1"; the second call of the same has ":2" at its end.
    name : str
        "layer1.0.conv1".
    op : str
        What was called: its class or function, "Conv2d".
    kind : str
        One of `kerascope.viz.kinds.KINDS`.
    inputs, outputs : tuple of Recorded
    frame : str
        Id of the frame in which it lies, "" for none.
    line : (str, int, str) or None
        File, line and function of the user's own code that led there.
    settings : mapping of str to (str, int, float or bool)
        How it is set: "kernel" -> "3x3". The key "" holds words without a name.
    parameters : mapping of str to Recorded
        Its weights: "weight".
    buffers : mapping of str to Recorded
        What else it keeps and computes with: "running_mean". Only where numbers are kept.
    """

    id: str
    name: str
    op: str
    kind: str
    inputs: tuple[Recorded, ...]
    outputs: tuple[Recorded, ...]
    frame: str = ""
    line: Line | None = None
    settings: Mapping[str, Setting] = {}
    parameters: Mapping[str, Recorded] = {}
    buffers: Mapping[str, Recorded] = {}


# Made of one tuple, in half the time that the constructor by names takes: one is made for each
# call that runs, and several for what it reads and gives.
new_value: Callable[[Iterable[Any]], Value] = partial(tuple.__new__, Value)
new_recorded: Callable[[Iterable[Any]], Recorded] = partial(tuple.__new__, Recorded)
new_call: Callable[[Iterable[Any]], Call] = partial(tuple.__new__, Call)


@dataclass(frozen=True)
class Frame:
    """A call that holds other calls: of a module around modules.

    Attributes
    ----------
    id, name, op : str
        As of a `Call`.
    outer : str
        Id of the frame around it, "" for none.
    """

    id: str
    name: str
    op: str
    outer: str = ""


def kept_of(array: np.ndarray, arrays: str) -> np.ndarray | Statistics | None:
    """Return a copy of an array, or its figures, or None, as `TapeWriter` is told to keep them."""
    from_numbers = array.dtype.kind in "fiub"
    if arrays == "all":
        return np.array(array)
    return statistics_of(array) if arrays == "statistics" and from_numbers else None
