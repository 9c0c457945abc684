"""Room that the kernels of convolution and pooling work in, shared by all of them.

A network has a hundred convolutions, and each needs a few megabytes while it computes, none
afterwards. So they take turns with the same memory: one piece for each purpose, as large as the
largest that was asked for. Whoever takes it finds there what the last one left.

Every thread has its own, so two threads may compute at the same time.
"""

from __future__ import annotations

import threading
from math import prod

import numpy as np

ALIGNMENT = 64  # bytes: a line of the cache, and what the widest instructions load at once


class _Rooms(threading.local):
    def __init__(self) -> None:
        self.by_purpose: dict[str, np.ndarray] = {}


_rooms = _Rooms()


def shared_room(purpose: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return an array to work in; it holds anything, and the next who asks gets the same memory.

    Parameters
    ----------
    purpose : str
        Who needs several at a time asks for them under different names.
    shape : tuple of int
    dtype : numpy.dtype

    Examples
    --------
    >>> one = shared_room("example", (2, 3), np.dtype("float32"))
    >>> other = shared_room("example", (6,), np.dtype("float32"))
    >>> one.shape, np.shares_memory(one, other)
    ((2, 3), True)
    """
    needed = prod(shape) * dtype.itemsize
    room = _rooms.by_purpose.get(purpose)
    if room is None or room.nbytes < needed:
        raw = np.empty(needed + ALIGNMENT, np.uint8)
        start = -raw.ctypes.data % ALIGNMENT
        room = _rooms.by_purpose[purpose] = raw[start : start + needed]
    return room[:needed].view(dtype).reshape(shape)


def zero_around(x: np.ndarray, inside: tuple[slice, ...]) -> None:
    """Put zeros into `x` wherever it is not `inside`."""
    for axis, span in enumerate(inside):
        if span.start:
            x[(*inside[:axis], slice(0, span.start))] = 0
        if span.stop is not None and span.stop < x.shape[axis]:
            x[(*inside[:axis], slice(span.stop, None))] = 0
