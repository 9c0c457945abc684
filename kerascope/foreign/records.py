"""Records of a run in any library: the calls, their values, and the frames around the calls.

The adapter of a library, which is a module of this package, reports the calls that run to a
`TapeWriter` (`writer.py`), which keeps them in these records. The graph, the summary, the steps of
a walk and the comparison of two models are all made from them.

A value is identified by its token. Two values with equal tokens are the same array in the same
state, so a call that reads a token depends on the call that returned it. This gives the graph
without any help from the library.
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
    """An input, output or weight of a call: an array of any library.

    Attributes
    ----------
    token : hashable
        Equal for two values if and only if they are the same array in the same state. It is made
        of the array's identity and the number of times that it was written to.
    shape : tuple of (int or None)
    dtype : str
        Such as "float32".
    read : callable, optional
        Returns the current numbers, without a copy if possible, or None if the array has none.
        Without this function, the numbers are unknown.
    trainable : bool
        For a weight: whether training changes it.
    same_as : hashable, optional
        Token of a value that holds the same numbers in any order, such as the array before a
        reshape. The two values have the same statistics.

    Examples
    --------
    >>> x = np.zeros((2, 3), "float32")
    >>> value = Value((id(x), 0), x.shape, "float32", read=lambda: x)
    >>> value.shape, value.read().tolist(), value.trainable
    ((2, 3), [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], True)
    """

    token: Hashable
    shape: tuple[int | None, ...]
    dtype: str
    read: Callable[[], np.ndarray | None] | None = None
    trainable: bool = True
    same_as: Hashable = None


class Declared(NamedTuple):
    """An input that a model declares before it runs.

    Attributes
    ----------
    name : str
    shape : tuple of (int, str or None), or None
        Sizes with the same name are equal, and a size of None is arbitrary. None in place of the
        tuple means that the shape is unknown.
    dtype : str
        Such as "float32", or "" if it is unknown.
    words : int
        For integer inputs that are indices: the number of valid indices, starting at 0. It is 0 if
        unknown.
    """

    name: str
    shape: tuple[int | str | None, ...] | None
    dtype: str
    words: int = 0


class Recorded(NamedTuple):
    """A recorded value: a `Value` with the numbers or statistics that were kept.

    Attributes
    ----------
    token : hashable
    shape : tuple of (int or None)
    dtype : str
        The same as for a `Value`.
    array : np.ndarray, Statistics or None
        A copy of the array, or its statistics. None if neither was kept or known.
    trainable : bool
        For a weight: whether training changes it.

    Examples
    --------
    >>> Recorded("x", (2,), "float32", np.ones(2, "float32"))
    <Recorded float32(2,)>
    >>> Recorded("x", (2,), "float32").array is None
    True
    """

    token: Hashable
    shape: tuple[int | None, ...]
    dtype: str
    array: np.ndarray | Statistics | None = None
    trainable: bool = True

    def __repr__(self) -> str:
        return f"<Recorded {self.dtype}{tuple(self.shape)}>"


class Call(NamedTuple):
    """The record of a call of a layer, a module or a function.

    Attributes
    ----------
    id : str
        Such as "layer1.0.conv1". The second call of the same module ends with ":2".
    name : str
        Name of the module or function, such as "layer1.0.conv1".
    op : str
        Name of the class or function that was called, such as "Conv2d".
    kind : str
        One of `kerascope.viz.kinds.KINDS`.
    inputs, outputs : tuple of Recorded
        The values that the call read, and those that it returned.
    frame : str
        Id of the frame that contains the call, or "" if there is none.
    line : (str, int, str) or None
        File, line and function of the user's code that made the call.
    settings : mapping of str to (str, int, float or bool)
        The settings, such as "kernel" -> "3x3". The value of the key "" is shown without a name.
    parameters : mapping of str to Recorded
        The weights by name, such as "weight".
    buffers : mapping of str to Recorded
        Other state by name, such as "running_mean". Only recorded if numbers are kept.

    Examples
    --------
    >>> x, y = Recorded("x", (1, 3), "float32"), Recorded("y", (1, 2), "float32")
    >>> call = Call("encoder.fc", "encoder.fc", "Linear", "dense", (x,), (y,), frame="encoder")
    >>> call.id, call.op, call.frame, call.outputs
    ('encoder.fc', 'Linear', 'encoder', (<Recorded float32(1, 2)>,))
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


# Built from a tuple, because the constructor with names takes twice the time, and each call needs
# several records.
new_value: Callable[[Iterable[Any]], Value] = partial(tuple.__new__, Value)
new_recorded: Callable[[Iterable[Any]], Recorded] = partial(tuple.__new__, Recorded)
new_call: Callable[[Iterable[Any]], Call] = partial(tuple.__new__, Call)


@dataclass(frozen=True)
class Frame:
    """The record of a call that contains other calls, such as a module that calls its submodules.

    Attributes
    ----------
    id, name, op : str
        The same as for a `Call`.
    outer : str
        Id of the enclosing frame, or "" if there is none.

    Examples
    --------
    >>> Frame("encoder.block", "encoder.block", "Block", outer="encoder")
    Frame(id='encoder.block', name='encoder.block', op='Block', outer='encoder')
    """

    id: str
    name: str
    op: str
    outer: str = ""


def kept_of(array: np.ndarray, arrays: str) -> np.ndarray | Statistics | None:
    """Return a copy of an array if `arrays` is "all", its statistics for "statistics", or None."""
    from_numbers = array.dtype.kind in "fiub"
    if arrays == "all":
        return np.array(array)
    return statistics_of(array) if arrays == "statistics" and from_numbers else None
