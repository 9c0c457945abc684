"""How much work something is: counted, not timed, so that it is the same on a busy machine."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_run(work: Callable[[], Any]) -> int:
    """Return how many lines of Python `work()` runs; what C does inside a line is not seen."""
    count = 0

    def hear(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return hear

    before = sys.gettrace()
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
