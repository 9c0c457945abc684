"""Operations of `keras.ops.linalg` and of Keras 3's module "math": see `keras_ops`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.eager import value_of
from kerascope.backend.graph import Constant, Tensor, TensorLike, as_tensor
from kerascope.backend.ops import decompositions as d
from kerascope.backend.ops import places as p
from kerascope.backend.ops.broadcasting import promoted
from kerascope.backend.ops.control import Where
from kerascope.backend.ops.elementwise import floating
from kerascope.backend.ops.fourier import Fourier
from kerascope.backend.ops.image import Pad
from kerascope.backend.ops.linalg import matmul
from kerascope.errors import ArgumentError
from kerascope.layers.ops import keras_ops as ops
from kerascope.layers.ops.keras_ops import Axes
from kerascope.layers.ops.rows import LINALG, MATH, NUMPY, public, row

_OTHERS = {*globals()}  # names that are not operations


# --- products -------------------------------------------------------------------------------------


@row(NUMPY)
def inner(x1: Any, x2: Any) -> Any:
    """Return the inner product of two tensors: the products summed over the last axis of each."""
    x1, x2 = promoted(x1, x2)
    return ops.tensordot(x1, x2, [[-1], [-1]]) if x1.ndim and x2.ndim else x1 * x2


@row(NUMPY)
def vdot(x1: Any, x2: Any) -> Any:
    """Return the dot product of two flattened tensors."""
    x1, x2 = promoted(x1, x2)
    return K.sum(K.reshape(x1, (-1,)) * K.reshape(x2, (-1,)))


@row(NUMPY)
def kron(x1: Any, x2: Any) -> Any:
    """Return the Kronecker product: x1 with each entry replaced by this entry times x2."""
    x1, x2 = promoted(x1, x2)
    ndim = max(x1.ndim, x2.ndim)
    x1, x2 = _in_front(x1, ndim), _in_front(x2, ndim)
    pairs = list(zip(ops.shape(x1), ops.shape(x2), strict=True))
    left = K.reshape(x1, [size for a, _ in pairs for size in (a, 1)])
    right = K.reshape(x2, [size for _, b in pairs for size in (1, b)])
    return K.reshape(left * right, [a * b for a, b in pairs])


def _in_front(x: Tensor, ndim: int) -> Tensor:
    while x.ndim < ndim:
        x = K.expand_dims(x, 0)
    return x


@row(NUMPY)
def cross(
    x1: Any, x2: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """Return the cross product of vectors of 2 or 3 numbers.

    For two vectors of 2 numbers, the result is only the third component of the cross product.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x1, x2 = promoted(x1, x2)
    a, b = (
        [x[..., i] for i in range(x.shape[-1] or 0)]
        for x in (ops.moveaxis(x1, axisa, -1), ops.moveaxis(x2, axisb, -1))
    )
    if not {len(a), len(b)} <= {2, 3}:
        raise ArgumentError(
            f"keras.ops.cross: expected vectors of 2 or 3 numbers, got {len(a)} and {len(b)}."
        )
    height = a[0] * b[1] - a[1] * b[0]
    if len(a) == len(b) == 2:
        return height
    a, b = ([*v, 0 * v[0]] if len(v) == 2 else v for v in (a, b))
    parts = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], height]
    return ops.moveaxis(K.stack(parts, -1), -1, axisc)


# --- decompositions -------------------------------------------------------------------------------


@row(LINALG)
def cholesky(x: TensorLike, upper: bool = False) -> Any:
    """Return the lower triangular matrices L with L @ L.T = x; with `upper`, return L.T."""
    found = d.Cholesky()(floating(x))
    return d.turned(found) if upper else found


@row(LINALG)
def cholesky_inverse(x: TensorLike, upper: bool = False) -> Any:
    """Return the inverses of matrices that are given by their Cholesky factors."""
    x = floating(x)
    inverse = d.Inverse()(d.turned(d.lower(d.turned(x))) if upper else d.lower(x))
    return matmul(inverse, d.turned(inverse)) if upper else matmul(d.turned(inverse), inverse)


@row(LINALG)
def det(x: TensorLike) -> Any:
    """Return the determinants of square matrices. The gradient requires nonsingular matrices."""
    sign, logarithm = d.LogDeterminant()(floating(x))
    return sign * K.exp(logarithm)


@row(NUMPY)
def slogdet(x: TensorLike) -> Any:
    """Return the pair (signs of the determinants, logarithms of their absolute values)."""
    return tuple(d.LogDeterminant()(floating(x)))


@row(MATH)
def logdet(x: TensorLike) -> Any:
    """Return the logarithms of the determinants of positive definite matrices."""
    return d.LogDeterminant()(floating(x))[1]


@row(LINALG)
def eigh(x: TensorLike) -> Any:
    """Return the eigenvalues, in ascending order, and the eigenvectors of symmetric matrices."""
    return tuple(d.Eigh()(floating(x)))


@row(LINALG)
def inv(x: TensorLike) -> Any:
    """Return the inverses of square matrices."""
    return d.Inverse()(floating(x))


@row(LINALG)
def lu_factor(x: TensorLike) -> Any:
    """Return the LU decomposition: L and U in one matrix, and the indices of exchanged rows."""
    return tuple(d.LuFactor()(floating(x)))


@row(LINALG)
def qr(x: TensorLike, mode: str = "reduced") -> Any:
    """Return the QR decomposition: an orthogonal matrix and an upper triangular one."""
    if mode not in ("reduced", "complete"):
        raise ArgumentError(f"keras.ops.qr: expected mode 'reduced' or 'complete', got {mode!r}.")
    return tuple(d.Qr(mode)(floating(x)))


@row(LINALG, "SVD")
def svd(x: TensorLike, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    """Return the singular value decomposition (u, s, vh) with x = u * s @ vh.

    With `compute_uv=False`, return only s. A gradient through u and vh needs `full_matrices=False`.
    """
    if not compute_uv:
        return d.Svd(False)(floating(x))[1]
    return tuple(d.Svd(bool(full_matrices))(floating(x)))


@row(LINALG)
def pinv(x: TensorLike, rcond: float | None = None) -> Any:
    """Return the Moore-Penrose pseudo-inverses of matrices."""
    x = floating(x)
    u, s, vh = d.Svd(False)(x)
    return matmul(d.turned(vh) * K.expand_dims(_inverse(s, x, rcond), -2), d.turned(u))


def _inverse(s: Tensor, x: Tensor, rcond: float | None) -> Tensor:
    """Return 1 / s for singular values s, or 0 where s is negligible compared to the largest."""
    if rcond is None:
        rcond = 10.0 * max(n or 1 for n in x.shape[-2:]) * float(np.finfo(x.dtype).eps)
    counts = K.greater(s, rcond * K.max(s, -1, True))
    one = as_tensor(1, like=s)
    return Where()(counts, 1.0 / Where()(counts, s, one), as_tensor(0, like=s))


@row(LINALG)
def matrix_rank(x: TensorLike, tol: Any = None) -> Any:
    """Return the rank of matrices: the number of singular values greater than `tol`."""
    x = floating(x)
    s = d.Svd(False)(x)[1]
    if tol is None:
        largest = max(n or 1 for n in x.shape[-2:]) * float(np.finfo(x.dtype).eps)
        tol = largest * K.max(s, -1, True)
    return K.sum(K.cast(K.greater(s, tol), "int32"), -1)


@row(LINALG)
def solve(a: Any, b: Any) -> Any:
    """Return the solution x of a @ x = b."""
    return _solved(a, b, lambda x: x)


@row(LINALG)
def solve_triangular(a: Any, b: Any, lower: bool = False) -> Any:
    """Return the solution x of a @ x = b for a triangular matrix a. The rest of a is ignored."""
    return _solved(a, b, d.lower if lower else lambda x: d.turned(d.lower(d.turned(x))))


def _solved(a: Any, b: Any, part: Callable[[Tensor], Tensor]) -> Any:
    a, b = (floating(x) for x in promoted(a, b))
    if b.ndim != a.ndim - 1:
        return d.Solve()(part(a), b)
    return K.squeeze(d.Solve()(part(a), K.expand_dims(b, -1)), -1)


@row(LINALG)
def lstsq(a: Any, b: Any, rcond: float | None = None) -> Any:
    """Return the least-squares solution x of a @ x = b. The operation has no gradient."""
    a, b = (floating(x) for x in promoted(a, b))
    return d.LeastSquares(rcond)(a, b)


@row(LINALG)
def norm(x: TensorLike, ord: Any = None, axis: Axes | None = None, keepdims: bool = False) -> Any:
    """Return the norm of vectors (one axis) or of matrices (two axes): see `numpy.linalg.norm`.

    Raises
    ------
    ArgumentError
        `ord` is not a norm of vectors (for one axis) or of matrices (for two axes).
    """
    x = floating(x)
    axes = list(range(x.ndim)) if axis is None else [a % x.ndim for a in ops._listed(axis)]
    if ord is None or (ord == "fro" and len(axes) == 2) or (ord == 2 and len(axes) == 1):
        return K.sqrt(K.sum(K.square(x), axes, keepdims))
    if len(axes) == 1 and isinstance(ord, (int, float)):
        return _of_vectors(x, ord, axes[0], keepdims)
    if len(axes) == 2 and ord in (1, -1, 2, -2, math.inf, -math.inf, "nuc"):
        return _of_matrices(x, ord, axes, keepdims)
    raise ArgumentError(
        f"keras.ops.norm: expected ord to be a number for one axis, or 'fro', 'nuc', 1, -1, 2, -2 "
        f"or an infinity for two, got {ord!r} for {len(axes)} axes."
    )


def _of_vectors(x: Tensor, ord: float, axis: int, keepdims: bool) -> Any:
    if math.isinf(ord):
        return (K.max if ord > 0 else K.min)(K.abs(x), axis, keepdims)
    if ord == 0:
        return K.sum(K.cast(K.not_equal(x, 0), x.dtype), axis, keepdims)
    if ord == 1:
        return K.sum(K.abs(x), axis, keepdims)
    return K.pow(K.sum(K.pow(K.abs(x), ord), axis, keepdims), 1.0 / ord)


def _of_matrices(x: Tensor, ord: Any, axes: list[int], keepdims: bool) -> Any:
    moved = ops.moveaxis(x, axes, (-2, -1))
    if ord in (2, -2, "nuc"):
        s = d.Svd(False)(moved)[1]
        found = {2: K.max, -2: K.min, "nuc": K.sum}[ord](s, -1)
    else:
        sums = K.sum(K.abs(moved), -2 if abs(ord) == 1 else -1)
        found = (K.max if ord > 0 else K.min)(sums, -1)
    for axis in sorted(axes) if keepdims else []:
        found = K.expand_dims(found, axis)
    return found


@row(MATH, "CDist")
def cdist(x: Any, y: Any) -> Any:
    """Return the Euclidean distance of each row of x from each row of y."""
    x, y = (floating(one) for one in promoted(x, y))
    return K.sqrt(K.sum(K.square(K.expand_dims(x, -2) - K.expand_dims(y, -3)), -1))


# --- segments -------------------------------------------------------------------------------------


def _number_of_segments(ids: Tensor, number: int | None) -> Any:
    if number is not None:
        return number
    greatest = K.max(ids) + 1
    return int(greatest.value) if isinstance(greatest, Constant) else greatest


@row(MATH)
def segment_sum(
    data: Any, segment_ids: Any, num_segments: int | None = None, sorted: bool = False
) -> Any:
    """Return the sum of the entries for each segment id; entries with an invalid id are ignored."""
    data, ids = as_tensor(data), K.cast(as_tensor(segment_ids), "int32")
    number = _number_of_segments(ids, num_segments)
    inside = K.logical_and(K.greater_equal(ids, 0), K.less(ids, number))
    ids = Where()(inside, *promoted(ids, as_tensor(number, like=ids)))
    sizes = [number + 1, *ops.shape(data)[1:]]
    if any(isinstance(size, Tensor) for size in sizes):
        shape: Tensor = K.stack([K.cast(as_tensor(size), "int32") for size in sizes])
    else:
        shape = Constant(sizes, "int32")
    return p.Scatter()(data, K.expand_dims(ids, 1), shape)[:-1]


def _of_segments(data: Any, ids: Any, number: int | None, neutral: float, function: Any) -> Any:
    """Return `function` of the entries for each segment id; `neutral` for an id without entries."""
    data, ids = as_tensor(data), K.cast(as_tensor(ids), "int32")
    count = _number_of_segments(ids, number)
    there = K.equal(K.expand_dims(ops.arange(count), 1), ids)
    for _ in range(data.ndim - 1):
        there = K.expand_dims(there, -1)
    if data.dtype == "bool":
        neutral = neutral > 0
    elif not data.dtype.startswith("float") and math.isinf(neutral):
        limits = np.iinfo(data.dtype)
        neutral = limits.min if neutral < 0 else limits.max
    table = Where()(there, K.expand_dims(data, 0), as_tensor(neutral, like=data))
    return function(table, 1)


@row(MATH)
def segment_max(
    data: Any, segment_ids: Any, num_segments: int | None = None, sorted: bool = False
) -> Any:
    """Return the largest entry for each segment id.

    For an id without entries, the result is -inf, or the lowest number of an integer dtype.
    """
    return _of_segments(data, segment_ids, num_segments, -math.inf, K.max)


@row(MATH)
def segment_min(
    data: Any, segment_ids: Any, num_segments: int | None = None, sorted: bool = False
) -> Any:
    """Return the smallest entry for each segment id.

    For an id without entries, the result is inf, or the largest number of an integer dtype.
    """
    return _of_segments(data, segment_ids, num_segments, math.inf, K.min)


@row(MATH)
def segment_prod(
    data: Any, segment_ids: Any, num_segments: int | None = None, sorted: bool = False
) -> Any:
    """Return the product of the entries for each segment id; 1 for an id without entries."""
    return _of_segments(data, segment_ids, num_segments, 1.0, K.prod)


# --- Fourier --------------------------------------------------------------------------------------


def _transformed(x: Any, axes: tuple[int, ...], inverse: bool = False) -> tuple[Any, Any]:
    real, imaginary = (floating(part) for part in promoted(*x))
    last = tuple(axis % real.ndim for axis in axes)
    real, imaginary = Fourier(last, inverse)(real, imaginary)
    if not inverse:
        return real, imaginary
    number: Any = 1
    for axis in last:
        size = ops.shape(real)[axis]
        number = number * (K.cast(size, real.dtype) if isinstance(size, Tensor) else size)
    return real / number, imaginary / number


@row(MATH, "FFT")
def fft(x: Any) -> Any:
    """Return the Fourier transform of x along the last axis. Both are pairs (real, imaginary)."""
    return _transformed(x, (-1,))


@row(MATH, "FFT2")
def fft2(x: Any) -> Any:
    """Return the Fourier transform along the last two axes, as (real, imaginary)."""
    return _transformed(x, (-2, -1))


@row(MATH, "IFFT2")
def ifft2(x: Any) -> Any:
    """Return the inverse Fourier transform along the last two axes, as (real, imaginary)."""
    return _transformed(x, (-2, -1), True)


def _fitted(x: Tensor, length: int) -> Tensor:
    """Return `x` cut to `length` along the last axis, or extended with zeros."""
    size = x.shape[-1]
    if size is None:
        raise ArgumentError("keras.ops.rfft: the size of the last axis must be known.")
    x = x[..., :length]
    return Pad((*((0, 0),) * (x.ndim - 1), (0, max(length - size, 0))))(x)


@row(MATH, "RFFT")
def rfft(x: Any, fft_length: int | None = None) -> Any:
    """Return the nonnegative frequencies of the Fourier transform of real x: (real, imaginary)."""
    x = floating(x)
    x = x if fft_length is None else _fitted(x, fft_length)
    size = ops.shape(x)[-1]
    real, imaginary = _transformed((x, K.zeros_like(x)), (-1,))
    if isinstance(size, Tensor):
        raise ArgumentError("keras.ops.rfft: the size of the last axis must be known.")
    return real[..., : size // 2 + 1], imaginary[..., : size // 2 + 1]


@row(MATH, "IRFFT")
def irfft(x: Any, fft_length: int | None = None) -> Any:
    """Return the inverse of `rfft`: the real numbers with this Fourier transform."""
    real, imaginary = (floating(part) for part in promoted(*x))
    size = real.shape[-1]
    if size is None:
        raise ArgumentError("keras.ops.irfft: the size of the last axis must be known.")
    length = 2 * (size - 1) if fft_length is None else fft_length
    half = length // 2 + 1
    real, imaginary = _fitted(real, half), _fitted(imaginary, half)
    mirrored = slice(1, half - 1 if length % 2 == 0 else half)
    last = real.ndim - 1
    whole = [
        K.concatenate([part, sign * K.reverse(part[..., mirrored], last)], last)
        for part, sign in ((real, 1.0), (imaginary, -1.0))
    ]
    return _transformed(whole, (-1,), True)[0]


@row(MATH)
def extract_sequences(x: Any, sequence_length: int, sequence_stride: int) -> Any:
    """Return overlapping parts of x along the last axis, which start `sequence_stride` apart."""
    x = as_tensor(x)
    size = ops.shape(x)[-1]
    if isinstance(size, Tensor):
        raise ArgumentError("keras.ops.extract_sequences: the size of the last axis must be known.")
    starts = np.arange(0, size - sequence_length + 1, sequence_stride)
    return ops.take(x, starts[:, None] + np.arange(sequence_length), axis=-1)


def _window(window: Any, length: int, fft_length: int, dtype: str) -> Any:
    """Return a window of `length` numbers, padded with zeros on both sides to `fft_length`."""
    if window is None:
        numbers: Any = np.ones(length)
    elif isinstance(window, str):
        if window not in ("hann", "hamming"):
            raise ArgumentError(
                f"keras.ops.stft: expected window 'hann', 'hamming', numbers or None, got "
                f"{window!r}."
            )
        numbers = {"hann": np.hanning, "hamming": np.hamming}[window](length + 1)[:-1]
    else:
        numbers = np.asarray(value_of(window) if isinstance(window, Tensor) else window)
    before = (fft_length - length) // 2
    return np.pad(numbers, (before, fft_length - length - before)).astype(dtype)


@row(MATH, "STFT")
def stft(
    x: Any,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    window: Any = "hann",
    center: bool = True,
) -> Any:
    """Return the short-time Fourier transform along the last axis, as (real, imaginary).

    It consists of the Fourier transforms of overlapping sequences, each multiplied by a window.
    """
    x = floating(x)
    if center:
        width = [*((0, 0),) * (x.ndim - 1), (fft_length // 2, fft_length // 2)]
        x = ops.pad(x, width, "reflect")
    pieces = extract_sequences(x, fft_length, sequence_stride)
    return rfft(pieces * _window(window, sequence_length, fft_length, x.dtype), fft_length)


@row(MATH, "ISTFT")
def istft(
    x: Any,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    length: int | None = None,
    window: Any = "hann",
    center: bool = True,
) -> Any:
    """Return the inverse of `stft`: the numbers with this short-time Fourier transform.

    Raises
    ------
    ArgumentError
        `window` is None. In this case Keras 3.15 returns the original numbers multiplied by
        fft_length / sequence_stride, which is not the inverse.
    """
    if window is None:
        raise ArgumentError(
            "keras.ops.istft: it needs a window, because Keras 3.15 does not undo stft with "
            "window=None. Use numpy.ones(sequence_length)."
        )
    pieces = irfft(x, fft_length)
    number = pieces.shape[-2]
    if number is None:
        raise ArgumentError("keras.ops.istft: the number of sequences must be known.")
    numbers = _window(window, sequence_length, fft_length, pieces.dtype)
    total = fft_length + sequence_stride * (number - 1)
    at = (np.arange(number)[:, None] * sequence_stride + np.arange(fft_length)).ravel()
    weights = np.bincount(at, np.tile(np.square(numbers), number), total)
    flat = K.reshape(pieces * numbers, [*ops.shape(pieces)[:-2], -1])
    rows = ops.moveaxis(flat, -1, 0)
    sums = ops.moveaxis(segment_sum(rows, at, total), 0, -1)
    found = sums / np.where(weights > 1e-10, weights, 1.0).astype(pieces.dtype)
    start = fft_length // 2 if center else 0
    end = total - start if length is None else start + length
    if length is not None and end > total:
        found = _fitted(found, end)
    return found[..., start:end]


__all__ = public(globals(), _OTHERS)
