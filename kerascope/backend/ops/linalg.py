"""Products of matrices and of tensors: sums over pairs of axes.

`TensorDot` and `BatchDot` sum over any pairs of axes. The derivative of such a contraction is a
contraction again. `Einsum` names the axes by letters: "ij,jk->ik" is the product of two matrices.
Axes with the same letter have the same index, and letters missing in the result are summed over.
The derivative of an einsum is an einsum again, in which the result replaces the operand. Attention
layers use `Einsum`, because their tensors have up to five axes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from kerascope.backend.graph import Op, parametric
from kerascope.backend.op_hints import FIRST_INPUT
from kerascope.backend.operators import OPERATORS
from kerascope.backend.ops.broadcasting import ones_like, promoted, unbroadcast
from kerascope.backend.ops.reduction import sum
from kerascope.backend.ops.shaping import Transpose, expand_dims, transpose
from kerascope.backend.ops.templates import turned
from kerascope.backend.shapes import broadcast_shapes, merge_shapes, normalize_axis
from kerascope.backend.types import (
    Gradients,
    Kernel,
    Shape,
    Spec,
    Specs,
    Tensor,
    TensorLike,
    Tensors,
)
from kerascope.errors import ArgumentError, ShapeError
from kerascope.spellings import dialect_options

__all__ = ["batch_dot", "dot", "einsum"]


# --- matrices of many rows and few columns, multiplied piece by piece -----------------------------
#
# A recurrent layer multiplies the inputs of all samples and times by one small matrix, and the
# gradient of this matrix is a product of two such long matrices. BLAS copies the operands to a
# different layout first, unless they are small: below a million multiplications OpenBLAS uses them
# unchanged. So multiplying a long matrix in pieces takes two thirds of the time.
#
# Interpreted and compiled functions both use this code, so their results are equal bit by bit.


MOST_MULTIPLICATIONS = 900_000  # in a piece: safely below a million
FEWEST_ROWS = 128  # in a piece: shorter pieces are not faster


def rows_of_a_piece(rows: int, columns: int, others: int) -> int:
    """Return how many rows of a long matrix are multiplied at once, all if that is faster.

    Parameters
    ----------
    rows, columns : int
        Shape of the long matrix.
    others : int
        Number of columns of the other matrix.

    Examples
    --------
    >>> rows_of_a_piece(1600, 16, 128), rows_of_a_piece(100, 16, 128)
    (400, 100)
    """
    each = columns * others
    pieces = -(-rows * each // MOST_MULTIPLICATIONS)
    length = -(-rows // max(pieces, 1))
    return length if length >= FEWEST_ROWS else max(rows, 1)


def long_product(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """Compute the matrix product `x` · `y` into `out`, piece by piece if `x` has many rows.

    Examples
    --------
    >>> x, y, out = np.ones((2000, 8)), np.ones((8, 100)), np.empty((2000, 100))
    >>> long_product(x, y, out)
    >>> bool((out == 8).all())
    True
    """
    n = rows_of_a_piece(len(x), x.shape[1], y.shape[1])
    if n >= len(x):
        np.dot(x, y, out)
        return
    for start in range(0, len(x), n):
        np.dot(x[start : start + n], y, out[start : start + n])


def product_of_rows(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """Compute `x.T` · `y` into `out`, piece by piece if `x` and `y` have many rows.

    Examples
    --------
    >>> x, y, out = np.ones((2000, 8)), np.ones((2000, 100)), np.empty((8, 100))
    >>> product_of_rows(x, y, out)
    >>> bool((out == 2000).all())
    True
    """
    n = rows_of_a_piece(len(x), x.shape[1], y.shape[1])
    np.dot(x[:n].T, y[:n], out)
    addend = np.empty_like(out) if n < len(x) else out
    for start in range(n, len(x), n):
        np.dot(x[start : start + n].T, y[start : start + n], addend)
        np.add(out, addend, out)


# --- contractions ---------------------------------------------------------------------------------


def _check_inner(where, x, y, x_size, y_size):
    if x_size is None or y_size is None or x_size == y_size:
        return
    raise ShapeError(
        f"{where}: expected equal inner sizes, got {x_size} and {y_size} in shapes {x.shape} and "
        f"{y.shape}.",
        subject=x,
    )


@parametric
class Contraction(Op):
    """The product of `x` and `y`, summed over pairs of their axes.

    The result has the first `batch` axes, which both inputs share, then the remaining axes of `x`,
    then those of `y`.
    """

    x_axes: tuple[int, ...]
    y_axes: tuple[int, ...]
    batch: ClassVar[int] = 0

    def free(self, ndim: int, taken: Sequence[int]) -> tuple[int, ...]:
        """Return the axes of a tensor that are neither batch axes nor `taken` (summed over)."""
        return tuple(axis for axis in range(self.batch, ndim) if axis not in taken)

    def infer_shape(self, x: Tensor, y: Tensor) -> Shape:
        for a, b in zip(self.x_axes, self.y_axes, strict=True):
            _check_inner(self.name, x, y, x.shape[a], y.shape[b])
        batch = merge_shapes(x.shape[: self.batch], y.shape[: self.batch])
        if batch is None:
            raise ShapeError(
                f"{self.name}: expected equal batches, got {x.shape} and {y.shape}.", subject=x
            )
        rest = [x.shape[a] for a in self.free(x.ndim, self.x_axes)]
        return (*batch, *rest, *(y.shape[b] for b in self.free(y.ndim, self.y_axes)))

    def as_product(self, function: str, x: Spec, y: Spec) -> str:
        """Return code that computes the contraction as a matrix product by a NumPy function."""
        x_free, y_free = self.free(len(x.shape), self.x_axes), self.free(len(y.shape), self.y_axes)
        common = tuple(range(self.batch))
        rows = math.prod(x.shape[a] for a in x_free)
        columns = math.prod(y.shape[b] for b in y_free)
        inner = math.prod(x.shape[a] for a in self.x_axes)
        batch = x.shape[: self.batch]
        left = turned("{0}", x.shape, (*common, *x_free, *self.x_axes), (*batch, rows, inner))
        right = turned("{1}", y.shape, (*common, *self.y_axes, *y_free), (*batch, inner, columns))
        result = (*batch, *(x.shape[a] for a in x_free), *(y.shape[b] for b in y_free))
        out = turned("{out}", result, range(len(result)), (*batch, rows, columns))
        return f"{function}({left}, {right}, {out})"

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        x, y = inputs
        kind, g = type(self), output_grads[0]
        x_free, y_free = self.free(x.ndim, self.x_axes), self.free(y.ndim, self.y_axes)
        middle = self.batch + len(x_free)
        to_x = kind(tuple(range(middle, g.ndim)), y_free)(g, y)
        to_y = kind(x_free, tuple(range(self.batch, middle)))(x, g)
        x_left = [self.x_axes[self.y_axes.index(b)] for b in sorted(self.y_axes)]
        y_left = [self.y_axes[self.x_axes.index(a)] for a in sorted(self.x_axes)]
        common = tuple(range(self.batch))
        return [
            _in_place(to_x, (*common, *x_free, *x_left)),
            _in_place(to_y, (*common, *y_left, *y_free)),
        ]


def _in_place(tensor: Tensor, meant_for: tuple[int, ...]) -> Tensor:
    """Return the tensor transposed so that axis i becomes axis `meant_for[i]`."""
    pattern = tuple(meant_for.index(axis) for axis in range(len(meant_for)))
    return tensor if pattern == tuple(range(tensor.ndim)) else Transpose(pattern)(tensor)


class TensorDot(Contraction):
    """The product of two tensors, summed over pairs of axes: NumPy's `tensordot`."""

    def perform(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        kernel = self._long_kernel(x, y)
        if kernel is None:
            return np.tensordot(x, y, (self.x_axes, self.y_axes))
        left, right = (x.shape[a] for a in self.free(x.ndim, self.x_axes)), y.shape[-1:]
        out = np.empty((*left, *right), x.dtype)
        kernel(out, x, y)
        return out

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        return self._long_kernel(*inputs) or self.as_product("np.dot", *inputs)

    def _long_kernel(self, x, y):
        """Return a function that multiplies a long matrix piece by piece; None if not faster.

        A long matrix has a row for each sample and time step. It is multiplied by the kernel of a
        layer, or by an output gradient. The result is None for other products, too.
        """
        if x.dtype != y.dtype or x.dtype not in (np.float32, np.float64):
            return None
        n_left, n_right = len(x.shape), len(y.shape)
        if min(n_left, n_right) < 2:
            return None
        rows = math.prod(x.shape[:-1])
        inner, columns = x.shape[-1], y.shape[-1]
        if rows_of_a_piece(rows, inner, columns) >= rows:
            return None
        if (self.x_axes, self.y_axes, n_right) == ((n_left - 1,), (0,), 2):

            def kernel(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
                long_product(x.reshape(rows, inner), y, out.reshape(rows, columns))

            return kernel
        if self.x_axes == self.y_axes == tuple(range(n_left - 1)) and n_left == n_right:

            def kernel_of_gradient(out: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
                product_of_rows(x.reshape(rows, inner), y.reshape(rows, columns), out)

            return kernel_of_gradient
        return None


class BatchDot(Contraction):
    """For each sample (axis 0), the product of two tensors, summed over pairs of axes."""

    batch: ClassVar[int] = 1

    def perform(self, x: np.ndarray, y: np.ndarray, xp: Any = np) -> np.ndarray:
        x_free, y_free = self.free(x.ndim, self.x_axes), self.free(y.ndim, self.y_axes)
        x_sizes, y_sizes = [x.shape[a] for a in x_free], [y.shape[b] for b in y_free]
        rows, columns = math.prod(x_sizes), math.prod(y_sizes)
        inner = math.prod(x.shape[a] for a in self.x_axes)
        left = x.transpose(0, *x_free, *self.x_axes).reshape(len(x), rows, inner)
        right = y.transpose(0, *self.y_axes, *y_free).reshape(len(y), inner, columns)
        return xp.matmul(left, right).reshape(len(x), *x_sizes, *y_sizes)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        return self.as_product("np.matmul", *inputs)


class Dot(Op):
    """The product over the last axis of `x` and the second-to-last (or only) axis of `y`."""

    def infer_shape(self, x: Tensor, y: Tensor) -> Shape:
        if x.ndim == 0 or y.ndim == 0:
            raise ShapeError(
                f"dot: expected at least one axis each, got {x.shape} and {y.shape}.", subject=x
            )
        inner = max(y.ndim - 2, 0)
        _check_inner("dot", x, y, x.shape[-1], y.shape[inner])
        return (*x.shape[:-1], *y.shape[:inner], *y.shape[inner + 1 :])

    def perform(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if x.ndim <= 2 and y.ndim <= 2:
            return np.dot(x, y)
        return TensorDot((x.ndim - 1,), (max(y.ndim - 2, 0),)).perform(x, y)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        x, y = inputs
        if len(x.shape) <= 2 and len(y.shape) <= 2:
            return "np.dot({0}, {1}, {out})"
        as_contraction = TensorDot((len(x.shape) - 1,), (max(len(y.shape) - 2, 0),))
        return as_contraction.kernel(inputs, outputs)

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        x, y = inputs
        if x.ndim == 2 and y.ndim == 2:
            return [Dot()(output_grads[0], transpose(y)), Dot()(transpose(x), output_grads[0])]
        as_contraction = TensorDot((x.ndim - 1,), (max(y.ndim - 2, 0),))
        return as_contraction.grad(inputs, outputs, output_grads)


def dot(x: TensorLike, y: TensorLike) -> Tensor:
    """Return the product of two matrices, or of tensors along one axis.

    Parameters
    ----------
    x : Tensor, shape (..., n)
    y : Tensor, shape (..., n, m)
        Its second-to-last axis has the size of the last axis of `x`. May have shape (n,).

    Returns
    -------
    Tensor, shape x.shape[:-1] + y.shape without its second-to-last axis

    Raises
    ------
    ShapeError
        The inner sizes differ.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.dot(K.placeholder((None, 5, 20)), K.zeros((20, 64))).shape
    (None, 5, 64)
    """
    return Dot()(*promoted(x, y))


class MatMul(Op):
    """The products of the matrices in the last two axes; the axes before them are broadcast."""

    def infer_shape(self, x: Tensor, y: Tensor) -> Shape:
        _check_inner("matmul", x, y, x.shape[-1], y.shape[-2])
        batch = broadcast_shapes(x.shape[:-2], y.shape[:-2], where="matmul")
        return (*batch, x.shape[-2], y.shape[-1])

    def perform(self, x: np.ndarray, y: np.ndarray, xp: Any = np) -> np.ndarray:
        return xp.matmul(x, y)

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        return "np.matmul({0}, {1}, {out})"

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        x, y = inputs
        to_x = MatMul()(output_grads[0], _flipped(y))
        to_y = MatMul()(_flipped(x), output_grads[0])
        return [unbroadcast(to_x, x, to_x), unbroadcast(to_y, y, to_y)]


def _flipped(x: Tensor) -> Tensor:
    """Return `x` with its last two axes exchanged, so that its matrices are transposed."""
    return Transpose((*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))(x)


def matmul(x: TensorLike, y: TensorLike) -> Tensor:
    """Return `x @ y` as NumPy does: axes before the last two are broadcast."""
    x, y = promoted(x, y)
    if x.ndim == y.ndim == 2 or 1 in (x.ndim, y.ndim):
        return Dot()(x, y)
    if 0 in (x.ndim, y.ndim):
        raise ShapeError(
            f"matmul: expected at least one axis each, got {x.shape} and {y.shape}. Use * for "
            f"scalars."
        )
    return MatMul()(x, y)


OPERATORS.update(matmul=matmul)


# --- sums of products whose axes are named by letters ---------------------------------------------


@parametric
class Einsum(Op):
    """The product of the inputs, summed over the axes whose letters are not in `result`.

    `operands` contains the letters of each input's axes. No input has the same letter twice.
    """

    operands: tuple[str, ...]
    result: str

    def infer_shape(self, *inputs: Tensor) -> Shape:
        sizes: dict[str, int | None] = {}
        for letters, x in zip(self.operands, inputs, strict=True):
            for letter, size in zip(letters, x.shape, strict=True):
                known = merge_shapes((sizes.get(letter),), (size,))
                if known is None:
                    raise ShapeError(
                        f"einsum '{self.subscripts}': expected one size for axis {letter!r}, got "
                        f"{sizes[letter]} and {size} in shapes "
                        f"{', '.join(str(y.shape) for y in inputs)}.",
                        subject=x,
                    )
                (sizes[letter],) = known
        return tuple(sizes[letter] for letter in self.result)

    @property
    def subscripts(self):
        """The subscripts in NumPy's notation, such as "ij,jk->ik"."""
        return f"{','.join(self.operands)}->{self.result}"

    def may_share(self, inputs, outputs):
        """Return (output, input) pairs that may share memory; () unless it is only a transpose."""
        is_turned = len(inputs) == 1 and set(self.operands[0]) == set(self.result)
        return FIRST_INPUT if is_turned else ()

    def perform(self, *inputs: np.ndarray) -> np.ndarray:
        if len(inputs) == 2:
            (first, second), (x, y) = self.operands, inputs
            return _product_of_two(first, second, self.result, x, y)
        return np.asarray(np.einsum(self.subscripts, *inputs, optimize="greedy"))

    def kernel(self, inputs: Specs, outputs: Specs) -> Kernel:
        if len(inputs) != 2:
            return None
        x_letters, y_letters = self.operands
        batch, rows, inner, columns = _groups(x_letters, y_letters, self.result)
        if [*batch, *rows, *columns] != list(self.result):
            return None  # an axis is summed over alone, or the product must be transposed
        sizes = dict(zip(x_letters + y_letters, inputs[0].shape + inputs[1].shape, strict=True))

        def as_matrices(text, letters, groups):
            pattern = [letters.index(a) for group in groups for a in group]
            sides = [math.prod(sizes[a] for a in group) for group in groups]
            return turned(text, [sizes[a] for a in letters], pattern, sides)

        left = as_matrices("{0}", x_letters, (batch, rows, inner))
        right = as_matrices("{1}", y_letters, (batch, inner, columns))
        out = as_matrices("{out}", self.result, (batch, rows, columns))
        return f"np.matmul({left}, {right}, {out})"

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [self._gradient_of(i, inputs, output_grads[0]) for i in range(len(inputs))]

    def _gradient_of(self, i, inputs, output_grad):
        letters = self.operands[i]
        others = [(self.operands[j], x) for j, x in enumerate(inputs) if j != i]
        factors = [(self.result, output_grad), *others]
        if set(letters) - set("".join(names for names, _ in factors)):
            # A letter of this operand alone was summed over, so the gradient is constant along
            # its axis.
            factors.append((letters, ones_like(inputs[i])))
        names, tensors = zip(*factors, strict=True)
        return Einsum(names, letters)(*tensors)


def _groups(x_letters, y_letters, result):
    """Return the letters of two operands in four lists: batch, rows, inner and columns.

    Letters of both operands are batch if the result has them, otherwise inner: they are summed
    over. Letters of the first operand alone are rows, and those of the second alone are columns.
    """
    batch = [a for a in x_letters if a in y_letters and a in result]
    inner = [a for a in x_letters if a in y_letters and a not in result]
    rows = [a for a in x_letters if a not in y_letters]
    columns = [a for a in y_letters if a not in x_letters]
    return batch, rows, inner, columns


def _product_of_two(x_letters, y_letters, result, x, y):
    """Return an einsum of two arrays, computed as a product of matrices for each batch entry.

    `np.einsum` would use a slow loop if both operands have batch axes.
    """
    x_letters, x = _without_lonely_axes(x_letters, y_letters + result, x)
    y_letters, y = _without_lonely_axes(y_letters, x_letters + result, y)
    batch, rows, inner, columns = _groups(x_letters, y_letters, result)
    sizes = {**dict(zip(x_letters, x.shape, strict=True)),
             **dict(zip(y_letters, y.shape, strict=True))}  # fmt: skip

    def as_matrices(letters, array, groups):
        order = [letters.index(a) for group in groups for a in group]
        sides = [math.prod(sizes[a] for a in group) for group in groups]
        return array.transpose(order).reshape(sides)

    left = as_matrices(x_letters, x, (batch, rows, inner))
    right = as_matrices(y_letters, y, (batch, inner, columns))
    made = [*batch, *rows, *columns]
    product = np.matmul(left, right).reshape([sizes[a] for a in made])
    return product.transpose([made.index(a) for a in result])


def _without_lonely_axes(letters, others, x):
    """Return the letters of `x` that are in `others`, and `x` summed over its other axes."""
    lonely = tuple(axis for axis, letter in enumerate(letters) if letter not in others)
    kept = "".join(letter for letter in letters if letter in others)
    return kept, x.sum(axis=lonely) if lonely else x


def einsum(subscripts, *operands):
    """Return a sum of products of tensors whose axes are named by letters.

    Parameters
    ----------
    subscripts : str
        The letters of each operand, then an arrow and the letters of the result, as in "ij,jk->ik".
        An operand must not contain a letter twice. An ellipsis is not supported.
    *operands : Tensor
        One tensor for each comma-separated group of letters, with one axis for each letter.

    Returns
    -------
    Tensor
        result[free letters] = sum over the other letters of the product of the operands.

    Raises
    ------
    ArgumentError
        The subscripts do not have this form.
    ShapeError
        The number of axes of an operand is wrong, or axes of one letter have different sizes.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x, kernel = K.placeholder((None, 7, 16)), K.zeros((16, 2, 8))
    >>> K.einsum("btd,dhk->bthk", x, kernel).shape
    (None, 7, 2, 8)
    """
    before, arrow, result = subscripts.replace(" ", "").partition("->")
    names = tuple(before.split(","))
    tensors = promoted(*operands)
    _check_letters(subscripts, names, arrow, result, len(tensors))
    for letters, x in zip(names, tensors, strict=True):
        if len(letters) != x.ndim:
            raise ShapeError(
                f"K.einsum: expected {len(letters)} axes for operand {letters!r} of "
                f"{subscripts!r}, got {x.shape}.",
                subject=x,
            )
    return Einsum(names, result)(*tensors)


def _check_letters(subscripts, names, arrow, result, number):
    def refuse(what):
        raise ArgumentError(
            f"K.einsum: subscripts {subscripts!r}: {what}. Write them as 'ij,jk->ik'."
        )

    if not arrow:
        refuse("expected an arrow and the letters of the result")
    if len(names) != number:
        refuse(f"expected one group of letters for each of the {number} operands")
    for letters in (*names, result):
        if letters and not letters.isalpha():
            refuse(f"expected only letters, got {letters!r}")
        twice = [letter for letter, count in Counter(letters).items() if count > 1]
        if twice:
            refuse(f"{letters!r} contains the letter {twice[0]!r} twice")
    for letter in result:
        if letter not in "".join(names):
            refuse(f"letter {letter!r} of the result is not in any operand")


# --- products of each sample, with the rules of Keras 2.2 or Keras 3 ------------------------------


def batch_dot(x, y, axes=None):
    """Return the product of `x` and `y` for each sample, summed over one axis of each.

    Parameters
    ----------
    x, y : Tensor, shape (batch, ...)
        At least two axes.
    axes : int or pair of int, optional
        Axis of `x` and axis of `y`, neither of them the batch. The default is the last axis of `x`
        and the second-to-last axis of `y` (the last axis, if `y` has two).

    Returns
    -------
    Tensor, shape (batch, rest of x, rest of y)
        (batch, 1) if no other axis remains.

    Notes
    -----
    Keras 3 changed two results, so they depend on the dialect. First, suppose that `y` has at least
    four axes, `x` has as many or one less, and the sum runs over one of the last two axes of both.
    In "1.2" and "2.2", as in Keras 2.2.4 on TensorFlow, all axes but the last two are then batch
    axes: shapes (b, 10, n) and (b, 10, n, 16) give (b, 10, 16). In "3" they give (b, 10, 10, 16).
    Second, `axes=0` of two matrices is the sum over the samples, of shape (n, 1), in "1.2" and
    "2.2", and an error in "3".

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x, y = K.placeholder((None, 20)), K.placeholder((None, 30, 20))
    >>> K.batch_dot(x, y, axes=(1, 2)).shape
    (None, 30)
    """
    x, y = promoted(x, y)
    if x.ndim < 2 or y.ndim < 2:
        raise ShapeError(
            f"K.batch_dot: expected at least 2 axes each, got {x.shape} and {y.shape}."
        )
    if axes is None:
        axes = (x.ndim - 1, max(y.ndim - 2, 1))
    pair = (axes, axes) if isinstance(axes, (int, np.integer)) else tuple(axes)
    if len(pair) != 2:
        raise ArgumentError(f"K.batch_dot: expected axes as an int or a pair, got {axes!r}.")
    x_axis = normalize_axis(pair[0], x.ndim, "K.batch_dot")
    y_axis = normalize_axis(pair[1], y.ndim, "K.batch_dot")
    is_outer = dialect_options().batch_dot_is_outer
    if x_axis == y_axis == 0 and x.ndim == y.ndim == 2 and not is_outer:
        return expand_dims(sum(x * y, axis=0), 1)
    if 0 in (x_axis, y_axis):
        raise ArgumentError(
            f"K.batch_dot: expected axes other than 0, which counts the samples, got {axes!r}."
        )
    if not is_outer and _are_matrices(x, y, x_axis, y_axis):
        return _products_of_matrices(x, y, x_axis, y_axis)
    product = BatchDot((x_axis,), (y_axis,))(x, y)
    return expand_dims(product, 1) if product.ndim == 1 else product


def _are_matrices(x, y, x_axis, y_axis):
    last = y.ndim - 1
    return 3 <= last <= x.ndim <= y.ndim and min(x_axis, y_axis) >= last - 1


def _products_of_matrices(x, y, x_axis, y_axis):
    """Return the product of `x` and `y`, summed over `x_axis` and `y_axis`.

    All axes of `y` but the last two are batch axes, which `x` has too.
    """
    samples = "".join(chr(ord("b") + axis) for axis in range(y.ndim - 2))
    x_rest = "" if x.ndim < y.ndim else "X"
    left = f"{x_rest}a" if x_axis == x.ndim - 1 else f"a{x_rest}"
    right = "aY" if y_axis == y.ndim - 2 else "Ya"
    return einsum(f"{samples}{left},{samples}{right}->{samples}{x_rest}Y", x, y)
