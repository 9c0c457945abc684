"""How much a file may ask for before anything of it is believed.

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
SPARE_NUMBERS = 1_000_000  # weights that a model may have beyond those in its file
