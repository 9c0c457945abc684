"""Rows of `keras.ops`: name, arguments by place, by name; compared with Keras 3's answers.

`tests/compat/test_keras_ops.py` runs them on arrays and on tensors, and
`tests/saving/test_operations_of_keras3.py` as layers of a file. The first argument of `CASES` is an
array, which is also given as a tensor; that of `OF_SEVERAL` may be anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_random = np.random.default_rng(5)
X = _random.normal(size=(3, 4)).astype("float32")
Y = _random.normal(size=(3, 4)).astype("float32")
CUBE = _random.normal(size=(2, 3, 4)).astype("float32")
SHARE = np.tanh(X)
LARGE = np.exp(X) + 1
WHOLE = _random.integers(1, 20, (3, 4)).astype("int32")
SMALL = _random.integers(0, 5, (3, 4)).astype("int32")
ODD = np.array([[1.5, -np.inf, np.nan], [0.0, np.inf, -2.5]], "float32")
GAPS = np.where(CUBE > 1, np.nan, CUBE).astype("float32")
TIES = np.array([[2.0, 1.0, 2.0, 0.0, 1.0], [3.0, 3.0, -1.0, 3.0, 0.5]], "float32")

Case = tuple[str, tuple[Any, ...], dict[str, Any]]


def _each(names: str, *args: Any, **kwargs: Any) -> list[Case]:
    return [(name, args, kwargs) for name in names.split()]


NUMPY: list[Case] = [
    *_each("arccos arcsin arctanh erfinv", SHARE),
    *_each(
        "angle arcsinh arctan ceil conj conjugate copy deg2rad diff erfc exp2 "
        "fabs fliplr flipud floor i0 imag isreal median nanmax nanmean nanmin "
        "nanprod nanstd nansum nanvar nonzero ptp rad2deg real rot90 signbit sinc sort "
        "trace trapezoid trunc argsort average nancumsum nancumprod nanargmax nanargmin "
        "nanmedian diagonal diag diagflat corrcoef",
        X,
    ),
    *_each("arccosh cbrt", LARGE),
    *_each("bitwise_invert bitwise_not ceil floor median", WHOLE),
    *_each("bitwise_and bitwise_or bitwise_xor gcd lcm mod floor_divide fmod", WHOLE, SMALL + 1),
    *_each("bitwise_left_shift bitwise_right_shift left_shift right_shift", WHOLE, SMALL),
    *_each("arctan2 floor_divide fmax fmin fmod hypot logaddexp2 mod", X, Y),
    *_each("heaviside nextafter isclose divide_no_nan", X, np.float32(0.5)),
    *_each("fmax fmin", ODD, np.float32(1.0)),
    ("heaviside", (np.array([-1.0, 0.0, 2.0], "float32"), np.float32(0.5)), {}),
    ("divide_no_nan", (X, np.round(Y)), {}),
    ("ldexp", (X, SMALL), {}),
    *_each("isfinite isinf isneginf isposinf isnan nan_to_num signbit", ODD),
    ("nan_to_num", (ODD,), {"nan": 1.0, "posinf": 7.0, "neginf": -8.0}),
    ("isclose", (ODD, ODD), {}),
    ("isclose", (ODD, ODD), {"equal_nan": True}),
    ("allclose", (X, X + 1e-9), {}),
    ("saturate_cast", (X * 300, "uint8"), {}),
    ("view", (X, "int32"), {}),
    *_each(
        "nanmax nanmean nanmin nanprod nanstd nansum nanvar nanmedian nanargmax nanargmin nancumsum"
        " nancumprod",
        GAPS,
        axis=1,
    ),
    *_each("nanmax nanmin nanargmax nanargmin nanmedian", ODD[:, 1:], axis=1),
    *_each("nanmean nanvar ptp median", GAPS, axis=(0, 2), keepdims=True),
    *_each("median ptp", CUBE, axis=1),
    *((name, (GAPS, 0.3), {"axis": -1}) for name in ("quantile", "nanquantile")),
    *(
        ("quantile", (CUBE, np.array([0.1, 0.5, 0.75], "float32")), {"axis": 1, "method": method})
        for method in ("linear", "lower", "higher", "midpoint", "nearest")
    ),
    ("quantile", (CUBE, np.array([0.2, 1.0], "float32")), {"axis": (0, 2), "keepdims": True}),
    ("percentile", (CUBE, 40.0), {}),
    ("percentile", (CUBE, np.array([10.0, 60.0], "float32")), {"axis": -1}),
    ("nanpercentile", (GAPS, np.array([10.0, 60.0], "float32")), {"axis": -1}),
    ("average", (X,), {"axis": 0, "weights": np.array([1.0, 2.0, 0.5], "float32")}),
    ("average", (X,), {"axis": 1}),
    ("trapezoid", (X,), {"x": np.array([0.0, 1.0, 3.0, 3.5], "float32")}),
    ("trapezoid", (CUBE,), {"dx": 0.5, "axis": 1}),
    ("diff", (CUBE,), {"n": 2, "axis": 1}),
    ("argsort", (TIES,), {"axis": 1}),
    ("argsort", (X,), {"axis": None}),
    ("sort", (CUBE,), {"axis": 1}),
    ("sort", (WHOLE,), {}),
    ("argpartition", (np.array([4.0, 1.0], "float32"), 1), {}),
    ("top_k", (TIES, 2), {}),
    ("top_k", (WHOLE, 3), {}),
    ("take_along_axis", (X, np.array([[0, 3], [1, -1], [2, 2]])), {"axis": 1}),
    ("take_along_axis", (X, np.array([[0, 3]])), {"axis": 1}),
    ("take_along_axis", (X, np.array([5, 0])), {}),
    ("searchsorted", (np.array([0.0, 1.0, 1.0, 2.0], "float32"), TIES), {}),
    ("searchsorted", (np.array([0.0, 1.0, 1.0, 2.0], "float32"), TIES), {"side": "right"}),
    ("digitize", (TIES, np.array([0.0, 1.0, 2.0], "float32")), {}),
    ("nonzero", (np.array([[1, 0, 2], [0, 0, 3]]),), {}),
    ("where", (X > 0,), {}),
    ("bincount", (SMALL[0],), {}),
    ("bincount", (SMALL,), {"minlength": 7}),
    ("bincount", (SMALL[0],), {"weights": X[0]}),
    ("histogram", (X[0],), {}),
    ("histogram", (X.ravel(), 4), {"range": (-1.0, 1.0)}),
    ("unique", (SMALL,), {}),
    ("unique", (SMALL,), {"return_index": True, "return_inverse": True, "return_counts": True}),
    ("unique", (SMALL,), {"size": 3}),
    ("unique", (SMALL,), {"size": 9, "fill_value": 7, "return_counts": True}),
    ("unique", (np.array([[1, 2], [0, 1], [1, 2]]),), {"axis": 0, "return_inverse": True}),
    ("isin", (SMALL, np.array([1, 3])), {}),
    ("isin", (SMALL, np.array([1, 3])), {"invert": True}),
    ("unravel_index", (np.array([7, 0, 11]), (3, 4)), {}),
    ("pad", (X, ((1, 0), (2, 1))), {}),
    ("pad", (X, 1), {"constant_values": 2.5}),
    *(("pad", (X, ((1, 2), (3, 0))), {"mode": mode}) for mode in ("reflect", "symmetric", "edge")),
    ("roll", (X, 2), {}),
    ("roll", (X, -1), {"axis": 1}),
    ("roll", (CUBE, (1, 2)), {"axis": (0, 2)}),
    *(("rot90", (CUBE,), {"k": k, "axes": (1, 2)}) for k in (-1, 2, 4)),
    ("append", (X, Y), {}),
    ("append", (X, Y), {"axis": 1}),
    ("array_split", (X, 3), {"axis": 1}),
    ("hsplit", (X, 2), {}),
    ("vsplit", (X, [1]), {}),
    ("dsplit", (CUBE, 2), {}),
    ("diagonal", (CUBE,), {"offset": 1, "axis1": 1, "axis2": 2}),
    ("diagonal", (CUBE,), {"offset": -1, "axis1": 2, "axis2": 0}),
    ("trace", (CUBE,), {"offset": -1, "axis1": 1, "axis2": 2}),
    ("diag", (X[0],), {}),
    ("diag", (X[0],), {"k": -2}),
    ("diag", (X,), {"k": 1}),
    ("tril", (CUBE,), {"k": -1}),
    ("inner", (X, Y), {}),
    ("vdot", (X, Y), {}),
    ("kron", (X, Y[:2, :3]), {}),
    ("cross", (X[:, :3], Y[:, :3]), {}),
    ("cross", (X[:, :2], Y[:, :2]), {}),
    ("cross", (X[:, :3], Y[:, :2]), {}),
    *(("correlate", (X[0], Y[0, :3]), {"mode": mode}) for mode in ("valid", "same", "full")),
    ("correlate", (X[0, :2], Y[0]), {"mode": "full"}),
    ("vander", (X[0],), {}),
    ("vander", (X[0],), {"N": 3, "increasing": True}),
    ("scatter", (np.array([[0, 1], [2, 3], [0, 1]]), X[0, :3], (3, 4)), {}),
    ("scatter", (np.array([[2], [0]]), X[:2], (3, 4)), {}),
    ("scatter_update", (X, np.array([[0, 1], [2, 3]]), np.array([7.0, 8.0], "float32")), {}),
    *(
        (
            "scatter_update",
            (X, np.array([[0], [2], [0]]), Y),
            {"reduction": reduction},
        )
        for reduction in ("add", "max", "min", "mul")
    ),
    ("slice_update", (X, (1, 2), Y[:2, :2]), {}),
    ("broadcast_to", (X, (2, 3, 4)), {}),
]

NUMPY_OF_SEVERAL: list[Case] = [
    ("repeat", (X[0], np.array([2])), {}),
    ("repeat", (X, np.array([2, 0, 1, 3])), {"axis": 1}),
    ("repeat", (X, np.arange(len(X))), {"axis": 0}),
    ("hstack", ([X, Y],), {}),
    ("hstack", ([X[0], Y[0]],), {}),
    ("vstack", ([X, Y],), {}),
    ("vstack", ([X[0], Y[0]],), {}),
    ("dstack", ([X, Y],), {}),
    ("dstack", ([X[0], Y[0]],), {}),
    ("meshgrid", (X[0], Y[0, :3]), {}),
    ("meshgrid", (X[0], Y[0, :3], X[0, :2]), {"indexing": "ij"}),
    ("select", ([X > 0, X < -1], [X, Y], 7.0), {}),
    ("logspace", (0, 2, 4), {}),
    ("geomspace", (1, 8, 4), {}),
    ("tri", (3,), {}),
    ("tri", (3, 4, 1), {}),
    ("empty", ((2, 3),), {}),
    *_each("bartlett blackman hamming hanning", 6),
    ("kaiser", (6, 2.0), {}),
]

SQUARE = (CUBE[:, :3, :3] + 2 * np.eye(3)).astype("float32")
SYMMETRIC = (SQUARE + np.swapaxes(SQUARE, 1, 2)).astype("float32")
DEFINITE = (SQUARE @ np.swapaxes(SQUARE, 1, 2) + np.eye(3)).astype("float32")
SEGMENTS = np.array([0, 2, 0])
SIGNAL = _random.normal(size=(2, 20)).astype("float32")

LINALG: list[Case] = [
    *_each("cholesky logdet", DEFINITE),
    *_each("cholesky_inverse", DEFINITE[0]),
    *_each("cholesky cholesky_inverse", DEFINITE[0], upper=True),
    *_each("det inv slogdet matrix_rank pinv", SQUARE),
    *_each("matrix_rank pinv", CUBE),
    ("matrix_rank", (SQUARE,), {"tol": 2.0}),
    ("pinv", (CUBE,), {"rcond": 0.3}),
    ("lu_factor", (SQUARE[0],), {}),
    ("eigh", (np.diag([3.0, 1.0, 2.0]).astype("float32"),), {}),
    ("svd", (CUBE,), {"compute_uv": False}),
    ("solve", (SQUARE, CUBE), {}),
    ("solve", (SQUARE[0], CUBE[0, :, 0]), {}),
    ("solve_triangular", (SQUARE, CUBE), {}),
    ("solve_triangular", (SQUARE, CUBE), {"lower": True}),
    ("lstsq", (X, X[:, 0]), {}),
    ("lstsq", (X.T, Y.T), {}),
    ("norm", (CUBE,), {}),
    *(("norm", (X,), {"ord": o, "axis": 1}) for o in (0, 1, 2, 3, -1, np.inf, -np.inf)),
    *(("norm", (X,), {"ord": o}) for o in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)),
    ("norm", (CUBE,), {"ord": "nuc", "axis": (0, 2), "keepdims": True}),
    ("cdist", (X, Y[:2]), {}),
    *_each("segment_sum segment_max segment_min segment_prod", X, SEGMENTS, num_segments=4),
    *_each("segment_sum segment_max segment_min segment_prod", X[:, 0], SEGMENTS, num_segments=2),
    ("segment_sum", (X, np.array([0, -1, 5])), {"num_segments": 4}),
    ("rfft", (SIGNAL,), {}),
    ("rfft", (SIGNAL,), {"fft_length": 15}),
    ("rfft", (SIGNAL,), {"fft_length": 24}),
    ("extract_sequences", (SIGNAL, 6, 4), {}),
    ("stft", (SIGNAL, 6, 3, 8), {}),
    ("stft", (SIGNAL, 8, 4, 8), {"window": "hamming", "center": False}),
]

PAIR = (X, Y)
LINALG_OF_SEVERAL: list[Case] = [
    *_each("fft fft2 ifft2 irfft", PAIR),
    ("irfft", (PAIR,), {"fft_length": 7}),
    ("istft", ((CUBE[:, :, :], CUBE[:, :, ::-1]), 6, 3, 6), {}),
    ("istft", ((CUBE[:, :, :], CUBE[:, :, ::-1]), 6, 3, 6), {"length": 8}),
]

SPACE = _random.normal(size=(2, 4, 6, 4)).astype("float32")
ROWS = _random.normal(size=(2, 7, 3)).astype("float32")
QUERY = _random.normal(size=(2, 5, 4, 3)).astype("float32")
KEY = _random.normal(size=(2, 6, 2, 3)).astype("float32")
VALUE = _random.normal(size=(2, 6, 2, 3)).astype("float32")


def _kernel(*shape: int) -> np.ndarray:
    return _random.normal(size=shape).astype("float32")


NN: list[Case] = [
    *_each("celu glu hard_shrink soft_shrink tanh_shrink squareplus", 2 * X),
    *_each("sparse_plus sparse_sigmoid sparsemax rms_normalization", 2 * X),
    ("threshold", (X, 0.3, 9.0), {}),
    ("multi_hot", (np.array([[0, 1], [2, 2]]), 3), {}),
    ("multi_hot", (np.array([2, 0]), 4), {}),
    ("rms_normalization", (CUBE,), {"axis": (1, 2)}),
    ("normalize", (X,), {"order": 1}),
    ("psnr", (X, Y, 2.0), {}),
    ("depth_to_space", (SPACE, 2), {}),
    ("space_to_depth", (SPACE, 2), {}),
    ("unfold", (SPACE, 2), {"stride": 2}),
    ("unfold", (SPACE, (2, 1)), {"dilation": 2, "padding": 1}),
    ("fold", (_kernel(1, 8, 6), (4, 6), 2), {"stride": 2}),
    ("fold", (_kernel(2, 8, 21), (2, 6), 2), {"padding": 1}),
    *_each("adaptive_average_pool adaptive_max_pool", ROWS, 3),
    *_each("adaptive_average_pool adaptive_max_pool", SPACE, (3, 2)),
    ("separable_conv", (ROWS, _kernel(2, 3, 2), _kernel(1, 6, 4)), {}),
    ("separable_conv", (SPACE, _kernel(2, 2, 4, 1), _kernel(1, 1, 4, 3)), {"padding": "same"}),
    *(
        ("conv_transpose", (ROWS, _kernel(3, 2, 3), 2), {"padding": padding})
        for padding in ("valid", "same")
    ),
    ("conv_transpose", (SPACE, _kernel(3, 2, 5, 4), (2, 1)), {"padding": "same"}),
    ("ctc_loss", (np.array([[1, 2], [3, 0]]), 1 + CUBE, np.array([2, 1]), np.array([3, 2])), {}),
    ("dot_product_attention", (QUERY, KEY, VALUE), {}),
    ("dot_product_attention", (QUERY, KEY[:, :5], VALUE[:, :5]), {"is_causal": True}),
    (
        "dot_product_attention",
        (QUERY, KEY, VALUE, _kernel(2, 4, 5, 6), _kernel(2, 1, 5, 6) > -1),
        {"scale": 0.3},
    ),
]

CASES: list[Case] = [*NUMPY, *LINALG, *NN]
OF_SEVERAL: list[Case] = [*NUMPY_OF_SEVERAL, *LINALG_OF_SEVERAL]
