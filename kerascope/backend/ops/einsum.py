"""Sums of products whose axes are named by letters: NumPy's `einsum`.

"ij,jk->ik" is the product of two matrices: a letter that stands in several operands says that these
axes run together, and a letter that is missing in the result is summed over. The derivative of such
a sum is such a sum again, with the letters of the result in the place of the operand's.

`Attention` layers are written with it, since their tensors have up to five axes.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from kerascope.backend.graph import FIRST_INPUT, Op, parametric
from kerascope.backend.ops.broadcasting import ones_like, promoted
from kerascope.backend.ops.templates import turned
from kerascope.backend.shapes import merge_shapes
from kerascope.errors import ArgumentError, ShapeError

__all__ = ["einsum"]


@parametric
class Einsum(Op):
    """The sum over the letters of `operands` that `result` lacks of the product of the inputs.

    No letter stands twice in one operand.
    """

    operands: tuple[str, ...]
    result: str

    def infer_shape(self, *inputs):
        sizes: dict[str, int | None] = {}
        for letters, x in zip(self.operands, inputs, strict=True):
            for letter, size in zip(letters, x.shape, strict=True):
                known = merge_shapes((sizes.get(letter),), (size,))
                if known is None:
                    raise ShapeError(
                        f"einsum '{self.subscripts}': axis {letter!r} has size {sizes[letter]} and "
                        f"size {size} in shapes {', '.join(str(y.shape) for y in inputs)}; "
                        f"expected equal sizes.",
                        subject=x,
                    )
                (sizes[letter],) = known
        return tuple(sizes[letter] for letter in self.result)

    @property
    def subscripts(self):
        """The whole as NumPy writes it: "ij,jk->ik"."""
        return f"{','.join(self.operands)}->{self.result}"

    def may_share(self, inputs, outputs):
        """NumPy only turns the axes of a single operand of which nothing is summed."""
        is_turned = len(inputs) == 1 and set(self.operands[0]) == set(self.result)
        return FIRST_INPUT if is_turned else ()

    def perform(self, *inputs):
        if len(inputs) == 2:
            (first, second), (x, y) = self.operands, inputs
            return _product_of_two(first, second, self.result, x, y)
        return np.asarray(np.einsum(self.subscripts, *inputs, optimize="greedy"))

    def kernel(self, inputs, outputs):
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

    def grad(self, inputs, outputs, output_grads):
        return [self._gradient_of(i, inputs, output_grads[0]) for i in range(len(inputs))]

    def _gradient_of(self, i, inputs, output_grad):
        letters = self.operands[i]
        others = [(self.operands[j], x) for j, x in enumerate(inputs) if j != i]
        factors = [(self.result, output_grad), *others]
        if set(letters) - set("".join(names for names, _ in factors)):
            # A letter that only this operand has was summed over: the gradient is the same all
            # along its axis.
            factors.append((letters, ones_like(inputs[i])))
        names, tensors = zip(*factors, strict=True)
        return Einsum(names, letters)(*tensors)


def _groups(x_letters, y_letters, result):
    """Return the letters of a product of two: batch, rows, inner and columns."""
    batch = [a for a in x_letters if a in y_letters and a in result]
    inner = [a for a in x_letters if a in y_letters and a not in result]
    rows = [a for a in x_letters if a not in y_letters]
    columns = [a for a in y_letters if a not in x_letters]
    return batch, rows, inner, columns


def _product_of_two(x_letters, y_letters, result, x, y):
    """Return an einsum of two operands as one product of matrices for each entry of the batch.

    NumPy's own road would be a plain loop wherever both operands have a batch.
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
    """Return an operand summed over the axes that stand nowhere else."""
    lonely = tuple(axis for axis, letter in enumerate(letters) if letter not in others)
    kept = "".join(letter for letter in letters if letter in others)
    return kept, x.sum(axis=lonely) if lonely else x


def einsum(subscripts, *operands):
    """Return a sum of products, the axes of which are named by letters.

    Parameters
    ----------
    subscripts : str
        The letters of each operand, and after the arrow those of the result: "ij,jk->ik". No letter
        twice in one operand, no ellipsis.
    *operands : Tensor
        As many as the subscripts name, each with as many axes as it has letters.

    Returns
    -------
    Tensor
        result[free letters] = sum over the other letters of the product of the operands.

    Raises
    ------
    ArgumentError
        The subscripts are not of this form.
    ShapeError
        An operand has another number of axes, or axes of one letter have different sizes.

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
                f"K.einsum: operand {letters!r} of {subscripts!r} has shape {x.shape}; expected "
                f"{len(letters)} axes.",
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
            refuse(f"{letters!r} has something else than letters")
        twice = [letter for letter, count in Counter(letters).items() if count > 1]
        if twice:
            refuse(f"letter {twice[0]!r} stands twice in {letters!r}")
    for letter in result:
        if letter not in "".join(names):
            refuse(f"letter {letter!r} of the result stands in no operand")
