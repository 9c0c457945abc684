"""How much a file may ask for before anything of it is believed.

What the model in it may take while it is built says `kerascope.limits`.

Real files are far below these numbers; what is above them is damaged or made to do harm.
"""

from __future__ import annotations

LARGEST_CONFIG = 64 * 2**20  # bytes of JSON; ResNet152's is below 1 MB
GREATEST_RATIO = 100  # declared size over stored size
FREE_SIZE = 4 * 2**20  # bytes: below this the ratio does not matter
MOST_MEMBERS = 10_000  # of an archive
MOST_OBJECTS = 500_000  # groups and arrays in an HDF5 file
DEEPEST_GROUP = 100  # groups inside each other
DEEPEST_CONFIG = 200  # lists and dicts inside each other
LARGEST_YAML = 2 * 2**20  # characters
MOST_OF_YAML = 200_000  # keys and values: its parser needs seconds for them, and half a KB each
LONGEST_NUMBER = 400  # characters of a number in YAML, where 1:1:1:... is one, of base 60
