"""How much work something is: counted, not timed, so that it is the same on a busy machine.

Calls are counted where a single further one is too many; lines, which are many more, where the
loops themselves are looked at.
"""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def undisturbed() -> Iterator[None]:
    """Keep the collection of garbage out: when it comes, and what it calls, others decide."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def lines_run(work: Callable[[], Any]) -> int:
    """Return how many lines of Python `work()` runs; what C does inside a line is not seen."""
    count = 0

    def hear(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return hear

    before = sys.gettrace()
    with undisturbed():
        sys.settrace(hear)
        try:
            work()
        finally:
            sys.settrace(before)
    return count


def growth(work: Callable[[int], Any], size: int, times: int = 2) -> float:
    """Return by what the work is multiplied when the size is multiplied by `times`.

    In proportion, it is about `times`; where each thing meets each other, the square of it.

    Examples
    --------
    >>> growth(lambda size: [number for number in range(size)], 100) < 3
    True
    >>> def meet(size):
    ...     for one in range(size):
    ...         for other in range(size):
    ...             assert one + other >= 0
    >>> growth(meet, 20) > 3.5
    True
    """
    return lines_run(lambda: work(times * size)) / lines_run(lambda: work(size))


def calls_of(work: Callable[[], Any], file: str | None = None) -> int:
    """Return how many functions, of Python and of C, are called; of one file if it is named."""
    count = 0

    def listen(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        if file is None:
            count += event in ("call", "c_call")
        else:
            count += event == "call" and frame.f_code.co_filename == file

    before = sys.getprofile()
    with undisturbed():
        sys.setprofile(listen)
        try:
            work()
        finally:
            sys.setprofile(before)
    return count


def check_linear(work: Callable[[int], Any], small: int = 20, step: int = 40) -> None:
    """Check that `step` further pieces cost the same, whatever they are added to.

    What the work takes once, and what it takes for each piece, cancels out. A look through half of
    the pieces before, at each piece, would leave step**2 / 2 calls.
    """
    work(5)  # what is made only once is made now
    lengths = (small, small + step, small + 2 * step)
    few, more, most = (calls_of(lambda n=n: work(n)) for n in lengths)
    assert more - few > step
    assert abs((most - more) - (more - few)) < step
