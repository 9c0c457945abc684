"""Rows for the ops of pooling, padding, resizing and local connections."""

import reference_pooling as reference
from op_cases import Case, one

from kerascope.backend.ops.convolution import Patches, SumPatches
from kerascope.backend.ops.image import Interpolate, Pad, SumInterpolated
from kerascope.backend.ops.pooling import (
    AveragePool,
    MaxPool,
    PutAtMaximum,
    SpreadAverage,
    TakeAtMaximum,
)

# pool_size, strides, padding, axis; shape of the input
WINDOWS = [
    (((2,), (2,), "valid", 1), (2, 5, 2)),
    (((3,), (1,), "same", 2), (2, 2, 4)),
    (((2, 2), (2, 2), "valid", 1), (2, 4, 5, 1)),
    (((2, 3), (1, 2), "same", 1), (1, 3, 4, 2)),
    (((3, 2), (2, 1), "valid", 2), (1, 2, 4, 3)),
    (((2, 2), (3, 3), "same", 2), (1, 1, 4, 5)),
    (((4, 5), (1, 1), "same", 1), (1, 2, 3, 1)),
    (((2, 1, 2), (2, 1, 1), "valid", 1), (1, 2, 2, 3, 1)),
    (((2, 2, 2), (1, 2, 2), "same", 2), (1, 1, 3, 2, 2)),
]


def pooling(arguments, shape):
    """Rows for the ops on windows of one kind."""
    maximum, average = MaxPool(*arguments), AveragePool(*arguments)
    put, take = PutAtMaximum(*arguments), TakeAtMaximum(*arguments)
    spread = SpreadAverage(*arguments)

    def at_maximum(kind, of_input):
        def inputs(draw):
            x = getattr(draw, kind)(*shape)
            y = reference.max_pool(x, maximum)
            return [draw.normal(*(x if of_input else y).shape), x, y]

        return inputs

    def pooled(draw):
        x = draw.normal(*shape)
        return [draw.normal(*reference.average_pool(x, average).shape), x]

    rows = [
        one(maximum, shape, lambda x: reference.max_pool(x, maximum)),
        one(average, shape, lambda x: reference.average_pool(x, average)),
        Case(spread, pooled, lambda g, x: reference.spread_average(g, x, spread), (0,)),
    ]
    for kind in ("normal", "digits"):  # without and with equal numbers in a window
        rows += [
            Case(
                put,
                at_maximum(kind, of_input=False),
                lambda g, x, y: reference.put_at_maximum(g, x, y, put),
                (0,),
            ),
            Case(
                take,
                at_maximum(kind, of_input=True),
                lambda g, x, y: reference.take_at_maximum(g, x, y, take),
                (0,),
            ),
        ]
    return rows


def padding(pairs, shape):
    return one(Pad(pairs), shape, lambda x: reference.pad(x, pairs))


def resizing(factor, axis, shape):
    longer = (*shape[:axis], shape[axis] * factor, *shape[axis + 1 :])
    return [
        one(Interpolate(factor, axis), shape, lambda x: reference.interpolate(x, factor, axis)),
        one(
            SumInterpolated(factor, axis),
            longer,
            lambda x: reference.sum_interpolated(x, factor, axis),
        ),
    ]


def patches(kernel_size, strides, shape):
    def laid_out(draw):
        x = draw.normal(*shape)
        return [draw.normal(*reference.patches(x, kernel_size, strides).shape), x]

    return [
        one(
            Patches(kernel_size, strides),
            shape,
            lambda x: reference.patches(x, kernel_size, strides),
        ),
        Case(
            SumPatches(kernel_size, strides),
            laid_out,
            lambda rows, like: reference.sum_patches(rows, like, kernel_size, strides),
            (0,),
        ),
    ]


CASES = [
    *(row for arguments, shape in WINDOWS for row in pooling(arguments, shape)),
    padding(((1, 2),), (3,)),
    padding(((0, 0), (1, 0), (0, 2), (0, 0)), (2, 2, 3, 1)),
    padding(((0, 0), (0, 0)), (2, 3)),
    *resizing(2, 1, (2, 3)),
    *resizing(3, 0, (3, 2)),
    *resizing(4, 1, (2, 1, 2)),
    *patches((2,), (1,), (2, 4, 2)),
    *patches((2, 3), (2, 1), (1, 4, 4, 2)),
    *patches((2, 1), (1, 3), (2, 3, 4, 1)),
]
