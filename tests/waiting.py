"""Waiting for what has to come, however busy the machine is."""

import time
from collections.abc import Callable

LONG = 600  # seconds; only what hangs takes so long


def wait_until(is_so: Callable[[], object], told: Callable[[], object] = lambda: "it never came"):
    """Wait until something is so, and return it; `told()` says more if it never comes."""
    end = time.monotonic() + LONG
    while not (found := is_so()):
        assert time.monotonic() < end, told()
        time.sleep(0.005)
    return found
