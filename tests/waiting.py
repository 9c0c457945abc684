"""Waiting for what has to come, however busy the machine is."""

import time
from collections.abc import Callable
from typing import Any

LONG = 600  # seconds; only what hangs takes so long


def wait_until(is_so: Callable[[], Any], told: Callable[[], Any] = lambda: "it never came") -> Any:
    """Wait until something is so, and return it; `told()` says more if it never comes."""
    end = time.monotonic() + LONG
    while not (found := is_so()):
        assert time.monotonic() < end, told()
        time.sleep(0.005)
    return found
