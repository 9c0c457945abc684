"""Rows of `Full` and of `tile` to sizes known at run time, for tests/backend/test_ops.py."""

import numpy as np
import reference
from op_cases import Case

from kerascope.backend.ops.joining import SumTilesLike, TileBy, TileLike
from kerascope.backend.ops.shaping import Full


def full(shape):
    result = np.zeros(tuple(shape))
    for place in np.ndindex(*shape):
        result[place] = 2.5
    return result


def ratio(large, small):
    return tuple(n // m for n, m in zip(large.shape, small.shape, strict=True))


CASES = [
    Case(Full(2.5, "float32"), lambda d: [np.array([2, 3])], full, fixed=(0,)),
    Case(Full(2.5, "float64"), lambda d: [np.array([0, 2])], full, fixed=(0,)),
    Case(TileBy(), lambda d: [d.normal(2, 3), np.array([2, 1])], reference.tile, (0,), fixed=(1,)),
    Case(
        TileLike(),
        lambda d: [d.normal(2, 1), d.normal(4, 3)],
        lambda x, like: reference.tile(x, ratio(like, x)),
        (0,),
    ),
    Case(
        SumTilesLike(),
        lambda d: [d.normal(4, 3), d.normal(2, 1)],
        lambda x, like: reference.sum_tiles(x, ratio(x, like)),
        (0,),
    ),
]
