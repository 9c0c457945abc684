"""Matrix decompositions (Cholesky, QR, LU, eigenvalues, singular values) and linear equations.

Each op works on the matrices in the last two axes. Gradients are built from ops, so they can be
differentiated again. Source of the formulas: M. Giles, "Collected matrix derivative results for
forward and reverse mode algorithmic differentiation", 2008; of QR: Walter and Lehmann,
"Algorithmic differentiation of linear algebra functions with application in optimum experimental
design", 2012.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.backend.graph import Op, Tensor, as_tensor, parametric
from kerascope.backend.ops.broadcasting import ones_like, unbroadcast, zeros_like
from kerascope.backend.ops.comparison import equal, greater, greater_equal
from kerascope.backend.ops.control import Where
from kerascope.backend.ops.indexing import Arange, shape
from kerascope.backend.ops.linalg import matmul
from kerascope.backend.ops.shaping import ExpandDims, permute_dimensions
from kerascope.backend.shapes import broadcast_shapes
from kerascope.backend.types import Gradients, Shape, Tensors
from kerascope.errors import DataError, GradientError, ShapeError

__all__: list[str] = []  # K exports none of these functions


def turned(x: Tensor) -> Tensor:
    """Return the matrices in the last two axes of a tensor, transposed."""
    return permute_dimensions(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def lower(x: Tensor, includes_diagonal: bool = True) -> Tensor:
    """Return the lower triangles of matrices, with or without the diagonal; zero elsewhere."""
    sizes = shape(x)
    zero, one = as_tensor(np.int32(0)), as_tensor(np.int32(1))
    rows, columns = (Arange("int32")(zero, sizes[x.ndim - n], one) for n in (2, 1))
    is_inside = (greater_equal if includes_diagonal else greater)(ExpandDims((1,))(rows), columns)
    return Where()(is_inside, x, as_tensor(0, like=x))


def diagonal_of(x: Tensor) -> Tensor:
    """Return the matrices with all entries outside of their diagonals set to 0."""
    return lower(x) - lower(x, False)


def _checked(op: Op, x: Tensor, is_square: bool) -> None:
    sizes = set(x.shape[-2:]) - {None}
    if x.ndim < 2 or (is_square and len(sizes) > 1):
        wanted = "square matrices" if is_square else "matrices"
        raise ShapeError(
            f"keras.ops.{op.name}: expected {wanted} in the last two axes, got {x.shape}.",
            subject=x,
        )


def _refusing(function: Any, *arrays: np.ndarray) -> Any:
    """Return the result of a function of `numpy.linalg`; float16 is computed as float32.

    Raises
    ------
    DataError
        NumPy raises LinAlgError, because the matrix is singular or not positive definite.
    """
    wide = [x.astype("float32") if x.dtype == np.float16 else x for x in arrays]
    try:
        return function(*wide)
    except np.linalg.LinAlgError as error:
        raise DataError(f"{function.__name__}: {error}.") from None


class OfMatrix(Op):
    """Base class of ops on square matrices that may raise DataError, as for a singular matrix."""

    may_refuse = True

    def infer_shape(self, x: Tensor) -> Any:
        _checked(self, x, True)
        return x.shape


class Inverse(OfMatrix):
    """The inverses of square matrices."""

    def perform(self, x: np.ndarray) -> np.ndarray:
        return _refusing(np.linalg.inv, x).astype(x.dtype)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        y = turned(outputs[0])
        return [-matmul(matmul(y, output_grads[0]), y)]


class Cholesky(OfMatrix):
    """The lower triangular matrices L with `L @ L.T = x`."""

    def perform(self, x: np.ndarray) -> np.ndarray:
        return _refusing(np.linalg.cholesky, x).astype(x.dtype)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        y = outputs[0]
        inner = lower(matmul(turned(y), output_grads[0]))
        inner = inner - 0.5 * diagonal_of(inner)
        inverse = Inverse()(y)
        whole = matmul(matmul(turned(inverse), inner), inverse)
        return [0.5 * (whole + turned(whole))]


class LogDeterminant(OfMatrix):
    """The signs of the determinants of square matrices, and the logs of their absolute values."""

    may_refuse = False
    n_outputs = 2

    def infer_shape(self, x: Tensor) -> Any:
        _checked(self, x, True)
        return (x.shape[:-2],) * 2

    def perform(self, x: np.ndarray) -> Any:
        return tuple(np.asarray(y).astype(x.dtype) for y in _refusing(np.linalg.slogdet, x))

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        g = ExpandDims((inputs[0].ndim - 2, inputs[0].ndim - 1))(output_grads[1])
        return [g * turned(Inverse()(inputs[0]))]


class Solve(Op):
    """The solution `x` of `a @ x = b`."""

    may_refuse = True

    def infer_shape(self, a: Tensor, b: Tensor) -> Shape:
        _checked(self, a, True)
        rows = {a.shape[-1], b.shape[-2]} - {None}
        if len(rows) > 1:
            raise ShapeError(
                f"keras.ops.solve: expected as many rows in b as in a, got shapes {a.shape} (a) "
                f"and {b.shape} (b).",
                subject=b,
            )
        batch = broadcast_shapes(a.shape[:-2], b.shape[:-2], where="keras.ops.solve")
        return (*batch, b.shape[-2], b.shape[-1])

    def perform(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return _refusing(np.linalg.solve, a, b).astype(b.dtype)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        a, b = inputs
        to_b = Solve()(turned(a), output_grads[0])
        to_a = -matmul(to_b, turned(outputs[0]))
        return [unbroadcast(to_a, a, b), unbroadcast(to_b, b, a)]


class Eigh(OfMatrix):
    """The eigenvalues (in ascending order) and eigenvectors of symmetric matrices.

    Only the lower triangles are read. The gradient of the vectors is defined only if no two
    eigenvalues are equal.
    """

    n_outputs = 2

    def infer_shape(self, x: Tensor) -> Any:
        _checked(self, x, True)
        return x.shape[:-1], x.shape

    def perform(self, x: np.ndarray) -> Any:
        return tuple(y.astype(x.dtype) for y in _refusing(np.linalg.eigh, x))

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        values, v = outputs
        to_values, to_v = output_grads
        last = values.ndim
        gaps = ExpandDims((last - 1,))(values) - ExpandDims((last,))(values)
        is_same = equal(gaps, 0)
        inverse = Where()(is_same, zeros_like(gaps), 1 / Where()(is_same, ones_like(gaps), gaps))
        inner = inverse * matmul(turned(v), to_v)
        inner = inner + diagonal_of(ones_like(inner)) * ExpandDims((last,))(to_values)
        whole = matmul(matmul(v, inner), turned(v))
        return [0.5 * (whole + turned(whole))]


@parametric
class Svd(Op):
    """The singular value decomposition `x = u * s @ vh`.

    `u` and `vh` are orthogonal; `s` is not negative and descending. There is a gradient only for
    `full_matrices=False` and distinct singular values.
    """

    full_matrices: bool
    n_outputs = 3
    may_refuse = True

    def infer_shape(self, x: Tensor) -> Any:
        _checked(self, x, False)
        *batch, m, n = x.shape
        k = None if m is None or n is None else min(m, n)
        full = self.full_matrices
        return (*batch, m, m if full else k), (*batch, k), (*batch, n if full else k, n)

    def perform(self, x: np.ndarray) -> Any:
        found = _refusing(lambda y: np.linalg.svd(y, self.full_matrices), x)
        return tuple(y.astype(x.dtype) for y in found)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        if self.full_matrices:
            raise GradientError(
                "keras.ops.svd: with full_matrices=True there is no gradient, because the "
                "additional vectors are not unique. Use full_matrices=False."
            )
        u, s, vh = outputs
        to_u, to_s, to_vh = output_grads
        v, to_v, last = turned(vh), turned(to_vh), s.ndim
        squares = s * s
        gaps = ExpandDims((last - 1,))(squares) - ExpandDims((last,))(squares)
        is_same = equal(gaps, 0)
        inverse = Where()(is_same, zeros_like(gaps), 1 / Where()(is_same, ones_like(gaps), gaps))
        row, column = ExpandDims((last - 1,))(s), ExpandDims((last,))(s)
        of_u, of_v = matmul(turned(u), to_u), matmul(turned(v), to_v)
        inner = inverse * (of_u - turned(of_u)) * row + column * (inverse * (of_v - turned(of_v)))
        inner = inner + diagonal_of(ones_like(inner)) * ExpandDims((last,))(to_s)
        beside_u = (to_u - matmul(u, of_u)) / row
        beside_v = (to_v - matmul(v, of_v)) / row
        return [matmul(matmul(u, inner) + beside_u, vh) + matmul(u, turned(beside_v))]


@parametric
class Qr(Op):
    """The QR decomposition: an orthogonal matrix times an upper triangular one.

    There is a gradient only for mode "reduced" and at least as many rows as columns.
    """

    mode: str
    n_outputs = 2

    def infer_shape(self, x: Tensor) -> Any:
        _checked(self, x, False)
        *batch, m, n = x.shape
        k = None if m is None or n is None else min(m, n)
        k = m if self.mode == "complete" else k
        return (*batch, m, k), (*batch, k, n)

    def _of_numpy(self, x: np.ndarray) -> Any:
        return np.linalg.qr(x, "complete" if self.mode == "complete" else "reduced")

    def perform(self, x: np.ndarray) -> Any:
        return tuple(y.astype(x.dtype) for y in _refusing(self._of_numpy, x))

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        q, r = outputs
        m, n = inputs[0].shape[-2:]
        if self.mode != "reduced" or m is None or n is None or m < n:
            raise GradientError(
                f"keras.ops.qr: the gradient needs mode='reduced' and known sizes with rows >= "
                f"columns, got mode={self.mode!r} and shape {inputs[0].shape}."
            )
        to_q, to_r = output_grads
        inner = matmul(r, turned(to_r)) - matmul(turned(to_q), q)
        below = lower(inner, False)
        symmetric = below + turned(below) + diagonal_of(inner)
        right = to_q + matmul(q, symmetric)
        return [turned(Solve()(r, turned(right)))]


class LuFactor(OfMatrix):
    """The LU decomposition: L and U in one matrix, and the pivots.

    A pivot is the index of the row with which a row is exchanged.
    """

    may_refuse = False
    n_outputs = 2

    def infer_shape(self, x: Tensor) -> Any:
        _checked(self, x, True)
        return x.shape, x.shape[:-1]

    def infer_dtype(self, x: Tensor) -> Any:
        return x.dtype, "int32"

    def perform(self, x: np.ndarray) -> Any:
        lu = np.array(x)
        n = x.shape[-1]
        pivots = np.zeros(x.shape[:-1], "int32")
        for place in np.ndindex(x.shape[:-2]):
            matrix = lu[place]
            for k in range(n):
                chosen = k + int(np.argmax(np.abs(matrix[k:, k])))
                pivots[(*place, k)] = chosen
                matrix[[k, chosen]] = matrix[[chosen, k]]
                if matrix[k, k]:
                    matrix[k + 1 :, k] /= matrix[k, k]
                    matrix[k + 1 :, k + 1 :] -= np.outer(matrix[k + 1 :, k], matrix[k, k + 1 :])
        return lu, pivots

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        raise GradientError(
            "keras.ops.lu_factor: it has no gradient here. Use ops.solve or ops.inv."
        )


@parametric
class LeastSquares(Op):
    """The least-squares solution `x` of `a @ x = b` that has the smallest norm."""

    rcond: float | None

    def infer_shape(self, a: Tensor, b: Tensor) -> Shape:
        _checked(self, a, False)
        return (a.shape[1], *b.shape[1:])

    def perform(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        found = _refusing(lambda x, y: np.linalg.lstsq(x, y, self.rcond)[0], a, b)
        return found.astype(b.dtype)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        raise GradientError(
            "keras.ops.lstsq: it has no gradient here. Use ops.matmul(ops.pinv(a), b), which has "
            "one if a has full rank."
        )
