"""How much work something is, in calls and not in seconds: the same on every machine."""

import gc
import sys
from collections.abc import Callable


def calls_of(work: Callable[[], object]) -> int:
    """Return how many functions, of Python and of C, are called.

    Garbage is collected before: when it is, and what that calls, depends on all that ran earlier.
    """
    count = 0

    def listen(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    gc.collect()
    gc.disable()
    sys.setprofile(listen)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count


def check_linear(work: Callable[[int], object], small: int = 20, step: int = 40) -> None:
    """Check that `step` further pieces cost the same, whatever they are added to.

    What the work takes once, and what it takes for each piece, cancels out. A look through half of
    the pieces before, at each piece, would leave step**2 / 2 calls.
    """
    work(5)  # what is made only once is made now
    lengths = (small, small + step, small + 2 * step)
    few, more, most = (calls_of(lambda n=n: work(n)) for n in lengths)
    assert more - few > step
    assert abs((most - more) - (more - few)) < step
