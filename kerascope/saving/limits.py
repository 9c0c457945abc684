"""How much a file may ask for before anything of it is believed.

What the model in it may take while it is built says `kerascope.limits`.

Real files are far below these numbers; what is above them is damaged or made to do harm.
"""

from __future__ import annotations

from typing import Any

from kerascope.limits import PARTS_OF_A_CALL, PARTS_OF_A_LAYER

LARGEST_CONFIG = 64 * 2**20  # bytes of JSON; ResNet152's is below 1 MB
GREATEST_RATIO = 100  # declared size over stored size
FREE_SIZE = 4 * 2**20  # bytes: below this the ratio does not matter
MOST_MEMBERS = 10_000  # of an archive
MOST_OBJECTS = 500_000  # groups and arrays in an HDF5 file
DEEPEST_GROUP = 100  # groups inside each other
DEEPEST_CONFIG = 200  # lists and dicts inside each other
LARGEST_YAML = 2 * 2**20  # characters
MOST_OF_YAML = 80_000  # keys and values: ResNet152 has 25,000; a second in the parser
LONGEST_NUMBER = 400  # characters of a number in YAML, where 1:1:1:... is one, of base 60

_INNER = ("layers", "cells", "layer", "cell", "forward_layer", "backward_layer")


def parts_of(entry: Any) -> int:
    """Return how many parts (`kerascope.limits.Limits`) a model has at least, from its text alone.

    Nothing is made: a model of 2^40 calls is a few hundred lines, counted in no time.
    """
    return _made_and_run(entry)[0]


def _made_and_run(entry: Any) -> tuple[int, int]:
    """Return what it takes to make a layer, and to call it once."""
    made, run = PARTS_OF_A_LAYER, PARTS_OF_A_CALL
    config = entry.get("config") if isinstance(entry, dict) else None
    inner = config if isinstance(config, list) else []
    if isinstance(config, dict):
        for key in _INNER:
            found = config.get(key)
            inner = inner + (found if isinstance(found, list) else [found])
    for one in inner:
        if isinstance(one, dict) and isinstance(one.get("config"), (dict, list)):
            made_one, run_one = _made_and_run(one)
            calls = one.get("inbound_nodes", [None])
            times = len(calls) if isinstance(calls, list) else 1
            made += made_one + times * run_one
            run += times * run_one
    return made, run
