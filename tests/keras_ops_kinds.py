"""Calls of every name of `keras.ops` with every kind of argument, made by rule.

A call is (what it is, arguments by place, arguments by name). Each name gets its calls from the
form of its arguments (`of_one`, `of_two`, `along_axes`) or from a row of `FURTHER`, for all element
types, with ordinary numbers, with edge values (NaN, infinities, -0.0, the least and greatest of a
type), with empty and 0-d arrays, and with Python numbers.
`tests/compat/test_operations_of_all_kinds.py` asks the real Keras and kerascope all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

WHOLE = ["uint8", "uint16", "uint32", "int8", "int16", "int32"]
FLOATS = ["float16", "float32"]
TYPES = ["bool", *WHOLE, *FLOATS]
WIDE = ["int64", "float64"]
COMMON = ["bool", "uint8", "int8", "int32", *FLOATS]
PAIRS = [*combinations_with_replacement(COMMON, 2), ("uint16", "int16"), ("uint32", "float16")]
PYTHON: list[Any] = [-4.0, 3, True, float("nan")]

Call = tuple[str, tuple[Any, ...], dict[str, Any]]


def grid(dtype: str, shape: tuple[int, ...] = (2, 3)) -> np.ndarray:
    """Return ordinary numbers of a type; the sums of small integers leave it."""
    if dtype == "bool":
        return np.array([True, False, True, True, False, True]).reshape(shape)
    if dtype.startswith("u"):
        return np.array([100, 3, 1, 7, 2, 200], dtype).reshape(shape)
    if dtype.startswith("int"):
        return np.array([-100, -3, -1, 7, 2, 100], dtype).reshape(shape)
    return np.array([-2.5, -0.75, 0.25, 0.5, 1.5, 3.0], dtype).reshape(shape)


def edges(dtype: str) -> np.ndarray:
    """Return the numbers at which functions go wrong."""
    if dtype == "bool":
        return np.array([False, True])
    if not dtype.startswith("float"):
        limits = np.iinfo(dtype)
        return np.array([limits.min, limits.max, 0, 1], dtype)
    return np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, -1.0, 1.0, 30.0, -30.0], dtype)


def arrays() -> Iterator[tuple[str, np.ndarray]]:
    """Return arrays of all kinds, each with what it is."""
    for dtype in [*TYPES, *WIDE]:
        yield f"grid {dtype}", grid(dtype)
    for dtype in COMMON:
        yield f"edges {dtype}", edges(dtype)
    for dtype in ("int8", "float16", "float32"):
        yield f"0-d {dtype}", grid(dtype).ravel()[1].reshape(())
    for dtype in ("float32", "int8"):
        yield f"empty {dtype}", np.zeros((0,), dtype)
        yield f"no rows {dtype}", np.zeros((0, 3), dtype)
    yield "infinite float32", np.array([-np.inf, 1.0, -np.inf], "float32")


def of_one(*further: Any, **named: Any) -> list[Call]:
    """Return calls of a function of one tensor, and what stands behind it."""
    calls = [(kind, (x, *further), named) for kind, x in arrays()]
    return [*calls, *((f"Python {x}", (x, *further), named) for x in PYTHON)]


def of_two() -> list[Call]:
    """Return calls of a function of two tensors."""
    pairs = [*PAIRS, *((t, t) for t in WIDE)]
    calls: list[Call] = [(f"{a} and {b}", (grid(a), grid(b)[::-1]), {}) for a, b in pairs]
    for dtype in COMMON:
        calls += [(f"{dtype} and Python {y}", (grid(dtype), y), {}) for y in (2, 1.5, True)]
        e = edges(dtype)
        calls += [(f"edges {dtype}", (e[:, None], e), {}), (f"2 and {dtype}", (2, grid(dtype)), {})]
    none = np.zeros((0, 3), "float32")
    calls += [("no rows", (none, none), {}), ("0-d", (np.float32(3.0), np.array(2, "int8")), {})]
    return [*calls, ("Python 17 and True", (17, True), {}), ("Python 17 and 2.5", (17, 2.5), {})]


def along_axes(*further: Any) -> list[Call]:
    """Return calls of a function that goes along axes."""
    calls = of_one(*further)
    for kind, x in arrays():
        if x.ndim == 2:
            calls += [(f"{kind} axis {axis}", (x, *further), {"axis": axis}) for axis in (0, -1)]
    return calls


def _each(form: Callable[[str], tuple[Any, ...]], types: list[str] = TYPES, **named: Any) -> Any:
    return [(f"of {dtype}", form(dtype), named) for dtype in types]


CUBE = (1, 2, 3)
_eye = np.eye(2)


def _matrix(dtype: str) -> np.ndarray:
    return (2 * _eye + (0 if dtype == "bool" else [[1, 1], [1, 2]])).astype(dtype)


def _image(dtype: str) -> np.ndarray:
    return np.resize(grid(dtype), (1, 4, 4, 2))


ONE = str.split(
    "abs absolute angle arccos arccosh arcsin arcsinh arctan arctanh bartlett bitwise_invert "
    "bitwise_not cbrt ceil celu conj conjugate convert_to_numpy convert_to_tensor copy corrcoef "
    "cos cosh deg2rad diag diagflat elu empty_like erf erfc erfinv exp exp2 expm1 fabs flip "
    "fliplr flipud floor gelu hard_shrink hard_sigmoid hard_silu hard_swish hard_tanh i0 imag "
    "is_tensor isfinite isinf isnan isneginf isposinf isreal leaky_relu log log10 log1p log2 "
    "log_sigmoid logical_not nan_to_num ndim negative nonzero ones_like rad2deg ravel real "
    "reciprocal relu relu6 round rsqrt selu shape sigmoid sign signbit silu sin sinc sinh size "
    "soft_shrink softplus softsign sparse_plus sparse_sigmoid sqrt square squareplus squeeze "
    "stop_gradient swish tan tanh tanh_shrink transpose tril triu trunc zeros_like array dtype "
    "histogram hamming hanning blackman"
)
TWO = str.split(
    "add append arctan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor "
    "divide divide_no_nan equal floor_divide fmax fmin fmod greater greater_equal heaviside hypot "
    "isclose isin ldexp left_shift less less_equal logaddexp logaddexp2 logical_and logical_or "
    "logical_xor maximum minimum mod multiply nextafter not_equal outer power right_shift "
    "subtract true_divide allclose kron vdot"
)
AXES = str.split(
    "all amax amin any argmax argmin argsort average count_nonzero cumprod cumsum diff "
    "log_softmax logsumexp max mean median min nanargmax nanargmin nancumprod nancumsum nanmax "
    "nanmean nanmedian nanmin nanprod nanstd nansum nanvar norm normalize prod ptp "
    "rms_normalization softmax sort sparsemax std sum trapezoid unique var layer_normalization"
)

FURTHER: dict[str, list[Call]] = {
    **{name: of_one(0.5) for name in ("quantile", "nanquantile")},
    **{name: of_one(50.0) for name in ("percentile", "nanpercentile")},
    "clip": [*of_one(-1, 2), *of_one(0.25, 1.5)],
    "threshold": of_one(0.5, 2.0),
    "cast": [c for t in COMMON for c in _each(lambda d, t=t: (grid(d), t))],
    "saturate_cast": [
        c for t in ("uint8", "int8", "int32") for c in _each(lambda d, t=t: (grid(d), t))
    ],
    "full_like": [*of_one(2), *of_one(1.5)],
    "view": of_one(),
    "round": [*of_one(), *of_one(1), *of_one(-1)],
    "arange": [
        *_each(lambda d: (np.asarray(3, d),)),
        ("of floats", (0.5, 3.0), {}),
        ("of numbers", (1, 7, 2), {}),
        ("down", (5, 1, -1), {}),
        ("none", (0,), {}),
    ],
    "linspace": [
        *_each(lambda d: (grid(d)[0], grid(d)[1], 3)),
        ("numbers", (0, 1, 4), {}),
        ("a step", (0.0, 1.0, 5), {"retstep": True}),
        ("none", (0, 1, 0), {}),
        ("typed", (0, 9, 4), {"dtype": "int32"}),
        ("one", (0, 1, 1), {}),
    ],
    "logspace": [
        *_each(lambda d: (np.asarray(0, d), np.asarray(1, d), 3)),
        ("numbers", (0, 2, 4), {}),
    ],
    "geomspace": [
        *_each(lambda d: (np.asarray(1, d), np.asarray(1, d), 3)),
        ("numbers", (1, 8, 4), {}),
    ],
    **{
        name: [
            ("plain", (shape,), {}),
            *_each(lambda d, s=shape: (s,), dtype="int8")[:1],
            *((f"as {d}", (shape,), {"dtype": d}) for d in TYPES),
        ]
        for name, shape in (
            ("zeros", (2, 2)),
            ("ones", (2, 0)),
            ("eye", 2),
            ("identity", 2),
            ("tri", 2),
        )
    },
    "full": [
        (f"{v} as {d}", ((2,), v), {} if d is None else {"dtype": d})
        for d in (None, *TYPES)
        for v in (3, 1.5, True)
    ],
    "kaiser": [("plain", (5, 2.0), {})],
    "empty": [],
    "unstack": _each(lambda d: (grid(d),)),
    **{name: _each(lambda d: (grid(d), 1)) for name in ("expand_dims", "roll", "rot90")},
    "array_split": _each(lambda d: (grid(d), 2)),
    "split": _each(lambda d: (grid(d), 2)),
    "hsplit": _each(lambda d: (grid(d), 3)),
    "vsplit": _each(lambda d: (grid(d), 2)),
    "dsplit": _each(lambda d: (grid(d, CUBE), 3)),
    **{
        name: [(f"{a} and {b}", ([grid(a), grid(b)],), {}) for a, b in PAIRS]
        for name in ("concatenate", "stack", "hstack", "vstack", "dstack")
    },
    "meshgrid": _each(lambda d: (grid(d)[0], grid("int8")[0])),
    "select": _each(lambda d: ([grid("bool")], [grid(d)], 0)),
    "where": [(f"{a} and {b}", (grid("bool"), grid(a), grid(b)), {}) for a, b in PAIRS]
    + [(f"{a} and {y}", (grid("bool"), grid(a), y), {}) for a in COMMON for y in (2, 1.5, True)]
    + [("numbers", (grid("bool"), 1, 0.5), {})],
    "repeat": _each(lambda d: (grid(d), 2), axis=1),
    "tile": _each(lambda d: (grid(d), (2, 1))),
    "reshape": _each(lambda d: (grid(d), (3, -1))),
    "broadcast_to": _each(lambda d: (grid(d), (2, 2, 3))),
    "moveaxis": _each(lambda d: (grid(d), 0, 1)),
    "swapaxes": _each(lambda d: (grid(d), 0, 1)),
    "take": _each(lambda d: (grid(d), np.array([1, 0])), axis=1),
    "take_along_axis": _each(lambda d: (grid(d), np.array([[1, 0]])), axis=1),
    "get_item": _each(lambda d: (grid(d), 1)),
    "slice": _each(lambda d: (grid(d), (0, 1), (2, 2))),
    "slice_update": _each(lambda d: (grid(d), (0, 1), grid(d)[:, :2])),
    "scatter": _each(lambda d: (np.array([[1], [0]]), grid(d)[0, :2], (3,))),
    "scatter_update": _each(lambda d: (grid(d)[0], np.array([[1], [0]]), grid(d)[1, :2])),
    "pad": [*_each(lambda d: (grid(d), 1)), *_each(lambda d: (grid(d), 1, "constant", 2))],
    "diagonal": _each(lambda d: (grid(d),)),
    "trace": _each(lambda d: (grid(d),)),
    "digitize": _each(lambda d: (grid(d), np.array([0, 2], "float32"))),
    "searchsorted": _each(lambda d: (np.sort(grid(d).ravel()), grid(d))),
    "argpartition": [],
    "top_k": _each(lambda d: (grid(d), 2)),
    "bincount": [
        *_each(lambda d: (np.array([1, 0, 1], d),), [*WHOLE, "bool"]),
        ("of two axes", (np.array([[True, False], [True, True]]),), {}),
        ("with weights", (np.array([1, 0, 1]),), {"weights": grid("float32")[0]}),
        ("of none", (np.zeros(0, "int32"),), {"minlength": 2}),
    ],
    "one_hot": [
        *_each(lambda d: (np.array([0, 2], d), 3), [*WHOLE, "float32"]),
        *((f"as {d}", (np.array([0, 2]), 3), {"dtype": d}) for d in TYPES),
    ],
    "multi_hot": _each(lambda d: (np.array([[0, 2]], d), 3), WHOLE),
    "unravel_index": _each(lambda d: (np.array([3, 0], d), (2, 3)), WHOLE),
    "vander": _each(lambda d: (grid(d)[0],)),
    "moments": _each(lambda d: (grid(d), [0])),
    "cross": _each(lambda d: (grid(d), grid(d)[::-1])),
    **{
        name: [(f"{a} and {b}", (grid(a), grid(b).T), {}) for a, b in PAIRS]
        for name in ("matmul", "dot")
    },
    # JAX does not come back from some greatest and least numbers.
    **{
        name: [(f"{a} and {b}", (grid(a), grid(b)[::-1]), {}) for a, b in PAIRS]
        for name in ("gcd", "lcm")
    },
    "inner": _each(lambda d: (grid(d), grid(d))),
    "tensordot": _each(lambda d: (grid(d), grid(d).T), axes=1),
    "einsum": [(f"{a} and {b}", ("ij,kj->ik", grid(a), grid(b)), {}) for a, b in PAIRS],
    "correlate": _each(lambda d: (grid(d)[0], grid(d)[1, :2])),
    "cdist": _each(lambda d: (grid(d), grid(d)[::-1])),
    **{
        name: _each(lambda d: (_matrix(d),))
        for name in (
            "cholesky",
            "cholesky_inverse",
            "det",
            "inv",
            "logdet",
            "slogdet",
            "pinv",
            "matrix_rank",
            "lu_factor",
            "eigh",
        )
    },
    "qr": [],
    "svd": _each(lambda d: (_matrix(d),), compute_uv=False),
    **{
        name: _each(lambda d: (_matrix(d), grid(d)[:, :2]))
        for name in ("solve", "solve_triangular", "lstsq")
    },
    **{name: _each(lambda d: ((grid(d), grid(d)),)) for name in ("fft", "fft2", "ifft2", "irfft")},
    "rfft": _each(lambda d: (grid(d),)),
    "extract_sequences": _each(lambda d: (grid(d), 2, 1)),
    "stft": _each(lambda d: (grid(d, (6,)), 4, 2, 4)),
    "istft": _each(lambda d: ((grid(d), grid(d)), 4, 2, 4), FLOATS),
    **{
        name: _each(lambda d: (grid(d)[0], np.array([0, 1, 0])), num_segments=3)
        for name in ("segment_max", "segment_min", "segment_prod", "segment_sum")
    },
    **{
        name: _each(lambda d: (_image(d), 2))
        for name in (
            "max_pool",
            "average_pool",
            "adaptive_average_pool",
            "adaptive_max_pool",
            "depth_to_space",
            "space_to_depth",
        )
    },
    "unfold": _each(lambda d: (_image(d), 1)),
    "fold": _each(lambda d: (grid(d, (1, 1, 6)), (2, 3), 1)),
    "conv": _each(lambda d: (_image(d), np.resize(grid(d), (2, 2, 2, 1)))),
    "conv_transpose": _each(lambda d: (_image(d), np.resize(grid(d), (2, 2, 1, 2)))),
    "depthwise_conv": _each(lambda d: (_image(d), np.resize(grid(d), (2, 2, 2, 1)))),
    "separable_conv": _each(
        lambda d: (_image(d), np.resize(grid(d), (2, 2, 2, 1)), np.resize(grid(d), (1, 1, 2, 1)))
    ),
    "batch_normalization": [
        *_each(lambda d: (grid(d), grid(d)[0], np.abs(grid(d)[1]), -1)),
        (
            "of negative variance",
            (grid("float32"), 0 * grid("float32")[0], grid("float32")[0], -1),
            {},
        ),
    ],
    "glu": _each(lambda d: (grid(d)[:, :2],)),
    "psnr": _each(lambda d: (grid(d), grid(d)[::-1], 2.0)),
    "in_top_k": _each(lambda d: (np.array([0, 1]), grid(d), 1)),
    **{
        name: _each(lambda d: (np.abs(grid(d)) > 1, np.abs(grid(d)) / 300), FLOATS)
        for name in ("binary_crossentropy", "categorical_crossentropy")
    },
    "sparse_categorical_crossentropy": _each(
        lambda d: (np.array([0, 1]), np.abs(grid(d)) / 9), FLOATS
    ),
    "dot_product_attention": _each(lambda d: 3 * (grid(d, (1, 2, 1, 3)),)),
    "ctc_loss": _each(
        lambda d: (np.array([[1]]), grid(d, CUBE), np.array([1]), np.array([2])), FLOATS
    ),
}

# Names that take functions: tests/layers/test_operations_with_functions.py asks Keras about them.
WITH_FUNCTIONS = str.split(
    "associative_scan cond custom_gradient fori_loop jvp map scan switch vectorize vectorized_map "
    "while_loop"
)
# Of these the answer is not determined: any numbers, any order, the sign of a vector.
NOT_DETERMINED = ["empty", "argpartition", "qr"]


_FLOATS = "whole numbers are computed as floats, and the result is one."
_WRAPS = (
    "of small or unsigned whole numbers it is right; Keras computes in their type, which wraps."
)
_ZERO = "the sign of a zero may be another one."
_STRONG = "float16 stays float16, where Keras takes float32."
_ENDS = "of infinite numbers or of none the result is another one."
_BY_0 = "whole numbers divided by 0 give 0, not what the processor makes of it."
_POWER = (
    "a whole number to a negative power is the quotient without its fraction; in Keras any number."
)
_ARRAYS = "true of arrays of NumPy too, which are tensors here."
_SHAPE = "of a number a number, not a vector of one."
_COUNTED = "products of booleans are counted."
_SPARSE = "of equal or infinite entries each has a share; in Keras none or NaN."

# What differs, and of how many calls of a name. A count that changes fails the test: what has
# become equal leaves this table. docs/compatibility.md quotes it.
_COUNTS = {
    _FLOATS: {
        "conv": 7,
        "conv_transpose": 7,
        "depthwise_conv": 7,
        "separable_conv": 7,
        "dot_product_attention": 7,
        "fold": 7,
        "layer_normalization": 32,
        "rms_normalization": 35,
    },
    _WRAPS: {
        "batch_normalization": 3,
        "cdist": 2,
        "hard_shrink": 2,
        "hard_tanh": 4,
        "log_sigmoid": 6,
        "log_softmax": 12,
        "psnr": 2,
        "softmax": 12,
        "softsign": 3,
        "squareplus": 5,
    },
    _ZERO: {"celu": 1, "elu": 1, "relu": 1, "relu6": 1, "selu": 1, "sign": 2, "unique": 1},
    _STRONG: {
        "angle": 1,
        "arctan2": 1,
        "ctc_loss": 1,
        "logaddexp": 1,
        "logaddexp2": 1,
        "sparse_categorical_crossentropy": 1,
    },
    _ENDS: {
        "histogram": 1,
        "nanpercentile": 1,
        "nanquantile": 1,
        "percentile": 1,
        "quantile": 1,
        "trapezoid": 1,
        "fmod": 1,
    },
    _BY_0: {"floor_divide": 6},
    _POWER: {"power": 10},
    _ARRAYS: {"is_tensor": 22},
    _SHAPE: {"normalize": 4},
    _COUNTED: {"vdot": 2},
    _SPARSE: {"sparsemax": 6},
}
DIFFERENT: dict[str, tuple[int, str]] = {
    name: (count, words) for words, counts in _COUNTS.items() for name, count in counts.items()
}


def calls_of(name: str) -> list[Call]:
    """Return the calls of a name."""
    calls = FURTHER.get(name, [])
    for names, form in ((ONE, of_one), (TWO, of_two), (AXES, along_axes)):
        if name in names and name not in FURTHER:
            calls = form()
    return calls


NAMES = sorted({*ONE, *TWO, *AXES, *FURTHER} - set(NOT_DETERMINED))
