"""Rows of the ops that `keras.ops` needs beyond K's: see op_cases.py."""

import math

import numpy as np
from op_cases import Case, binary, one, unary

from kerascope import backend as K
from kerascope.backend.graph import Placeholder, graph_mode
from kerascope.backend.ops import decompositions as d
from kerascope.backend.ops import elementwise
from kerascope.backend.ops import mathematics as m
from kerascope.backend.ops import places as p
from kerascope.backend.ops.scan_graph import InnerGraph, Results
from kerascope.backend.ops.while_loop import GivenGradient, While


def counts(draw):
    return [1 + draw.below(20, 2, 1, 3), 1 + draw.below(5, 4, 1)]


def share(op, expected, **facts):
    """A row for a function of numbers between -0.8 and 0.8."""
    facts = {"smooth": (0,), **facts}
    return Case(op, lambda d: [d.nonzero(3, 4) / 2], expected, **facts)


def each(function):
    """Return a function of one number as one of an array."""
    return np.vectorize(function, otypes=["float64"])


def x_of_erf(y):
    """Return by bisection where the error function is y."""
    low, high = np.full(np.shape(y), -6.0), np.full(np.shape(y), 6.0)
    for _ in range(80):
        middle = (low + high) / 2
        is_below = each(math.erf)(middle) < y
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return (low + high) / 2


MATHEMATICS = [
    *unary(m.IsFinite(), np.isfinite, smooth=()),
    *unary(m.IsInf(), np.isinf, smooth=()),
    *unary(m.SignBit(), np.signbit, smooth=()),
    *unary(m.Floor(), each(math.floor), smooth=()),
    *unary(m.Ceil(), each(math.ceil), smooth=()),
    *unary(m.Trunc(), each(math.trunc), smooth=()),
    *binary(elementwise.FloorDivide(), lambda x, y: np.floor(x / y), smooth=()),
    *binary(m.Heaviside(), np.heaviside, smooth=()),
    Case(m.NextAfter(), lambda d: [np.array([1.0, -1.0]), np.array([1.0, -1.0])], lambda x, y: x),
    *binary(m.BitwiseAnd(), np.bitwise_and, counts, smooth=()),
    *binary(m.BitwiseOr(), np.bitwise_or, counts, smooth=()),
    *binary(m.BitwiseXor(), np.bitwise_xor, counts, smooth=()),
    *binary(m.LeftShift(), lambda x, y: x * 2**y, counts, smooth=()),
    *binary(m.RightShift(), lambda x, y: x // 2**y, counts, smooth=()),
    *binary(m.GreatestDivisor(), np.gcd, counts, smooth=()),
    *binary(m.LeastMultiple(), lambda x, y: x * y // np.gcd(x, y), counts, smooth=()),
    Case(m.BitwiseInvert(), lambda d: [d.below(9, 4)], lambda x: -x - 1),
    Case(m.ViewAs("int64"), lambda d: [d.below(9, 4)], lambda x: x),
    share(m.Arcsin(), each(math.asin)),
    share(m.Arccos(), each(math.acos)),
    *unary(m.Arctan(), each(math.atan)),
    *unary(m.Arcsinh(), each(math.asinh)),
    Case(m.Arccosh(), lambda d: [d.positive(3, 4) + 1], each(math.acosh), (0,)),
    share(m.Arctanh(), each(math.atanh)),
    *unary(m.CubeRoot(), lambda x: x ** (1 / 3), "positive"),
    *unary(m.Exp2(), lambda x: 2**x),
    *unary(m.Sinc(), lambda x: np.sin(np.pi * x) / (np.pi * x), "nonzero"),
    *unary(m.BesselI0(), lambda x: np.i0(x).reshape(x.shape), smooth=()),
    *unary(m.Erfc(), each(math.erfc)),
    share(m.Erfinv(), lambda x: x_of_erf(x)),
    *binary(m.Arctan2(), np.arctan2),
    *binary(m.Hypot(), lambda x, y: np.sqrt(x * x + y * y)),
    *binary(elementwise.Mod(), lambda x, y: x - y * np.floor(x / y)),
    *binary(m.Fmod(), lambda x, y: x - y * np.trunc(x / y)),
]


def added(shape, where, x):
    out = np.zeros(shape)
    for place, value in zip(where, x, strict=True):
        out[tuple(place)] += value
    return out


def updated(x, where, updates, function):
    out = np.array(x)
    for place, value in zip(where, updates, strict=True):
        out[tuple(place)] = function(out[tuple(place)], value)
    return out


AT = np.array([[0, 1], [2, 3], [0, 1], [-1, 0]])
ONCE = np.array([[0, 1], [2, 3], [1, 0], [-1, 0]])
ALONG = np.array([[0, 3], [1, -1], [2, 2]])


def add_along(x, indices, like):
    out = np.zeros(like.shape)
    for place in np.ndindex(x.shape):
        out[place[0], indices[place]] += x[place]
    return out


def put_slice(x, start, updates):
    out = np.array(x)
    out[start[0] : start[0] + len(updates), start[1] : start[1] + len(updates[0])] = updates
    return out


PLACES = [
    one(p.ArgSort(1), (3, 4), lambda x: np.argsort(x, 1), smooth=()),
    one(p.ArgSort(0, True), (3, 4), lambda x: np.argsort(-x, 0), smooth=()),
    Case(
        p.ArgSort(0, True),
        lambda d: [np.array([1.0, 3.0, 1.0, 3.0])],
        lambda x: np.array([1, 3, 0, 2]),
    ),
    Case(
        p.TakeAlongAxis(1),
        lambda d: [d.normal(3, 4), ALONG],
        lambda x, indices: np.array([x[i][indices[i]] for i in range(3)]),
        (0,),
    ),
    Case(p.AddAlongAxis(1), lambda d: [d.normal(3, 2), ALONG, d.normal(3, 4)], add_along, (0,)),
    one(p.Roll((1, 2), (0, 1)), (3, 4), lambda x: np.roll(np.roll(x, 1, 0), 2, 1)),
    *(
        Case(
            p.PlacesWithPadding(2, 1, mode),
            lambda d: [np.array(3)],
            lambda size, expected=expected: np.array(expected),
            fixed=(0,),
        )
        for mode, expected in {
            "reflect": [2, 1, 0, 1, 2, 1],
            "symmetric": [1, 0, 0, 1, 2, 2],
            "edge": [0, 0, 0, 1, 2, 2],
            "wrap": [1, 2, 0, 1, 2, 0],
        }.items()
    ),
    Case(
        p.TakePlaces(2),
        lambda d: [d.normal(3, 4), AT],
        lambda x, at: np.array([x[tuple(place)] for place in at]),
        (0,),
    ),
    Case(
        p.TakePlaces(1),
        lambda d: [d.normal(3, 4), np.array([[1], [1]])],
        lambda x, at: np.array([x[1], x[1]]),
        (0,),
    ),
    Case(
        p.AddAtPlaces(),
        lambda d: [d.normal(4), AT, d.normal(3, 4)],
        lambda x, at, like: added(like.shape, at, x),
        (0,),
    ),
    Case(
        p.Scatter(),
        lambda d: [d.normal(4), AT, np.array([3, 4])],
        lambda x, at, shape: added(shape, at, x),
        (0,),
        fixed=(2,),
    ),
    Case(
        p.UpdatePlaces("set"),
        lambda d: [d.normal(3, 4), ONCE, d.normal(4)],
        lambda x, at, new: updated(x, at, new, lambda a, b: b),
        (0, 2),
    ),
    Case(
        p.UpdatePlaces("add"),
        lambda d: [d.normal(3, 4), AT, d.normal(4)],
        lambda x, at, new: updated(x, at, new, lambda a, b: a + b),
        (0, 2),
    ),
    *(
        Case(
            p.UpdatePlaces(name),
            lambda d: [d.normal(3, 4), AT, d.normal(4)],
            lambda x, at, new, function=function: updated(x, at, new, function),
        )
        for name, function in (("max", max), ("min", min), ("mul", lambda a, b: a * b))
    ),
    Case(
        p.UpdateSlice(),
        lambda d: [d.normal(3, 4), np.array([1, 2]), d.normal(2, 2)],
        put_slice,
        (0, 2),
    ),
    Case(
        p.SliceLike(),
        lambda d: [d.normal(3, 4), np.array([1, 2]), d.normal(2, 2)],
        lambda x, start, like: x[1:3, 2:4],
        (0,),
    ),
    Case(
        p.SearchSorted("right"),
        lambda d: [np.array([0.0, 1.0, 1.0]), np.array([[1.0, 0.5], [-1.0, 2.0]])],
        lambda sequence, values: np.array([[3, 1], [0, 3]]),
    ),
    Case(
        p.Nonzero(),
        lambda d: [np.array([[1.0, 0.0], [0.0, 2.0]])],
        lambda x: np.array([[0, 1], [0, 1]]),
        by_numbers=True,
    ),
    Case(
        p.Bincount(0),
        lambda d: [np.array([[0, 2, 2]])],
        lambda x: np.array([[1, 0, 2]]),
        by_numbers=True,
    ),
    Case(
        p.Bincount(5),
        lambda d: [np.array([0, 2, 2]), d.normal(3)],
        lambda x, w: np.array([w[0], 0, w[1] + w[2], 0, 0]),
        by_numbers=True,
    ),
    Case(
        p.Histogram(),
        lambda d: [np.array([0.5, 1.0, 2.0, 2.5, 9.0]), np.array([0.0, 1.0, 2.0, 3.0])],
        lambda x, borders: np.array([1, 1, 2]),
    ),
    Case(
        p.Unique(None, ()),
        lambda d: [np.array([[2, 1], [2, 3]])],
        lambda x: np.array([1, 2, 3]),
        by_numbers=True,
    ),
    Case(
        p.Unique(0, (), 3, 7.0),
        lambda d: [np.array([[2, 1], [0, 3], [2, 1]])],
        lambda x: np.array([[0, 3], [2, 1], [7, 7]]),
    ),
]


def while_rows():
    """A loop that doubles a vector until its sum is large, with a bound from outside."""
    x, bound = Placeholder((None,), "float64", "x"), Placeholder((), "float64", "bound")
    factor = Placeholder((), "float64", "factor")
    with graph_mode():
        condition = InnerGraph((), (x,), (bound,), Results((K.sum(x) < bound,)))
        body = InnerGraph((), (x,), (factor,), Results((), (x * factor,)))
    arrays = [np.array([1.0, 2.0]), np.array(20.0), np.array(2.0)]
    yield Case(While(condition, body, 9), lambda d: arrays, lambda x, *_: 8 * x)
    yield Case(While(condition, body, 2), lambda d: arrays, lambda x, *_: 4 * x)


def of_functions():
    return [
        Case(
            GivenGradient(lambda g: [3 * g]),
            lambda d: [3 * d.normal(4), d.normal(4)],
            lambda y, x: y,
        )
    ]


def by_hand_cholesky(x):
    """Return the triangles row by row."""
    out = np.zeros(x.shape)
    for b, i, j in np.ndindex(x.shape):
        if j <= i:
            rest = x[b, i, j] - (out[b, i, :j] * out[b, j, :j]).sum()
            out[b, i, j] = math.sqrt(rest) if i == j else rest / out[b, j, j]
    return out


def definite(draw):
    x = draw.normal(2, 3, 3)
    return [x @ np.swapaxes(x, 1, 2) + np.eye(3)]


DECOMPOSITIONS = [
    Case(
        d.Inverse(),
        definite,
        lambda x: np.array([np.linalg.solve(one, np.eye(3)) for one in x]),
        (0,),
    ),
    Case(d.Cholesky(), definite, by_hand_cholesky, ()),
    Case(d.Solve(), lambda r: [*definite(r), r.normal(2, 3, 2)], np.linalg.solve, (0, 1)),
    Case(
        d.LeastSquares(None),
        lambda r: [r.normal(4, 2), r.normal(4, 3)],
        lambda a, b: np.linalg.pinv(a) @ b,
    ),
]

CASES = [*DECOMPOSITIONS, *MATHEMATICS, *PLACES, *while_rows(), *of_functions()]
