"""Cases of the functions that make one number of many: sums, extremes, running sums."""

import numpy as np

from kerascope import backend as K
from tests.backend.k_cases import case

AXES = [
    (None, None),
    (0, 0),
    (-1, -1),
    ([0, -1], (0, 2)),
    ((1,), (1,)),
    (np.int64(1), 1),
    (np.array([0, 1]), (0, 1)),
]


def logsumexp(x, axis=None, keepdims=False):
    return np.log(np.exp(x).sum(axis=axis, keepdims=keepdims))


def reductions(name, expected, shapes=((2, 3, 4),), **facts):
    """Rows for each way to name axes, with and without `keepdims`."""
    facts = {"batch": False, **facts}
    shapes = shapes if callable(shapes) else list(shapes)
    rows = [
        case(
            name,
            lambda x, a=axis, k=keep: getattr(K, name)(x, axis=a, keepdims=k),
            shapes,
            lambda x, a=axes, k=keep: expected(x, axis=a, keepdims=k),
            **facts,
        )
        for axis, axes in AXES
        for keep in (False, True)
    ]
    by_default = case(name, lambda x: getattr(K, name)(x), shapes, expected, **facts)
    over_features = case(
        name,
        lambda x: getattr(K, name)(x, -1, True),
        shapes,
        lambda x: expected(x, axis=-1, keepdims=True),
        **{**facts, "batch": True},
    )
    return [*rows, by_default, over_features]


def truths(d):
    return [d.truths(2, 3, 4)]


def ints(d):
    return [d.below(9, 2, 3, 4)]


def one_int_row(d):
    return [d.below(9, 4)]


REDUCTIONS = [
    *reductions("sum", np.sum),
    *reductions("mean", np.mean),
    *reductions("var", np.var),
    *reductions("std", np.std),
    *reductions("prod", np.prod),
    *reductions("max", np.max),
    *reductions("min", np.min),
    *reductions("logsumexp", logsumexp),
    *reductions("any", np.any, truths, smooth=(), dtype="bool"),
    *reductions("all", np.all, truths, smooth=(), dtype="bool"),
    case("sum", lambda x: K.sum(x), ints, np.sum, smooth=(), dtype="int64"),
    case("sum", lambda x: K.sum(x, axis=0), truths, lambda x: x.sum(0), smooth=(), dtype="int32"),
    case("sum", lambda x: K.sum(x, axis=[]), [(2, 3)], lambda x: x),
    case("sum", lambda x: K.sum(x), [()], lambda x: x),
    case("sum", lambda x, y: K.sum([x, y], axis=0), [(2, 3), (2, 3)], np.add, smooth=(0, 1)),
    case("mean", lambda x, y: K.mean((x, y)), [(), ()], lambda x, y: (x + y) / 2, smooth=(0, 1)),
    case("prod", lambda x: K.prod(x), one_int_row, np.prod, smooth=(), dtype="int64"),
    case("mean", lambda x: K.mean(x, axis=-1), truths, lambda x: x.mean(-1), smooth=(),
         dtype="float32"),
    case("max", lambda x: K.max(x, 1), ints, lambda x: x.max(1), smooth=(), dtype="int64"),
    case("any", lambda x: K.any(x, axis=-1), lambda d: [d.digits(2, 3)],
         lambda x: (x != 0).any(-1), smooth=(), dtype="bool"),
]  # fmt: skip


def along(name, expected, axis_of=None, **facts):
    """Rows for a function of one axis: the default, the last, the first, one of NumPy's ints."""
    default = {"argmax": -1, "argmin": -1, "cumsum": 0, "cumprod": 0}[name]
    rows = [
        case(
            name,
            lambda x: getattr(K, name)(x),
            [(2, 3, 4)],
            lambda x: expected(x, axis=default),
            batch=False,
            **facts,
        )
    ]
    rows += [
        case(
            name,
            lambda x, a=axis: getattr(K, name)(x, axis=a),
            [(2, 3, 4)],
            lambda x, a=axis: expected(x, axis=a),
            batch=axis != 0,
            **facts,
        )
        for axis in (-1, 0, -2, np.int64(1))
    ]
    return rows  # fmt: skip


ALONG = [
    *along("argmax", np.argmax, smooth=(), dtype="int64"),
    *along("argmin", np.argmin, smooth=(), dtype="int64"),
    *along("cumsum", np.cumsum),
    *along("cumprod", np.cumprod),
    case("argmax", lambda x: K.argmax(x), lambda d: [np.array([[1.0, 3, 3], [2, 2, 2]])],
         lambda x: np.array([1, 0]), smooth=(), dtype="int64"),
    case("cumsum", lambda x: K.cumsum(x), truths, lambda x: x.cumsum(0), smooth=(),
         dtype="int32"),
    case("cumsum", lambda x: K.cumsum(x), one_int_row, np.cumsum, smooth=(), dtype="int64"),
    case("cumprod", lambda x: K.cumprod(x), one_int_row, np.cumprod, smooth=(), dtype="int64"),
]  # fmt: skip

CASES = [*REDUCTIONS, *ALONG]
